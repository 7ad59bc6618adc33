package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/valyala/fastjson"
)

func jsonPlays() *Format {
	f := plays()
	f.Syntax = JSONL
	return f
}

// TestJSON shows the text that each JSON value becomes.
func TestJSON(t *testing.T) {
	for _, c := range []struct{ member, title, seconds string }{
		{`"title":"A\u00e9\n\"B\" \ud83d\ude00"`, `"Aé\n\"B\" 😀"`, "null"},
		{`"title":""`, `""`, "null"},
		{`"title":null,"seconds":null`, "null", "null"},
		{`"title":12.50`, `"12.50"`, "null"},
		{`"title":12.00`, `"12"`, "null"},
		{`"title":true`, `"true"`, "null"},
		{`"title":{"a" : [1, "x\u0041"]}`, `"{\"a\":[1,\"xA\"]}"`, "null"},
		{`"title":["\u00fcber","\/\u002f","\ud83d\ude00\u4e2D"]`, `"[\"über\",\"//\",\"😀中\"]"`, "null"},
		{`"title":{"\u0061":"\u0022\u005c\"\\"}`, `"{\"a\":\"\\\"\\\\\\\"\\\\\"}"`, "null"},
		{`"title":["\b\f\n\r\t\u0008\u000a\u0000\u001F\u007f"]`, `"[\"\\b\\f\\n\\r\\t\\b\\n\\u0000\\u001f\x7f\"]"`, "null"},
		{`"title":["\ud83d","\uDe00\ud83dx","\ud83d\n"]`, `"[\"\\ud83d\",\"\\ude00\\ud83dx\",\"\\ud83d\\n\"]"`, "null"},
		{`"title":"Great \ud83d\u2026 x\ud83d\ud83d\ude00 \ude00"`, `"Great �… x�😀 �"`, "null"},
		{`"title":"a","title":"b"`, `"b"`, "null"},
		{`"seconds":9007199254740993`, "null", `"9007199254740993"`},
		{`"seconds":-9223372036854775808`, "null", `"-9223372036854775808"`},
		{`"seconds":5.0`, "null", `"5"`},
		{`"seconds":1.25e2`, "null", `"125"`},
		{`"seconds":1E+3`, "null", `"1000"`},
		{`"seconds":100e-2`, "null", `"1"`},
		{`"seconds":"42"`, "null", `"42"`},
		{`"seconds":-0`, "null", `"0"`},
		{`"seconds":9223372036854775808`, "", ""},
		{`"seconds":1.5`, "", ""},
		{`"seconds":1e300`, "", ""},
		{`"seconds":1e-300`, "", ""},
		{`"seconds":""`, "", ""},
		{`"seconds":true`, "", ""},
		{`"seconds":[1]`, "", ""},
	} {
		text := `{"user":"u1","time":"2014-09-01",` + c.member + "}\n"
		want := fmt.Sprintf(`keep 0: play "u1" 2014-09-01T00:00:00 2014-09-01 title=%s seconds=%s`, c.title, c.seconds)
		got := read(t, text, playFile("a.jsonl"), jsonPlays(), 10).lines[0]
		if c.title == "" {
			want = "reject 0 line 1: wrong type: field seconds"
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: got\n%s, want\n%s", c.member, got, want)
		}
	}
}

// TestJSONNulls reads the texts of Format.Nulls as null, numbers and members of members
// too. The empty text is null only if Nulls has it.
func TestJSONNulls(t *testing.T) {
	for _, c := range []struct {
		nulls []string
		lines map[string]string
	}{
		{[]string{"-", "0"}, map[string]string{
			`"title":"-"`: `title=null seconds=null`, `"seconds":"-"`: `title=null seconds=null`,
			`"title":"--","seconds":0`: `title="--" seconds=null`, `"title":""`: `title="" seconds=null`,
		}},
		{[]string{""}, map[string]string{
			`"title":""`: `title=null seconds=null`, `"seconds":""`: `title=null seconds=null`, `"title":"-"`: `title="-" seconds=null`,
		}},
	} {
		f := jsonPlays()
		f.Nulls = c.nulls
		for member, want := range c.lines {
			text := `{"user":"u1","time":"2014-09-01",` + member + "}\n"
			if got := read(t, text, playFile("a.jsonl"), f, 10).lines[0]; !strings.HasSuffix(got, " 2014-09-01 "+want) {
				t.Errorf("nulls %q, %s: got %s, want it to end in %s", c.nulls, member, got, want)
			}
		}
	}
	f := jsonPlays()
	f.Nulls = []string{"-"}
	if got := read(t, `{"user":"-","time":"2014-09-01"}`+"\n", playFile("a.jsonl"), f, 10).lines[0]; !strings.Contains(got, "no user") {
		t.Errorf("a user that is null: %s", got)
	}
}

// TestHalfOfASurrogatePairIsNoUser reads users that differ only in half of a surrogate pair. They would be one user. A field may have
// such a half, and a user may have U+FFFD.
func TestHalfOfASurrogatePairIsNoUser(t *testing.T) {
	text := `{"user":"ann\ud83d","time":"2014-09-01"}` + "\n" + `{"user":"ann\ud83c","time":"2014-09-01"}` + "\n" +
		`{"user":"ann\ud83d\ude00","time":"2014-09-01"}` + "\n" + `{"user":"ann\ufffd","time":"2014-09-01"}` + "\n" +
		`{"user":"ann","time":"2014-09-01","title":"a\ud83d"}`
	why := ` half of a surrogate pair, such as \ud83d without \ude00`
	wantLines(t, read(t, text, playFile("a.jsonl"), jsonPlays(), 10),
		`reject 0 line 1: not UTF-8: the user has`+why, `reject 41 line 2: not UTF-8: the user has`+why,
		`keep 82: play "ann😀" 2014-09-01T00:00:00 2014-09-01 title=null seconds=null`,
		`keep 129: play "ann�" 2014-09-01T00:00:00 2014-09-01 title=null seconds=null`,
		`keep 170: play "ann" 2014-09-01T00:00:00 2014-09-01 title="a�" seconds=null`)
}

// TestJSONMembers finds members of members. A name may also contain the dot itself.
func TestJSONMembers(t *testing.T) {
	f := jsonPlays()
	f.Kinds[0].User.Name = "actor.id"
	f.Kinds[0].Time.Name = "ts"
	f.Kinds[0].Time.Format = EpochMillis
	f.Kinds[0].Fields[0].Name = "actor.item.title"
	f.Kinds[0].Fields[1].Name = "$line"
	f.Kinds[0].Fields[1].Pattern = regexp.MustCompile(`"s":(\d+)`)
	text := `{"actor":{"id":7,"item":{"title":"A"}},"ts":1409531400123,"s":15}` + "\n" +
		`{"actor.id":"u2","actor":{"item.title":"B"},"ts":1.409531400123e12}` + "\r\n" +
		`{"actor":"u3","ts":1409531400123}` + "\n" +
		`{"actor":{"id":null},"ts":1409531400123}` + "\n" +
		`{"actor":{"id":"u5"},"ts":null}`
	wantLines(t, read(t, text, playFile("a.jsonl"), f, 10),
		`keep 0: play "7" 2014-09-01T00:30:00.123 2014-09-01 title="A" seconds="15"`,
		`keep 66: play "u2" 2014-09-01T00:30:00.123 2014-09-01 title="B" seconds=null`,
		`reject 135 line 3: no user: no text for the user`,
		`reject 169 line 4: no user: no text for the user`,
		`reject 210 line 5: no time: no text for the time`)
}

// TestStringsOfJSON compares strings and names of members with encoding/json. Some have half of a surrogate pair.
func TestStringsOfJSON(t *testing.T) {
	texts := []string{
		`Great \ud83d\u2026`, `x\ud83d\u4e2d\u6587`, `k\ud83d\u0041`, `k\ud83d\u0042`, `x\ud83d\ud83d\ude00`, `y\ud83d`, `y\\ud83d`, `\ude00\ud83d`, `\uD83D\uDE00`, `\ud83d\` + "\\ude00",
		`\ud83d\n`, `\ud83dude00`, `\u0000\u001F\u007f\uFFFF\uffFD`, `\"\\\/\b\f\n\r\t`, ``, `é中😀`,
	}
	pieces := []string{`\ud83d`, `\uDE00`, `\udbff`, `\uDC00`, `\u0041`, `\u4e2d`, `\\`, `\"`, `\n`, `\/`, `\u005c`, `\u005C`, `ud83d`, `u`, `a`, `中`, `😀`}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var text strings.Builder
		for range 1 + random.IntN(7) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		texts = append(texts, text.String())
	}
	for _, text := range texts {
		var want string
		if err := json.Unmarshal([]byte(`"`+text+`"`), &want); err != nil {
			t.Fatal(err)
		}
		line := []byte(`{"text":"` + text + `","` + text + `":{"b":"c"}}`)
		j := newJSONReader(math.MaxInt)
		a, b := j.column("text"), j.column(want+".b")
		if err := j.split(line); err != nil || textOf(j, a) != want || textOf(j, b) != "c" {
			t.Fatalf("%s: %q and %q, %v, want %q and c", line, textOf(j, a), textOf(j, b), err, want)
		}
		members, err := Members(line)
		if err != nil || len(members) != 2 || members[0].Text != want || members[1].Name != want+".b" {
			t.Fatalf("%s: members %q, %v, want %q", line, members, err, want)
		}
	}
}

// TestAMemberTwice reads lines in which the last of two members counts, and the first one has the column inside it.
func TestAMemberTwice(t *testing.T) {
	for line, want := range map[string]string{
		`{"a":{"b":1},"a":null}`:                            "null",
		`{"a":{"b":1},"a":{"c":2}}`:                         "null",
		`{"a":{"b":1},"a":"x"}`:                             "null",
		`{"a":{"b":1},"a":[]}`:                              "null",
		`{"a":{"b":1},"a":{}}`:                              "null",
		`{"a":{"b":1},"\u0061":{}}`:                         "null",
		`{"a":{"b":""},"a":{}}`:                             "null",
		`{"a":{"b":1},"a":{"c":2},"a":{}}`:                  "null",
		`{"a":{"b":1},"a":{"b":2}}`:                         "2",
		`{"a":{"b":1,"b":2},"c":0}`:                         "2",
		`{"a":null,"a":{"b":1}}`:                            "1",
		`{"a":{"b":1},"a":null,"a":{"b":3}}`:                "3",
		`{"a":{"b":1},"c":{"a":null}}`:                      "1",
		`{"a":{"b":1,"a":null}}`:                            "1",
		`{"c":{"a":{"b":2}},"a":{"b":1},"c":{}}`:            "1",
		`{"a.b":5,"a":null}`:                                "5",
		`{"a.b":"","a":{"c":1}}`:                            "",
		`{"a":{"b":1},"a.b":5,"a":{"c":2}}`:                 "5",
		`{"a":{"c":1},"a.b":5,"a":{"c":2}}`:                 "5",
		`{"a.b":{"b":1},"a.b":5,"a":{}}`:                    "5",
		`{"x":{"a":{"b":7}},"a":{"b":1},"x":{"a":{"b":8}}}`: "1",
		`{"a.b":5,"a":{"b":1},"a":null}`:                    "5",
		`{"a.b":5,"a":{"b":1},"a":{"c":2}}`:                 "5",
		`{"a.b":5,"a":{"b":1},"a":{"b":2},"a":{}}`:          "5",
		`{"a.b":5,"a.b":6,"a":{"b":1},"a":0}`:               "6",
		`{"a.b":5,"a.b":null,"a":{"b":1},"a":0}`:            "null",
		`{"a.b":5,"a":{"b":null},"a":{}}`:                   "5",
		`{"a.b":5,"a":{"b":null}}`:                          "null",
		`{"a.b":5,"a":{"b":1},"a.b":6,"a":{"b":2},"a":{}}`:  "6",
		`{"a":{"b":1},"a.b":5,"a":{"b":2},"a":{}}`:          "5",
		`{"a":{"b":1},"a":{},"a.b":5,"a":{"b":2,"b":3}}`:    "3",
	} {
		j := newJSONReader(math.MaxInt)
		b := j.column("a.b")
		for range 2 {
			if err := j.split([]byte(line)); err != nil || textOf(j, b) != want {
				t.Errorf("%s: %q, %v, want %q", line, textOf(j, b), err, want)
			}
		}
	}
	j := newJSONReader(math.MaxInt)
	columns := []int{j.column("a.b.c"), j.column("a.b.d"), j.column("a.e")}
	for line, want := range map[string]string{
		`{"a":{"b":{"c":1,"d":2},"e":3},"a":{"e":4}}`:                      "null null 4",
		`{"a":{"b":{"c":1,"d":2},"b":{"d":3},"e":4}}`:                      "null 3 4",
		`{"a":{"b":{"c":1}},"a":{"b":{"d":2}},"a":{"b":{}}}`:               "null null null",
		`{"a.b":{"c":1},"a":{"e":2},"a":{"e":3}}`:                          "1 null 3",
		`{"a":{"b":{"c":1}},"a.b":{"d":2},"a":{}}`:                         "null 2 null",
		`{"a":{"b":{"c":1}},"a":{"b":{"c":2},"e":5},"a.b":null}`:           "2 null 5",
		`{"a.b.c":1,"a.b":{"c":2},"a":{"b":{"c":3}},"a.b":0,"a":0}`:        "1 null null",
		`{"a.b.c":1,"a.b":{"c":2},"a":{"b":{"c":3}},"a":0,"a.b":0}`:        "1 null null",
		`{"a.b.c":1,"a.b":{"c":2},"a":{"b":{"c":3}},"a":0}`:                "2 null null",
		`{"a.b.c":1,"a.b":{"c":2},"a":{"b":{"c":3}},"a.b":0}`:              "3 null null",
		`{"a":{"b.c":1,"b":{"c":2},"b":{"d":3}},"a.e":4}`:                  "1 3 4",
		`{"a.e":4,"a.b.d":5,"a":{"b.c":1,"b":{"c":2,"d":6},"e":7},"a":{}}`: "null 5 4",
	} {
		err := j.split([]byte(line))
		var got []string
		for _, c := range columns {
			got = append(got, textOf(j, c))
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %v, want %s", line, got, err, want)
		}
	}
}

// TestAMemberTwiceOfManyPaths compares lines in which one column has values on several paths with simpleJSON.
func TestAMemberTwiceOfManyPaths(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	values := 0
	var object func(names []string, depth int) string
	object = func(names []string, depth int) string {
		var members []string
		for range random.IntN(6) {
			values++
			value := fmt.Sprint(values)
			switch n := random.IntN(4); {
			case n == 0:
				value = "null"
			case n < 3 && depth > 0:
				value = object([]string{"b", "b.c", "c", "d"}, depth-1)
			}
			members = append(members, fmt.Sprintf("%q:%s", names[random.IntN(len(names))], value))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	names := []string{"a.b.c", "a.b", "a", "a.b.d"}
	j := newJSONReader(math.MaxInt)
	for _, name := range names {
		j.column(name)
	}
	for range 50_000 {
		line := object([]string{"a", "a.b", "a.b.c"}, 2)
		if err := j.split([]byte(line)); err != nil {
			t.Fatal(err)
		}
		want := simpleJSON(t, line, names...)
		for i, name := range names {
			if got := textOf(j, i); got != want[i] {
				t.Fatalf("%s: %s is %s, want %s", line, name, got, want[i])
			}
		}
	}
}

// TestAMemberOftenTakesNoMemory reads a line that has the same members many times.
func TestAMemberOftenTakesNoMemory(t *testing.T) {
	j := newJSONReader(math.MaxInt)
	b := j.column("a.b")
	line := `{` + strings.Repeat(`"a.b":null,"a":{"b":1,"b":2},`, 10_000) + `"a":null}`
	if err := j.split([]byte(line)); err != nil || textOf(j, b) != "null" || cap(j.under) > 4 {
		t.Errorf("%q, %v, %d values are kept", textOf(j, b), err, cap(j.under))
	}
}

// FuzzJSON compares the members of a line with encoding/json.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"a":"x","b":1,"c":{"d":true}}`, `{"a":null,"a":1e3}`, `{}`, `[]`, `{"a":01}`, `{"a":1.}`, `{"a":"\x"}`, `{"a":1}x`, `{"a":+1}`, `{"a":nan}`,
		`{"a":-1.50e-3,"b":[1, {"c":null}],"c":{"d":"\u4e2d\ud83d\ude00"}}`, ` {"a" : "b"} `, `{"a":"` + "\t" + `"}`, `{"c":{"d":1},"c":2}`, `{"a":1,}`, `{"":1,"a":{}}`, `"a"`,
		`{"a":"` + "\t" + `\n"}`, `{"a":"\"` + "\x01" + `\\"}`, `{"b` + "\t" + `":"c"}`, "{\t\"a\":\"x\"}",
		`{"c":{"d":1},"c.d":2}`, `{"c.d":2,"c":{"d":1},"c":{"e":3}}`, `{"c.d":2,"c":{"d":1},"c.d":null,"c":0}`, `{"c":{"d":1},"c":{"e":2}}`, `{"c":{"d":1},"c":null}`, `{"c":{"d":""},"c":{}}`, `{"a":["\u0041\/\u001F\u000a","\\u0041"]}`, `{"a":"\u00zz"}`, `{"\u0061":1}`, `{"a":"\ud83d\u0041","b":["\ude00"],"c":{"d":"x\ud83d\ud83d\ude00"}}`, strings.Repeat("[", 5000), `{"a":0.0,"b":-0,"c":{"d":1E400}}`,
	} {
		f.Add(s)
	}
	lone := regexp.MustCompile(`(?i)\\ud[89a-f]`) // half of a surrogate pair, which fastjson decodes differently
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) || strings.ContainsAny(s, "\r\n") {
			return
		}
		j := newJSONReader(math.MaxInt)
		columns := []int{j.column("a"), j.column("b"), j.column("c.d")}
		err := j.split([]byte(s))
		var want map[string]any
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		bad := d.Decode(&want)
		if bad == nil && (want == nil || d.More()) || !json.Valid([]byte(s)) {
			bad = fmt.Errorf("not an object")
		}
		if (err == nil) != (bad == nil) {
			if bad == nil && strings.Contains(err.Error(), "depth") {
				return
			}
			t.Fatalf("got %v, encoding/json %v", err, bad)
		}
		if err != nil {
			return
		}
		simple := simpleJSON(t, s, "a", "b", "c.d")
		for i, v := range []any{want["a"], want["b"], inside(want)} {
			name := j.names[columns[i]]
			if _, both := want[name]; !both || name != "c.d" { // a map does not have the order of c and c.d
				checkJSON(t, j, columns[i], v)
			}
			if got := textOf(j, columns[i]); got != simple[i] && !lone.MatchString(s) {
				t.Fatalf("%s: got %q, want %q as fastjson", j.names[columns[i]], got, simple[i])
			}
		}
	})
}

// textOf returns the text of a column, "null" if it has none.
func textOf(j *jsonReader, column int) string {
	sp := j.spans[column]
	if sp.from < 0 {
		return "null"
	}
	return string(j.text[sp.from:sp.to])
}

// simpleJSON returns the texts of columns of an object. It parses all values with fastjson, and is the simple
// version of jsonReader.
func simpleJSON(t *testing.T, line string, names ...string) []string {
	t.Helper()
	v, err := fastjson.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, len(names))
	for i := range out {
		out[i] = "null"
	}
	addSimpleJSON(out, names, "", v.GetObject())
	return out
}

func addSimpleJSON(out, names []string, within string, o *fastjson.Object) {
	later := map[string]int{}
	o.Visit(func(key []byte, _ *fastjson.Value) { later[string(key)]++ })
	o.Visit(func(key []byte, v *fastjson.Value) {
		if later[string(key)]--; later[string(key)] > 0 {
			return
		}
		for i, name := range names {
			if name == within+string(key) {
				out[i] = simpleText(v)
			}
		}
		if v.Type() == fastjson.TypeObject && strings.Count(within, ".") < 3 {
			addSimpleJSON(out, names, within+string(key)+".", v.GetObject())
		}
	})
}

func simpleText(v *fastjson.Value) string {
	switch v.Type() {
	case fastjson.TypeString:
		return string(v.GetStringBytes())
	case fastjson.TypeNumber:
		return string(plainNumber(v.MarshalTo(nil)))
	case fastjson.TypeObject, fastjson.TypeArray:
		return string(appendCompact(nil, v.MarshalTo(nil)))
	}
	return string(v.MarshalTo(nil))
}

// inside returns the value of member d of c.
func inside(m map[string]any) any {
	if c, ok := m["c"].(map[string]any); ok {
		return c["d"]
	}
	return nil
}

func checkJSON(t *testing.T, j *jsonReader, column int, want any) {
	t.Helper()
	got := textOf(j, column)
	switch v := want.(type) {
	case nil:
		if got != "null" {
			t.Fatalf("%s: got %q, want null", j.names[column], got)
		}
	case string:
		if got != v {
			t.Fatalf("%s: got %q, want %q", j.names[column], got, v)
		}
	case json.Number:
		if !sameNumber(got, v.String()) {
			t.Fatalf("%s: got %q, want %q", j.names[column], got, v)
		}
	case map[string]any, []any:
		var again any
		d := json.NewDecoder(strings.NewReader(got))
		d.UseNumber()
		if err := d.Decode(&again); err != nil || d.More() || !reflect.DeepEqual(again, want) {
			t.Fatalf("%s: got %q, %v, want %v", j.names[column], got, err, want)
		}
		if twice := string(appendCompact(nil, []byte(got))); twice != got {
			t.Fatalf("%s: got %q, and from this text %q", j.names[column], got, twice)
		}
	}
}

// sameNumber reports whether two texts are the same number. It removes insignificant
// characters in a simple, slow way.
func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	x, okX := parseDouble([]byte(a))
	y, okY := parseDouble([]byte(b))
	return okX && okY && x == y
}

// TestPlainNumber checks how exponents are written out.
func TestPlainNumber(t *testing.T) {
	for in, want := range map[string]string{
		"0": "0", "-0": "-0", "12": "12", "12.0": "12", "12.50": "12.50", "1e3": "1000", "-1.5E+1": "-15", "1e-3": "0.001", "123.456e1": "1234.56",
		"0e5": "0", "0.001e3": "1", "1e40": "1" + strings.Repeat("0", 40), "1e41": "1e41", "1e-41": "1e-41", "1e99999999999999999999": "1e99999999999999999999",
		"9223372036854775807e0": "9223372036854775807", "-10e-1": "-1",
	} {
		if got := plainNumber(bytes.Clone([]byte(in))); string(got) != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
