package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"usertrail/internal/behaviour"
)

// everyType returns a format with a field of each type, and a second behaviour that a column
// names.
func everyType() *Format {
	return &Format{
		Schema: &behaviour.Schema{Zone: "Asia/Shanghai", Kinds: []behaviour.Kind{
			{ID: 1, Name: "play", Fields: []behaviour.Field{
				{Name: "s", Type: behaviour.String}, {Name: "i", Type: behaviour.Int64}, {Name: "d", Type: behaviour.Double},
				{Name: "b", Type: behaviour.Bool}, {Name: "t", Type: behaviour.Timestamp}, {Name: "day", Type: behaviour.Day},
			}},
			{ID: 2, Name: "visit"},
		}},
		Syntax: CSV,
		Names:  []string{"what", "who", "when", "s", "i", "d", "b", "t", "day"},
		Nulls:  []string{`\N`, "NULL"},
		Slack:  1,

		KindColumn: &Column{Name: "what"},
		KindOf:     map[string]int{"p": 0, "v": 1, "visit": 1},
		Kinds: []Kind{
			{User: Column{Name: "who"}, Time: Time{Column: Column{Name: "when"}}, Fields: []Column{
				{Name: "s"}, {Name: "i"}, {Name: "d"}, {Name: "b"}, {Name: "t"}, {Name: "day"},
			}},
			{User: Column{Name: "who"}, Time: Time{Column: Column{Name: "when"}}},
		},
	}
}

// TestReasons has a line for every reason, with good lines between them.
func TestReasons(t *testing.T) {
	f := everyType()
	f.Zone = zone(t, "Asia/Shanghai")
	f.MaxLine = 400
	long := strings.Repeat("u", 256)
	for _, c := range []struct{ line, want string }{
		{"p,u1,2014-09-01 10:00:00,text,-5,2.5,true,2014-09-01 10:00:00,2014-09-02",
			`keep 0: play "u1" 2014-09-01T02:00:00 2014-09-01 s="text" i="-5" d="2.5" b="true" t="2014-09-01T02:00:00Z" day="2014-09-02"`},
		{`p,u1,2014-09-01 10:00:00,,"",\N,NULL,,`, `keep 0: play "u1" 2014-09-01T02:00:00 2014-09-01 s=null i=null d=null b=null t=null day=null`},
		{"visit,\" u,1\",2014-09-01,,,,,,", `keep 0: visit " u,1" 2014-08-31T16:00:00 2014-09-01`},
		{"v," + long[:255] + ",2014-09-02 23:59:59.999999,,,,,,", `keep 0: visit "` + long[:255] + `" 2014-09-02T15:59:59.999999 2014-09-02`},
		{"search,u1,2014-09-01,,,,,,", "skip"},
		{"search,,never,,,,,,", "skip"},
		{strings.Repeat("v,", 201), "reject 0 line 1: too long: more than 400 bytes"},
		{`v,"u1,2014-09-01,,,,,,`, "reject 0 line 1: bad quote: a quote within a column, or not closed"},
		{"v,u1\xff,2014-09-01,,,,,,", "reject 0 line 1: not UTF-8: byte 0xff at 4"},
		{"v,u1,2014-09-01,,,,,", "reject 0 line 1: wrong width: 8 columns, want 9"},
		{"v,u1,2014-09-01,,,,,,,", "reject 0 line 1: wrong width: 10 columns, want 9"},
		{",u1,2014-09-01,,,,,,", "reject 0 line 1: no behaviour: no text names the behaviour"},
		{"v,,2014-09-01,,,,,,", "reject 0 line 1: no user: no text for the user"},
		{"v,NULL,2014-09-01,,,,,,", "reject 0 line 1: no user: no text for the user"},
		{"v," + long + ",2014-09-01,,,,,,", "reject 0 line 1: user too long: 256 bytes, at most 255"},
		{"v,u1,,,,,,,", "reject 0 line 1: no time: no text for the time"},
		{"v,u1,yesterday,,,,,,", `reject 0 line 1: bad time: "yesterday" is not a time such as 2006-01-02 15:04:05`},
		{"v,u1,2014-09-03,,,,,,", "reject 0 line 1: outside its day: 2014-09-03 in a file of 2014-09-01"},
		{"v,u1,2014-08-30 23:59:59,,,,,,", "reject 0 line 1: outside its day: 2014-08-30 in a file of 2014-09-01"},
		{"p,u1,2014-09-01,,x,,,,", `reject 0 line 1: wrong type: field i: "x" is no int64`},
		{"p,u1,2014-09-01,,9223372036854775808,,,,", `reject 0 line 1: wrong type: field i: "9223372036854775808" is no int64`},
		{"p,u1,2014-09-01,,,1e400,,,", `reject 0 line 1: wrong type: field d: "1e400" is no double`},
		{"p,u1,2014-09-01,,,,maybe,,", `reject 0 line 1: wrong type: field b: "maybe" is no bool`},
		{"p,u1,2014-09-01,,,,,soon,", `reject 0 line 1: wrong type: field t: "soon" is no timestamp`},
		{"p,u1,2014-09-01,,,,,,2014-02-30", `reject 0 line 1: wrong type: field day: "2014-02-30" is no date`},
	} {
		file := File{Path: "a.csv", Date: &theFirst, Kind: -1}
		for _, end := range []string{"", "\n", "\r\n"} {
			wantLines(t, read(t, c.line+end, file, f, 1<<10), c.want)
		}
	}
	got := read(t, "not json\n", playFile("a"), jsonPlays(), 10)
	if !strings.HasPrefix(got.lines[0], "reject 0 line 1: bad json: ") {
		t.Errorf("got %s, want bad json", got.lines[0])
	}
	for i, r := range Reasons {
		if r == "" || slices.Index(Reasons, r) != i {
			t.Errorf("reason %q occurs twice", r)
		}
	}
}

// TestReject checks that a Reject is an error that names the place and keeps its cause.
func TestReject(t *testing.T) {
	cause := errors.New("no such day")
	err := error(&Reject{Path: "d/a.csv", Line: 7, Offset: 99, Reason: BadTime, Err: cause})
	if want := "record: d/a.csv:7: bad time: no such day (offset 99)"; err.Error() != want || !errors.Is(err, cause) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestZonesOfFields reads the same texts in the zone of the logs and in the zones of fields. A date is the day that is written, or the day of an
// epoch in the zone of the field.
func TestZonesOfFields(t *testing.T) {
	zone := func(name string) *time.Location {
		z, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	for _, c := range []struct {
		typ          behaviour.Type
		format, text string
		zone         *time.Location
		want         string
	}{
		{behaviour.Timestamp, "", "2014-09-01 20:00:00", nil, "2014-09-01T12:00:00Z"},
		{behaviour.Timestamp, "", "2014-09-01 20:00:00", time.UTC, "2014-09-01T20:00:00Z"},
		{behaviour.Timestamp, "", "2014-09-01 20:00:00", zone("America/New_York"), "2014-09-02T00:00:00Z"},
		{behaviour.Timestamp, "", "2014-09-01 20:00:00+01:00", time.UTC, "2014-09-01T19:00:00Z"},
		{behaviour.Day, "", "2014-09-01 20:00:00", time.UTC, "2014-09-01"},
		{behaviour.Day, EpochSeconds, "1409601600", nil, "2014-09-02"},
		{behaviour.Day, EpochSeconds, "1409601600", time.UTC, "2014-09-01"},
	} {
		f := plays()
		f.Zone, f.Schema.Zone = zone("Asia/Shanghai"), "Asia/Shanghai"
		f.Schema.Kinds[0].Fields[0].Type = c.typ
		f.Kinds[0].Fields[0].Format, f.Kinds[0].Fields[0].Zone = c.format, c.zone
		text := "user,time,title,seconds\nu1,2014-09-01 10:00:00," + c.text + ",60\n"
		wantLines(t, read(t, text, playFile("a.csv"), f, 1<<10), fmt.Sprintf(`keep 24: play "u1" 2014-09-01T02:00:00 2014-09-01 title=%q seconds="60"`, c.want))
	}
}

// TestPatterns extracts a user, a time and fields from texts.
func TestPatterns(t *testing.T) {
	f := plays()
	f.Syntax, f.Header, f.Nulls = Blanks, false, []string{"NULL"}
	f.Kinds[0] = Kind{
		User: Column{Name: "$3", Pattern: regexp.MustCompile(`uid=(\w+)`)},
		Time: Time{Column: Column{Name: "$line", Pattern: regexp.MustCompile(`^(\S+ \S+)`)}, Format: "2006/01/02 15:04:05"},
		Fields: []Column{
			{Name: "$3", Pattern: regexp.MustCompile(`title=([^&]*)`)},
			{Name: "$line", Pattern: regexp.MustCompile(` (\d+)$`)},
		},
	}
	text := "2014/09/01 10:00:00 uid=u1&title=A ok 15\n" +
		"2014/09/01 10:00:01 title=&uid=u2\n" +
		"2014/09/01 10:00:02 title=B\n" +
		"2014/09/01\n" +
		"at 2014/09/01 uid=u3\n" +
		"2014/09/01 10:00:05 uid=NULL\n" +
		"2014/09/01 10:00:06 uid=u4&title=NULL\n"
	wantLines(t, read(t, text, playFile("a.log"), f, 1),
		`keep 0: play "u1" 2014-09-01T10:00:00 2014-09-01 title="A" seconds="15"`,
		`keep 41: play "u2" 2014-09-01T10:00:01 2014-09-01 title=null seconds=null`,
		`reject 75 line 3: no user: no text for the user: the pattern uid=(\w+) does not match "title=B"`,
		`reject 103 line 4: wrong width: 1 column, want 3`,
		`reject 114 line 5: bad time: "at 2014/09/01" is not a time such as "2006/01/02 15:04:05"`,
		`reject 135 line 6: no user: no text for the user: the pattern uid=(\w+) selects "NULL", which means null`,
		`keep 164: play "u4" 2014-09-01T10:00:06 2014-09-01 title=null seconds=null`)
}

// TestABlankOfATimeInBlanksIsARun reads times whose day and time of day have blanks and tabs between them. Only blanks
// may have such runs there.
func TestABlankOfATimeInBlanksIsARun(t *testing.T) {
	f := plays()
	f.Syntax, f.Header = Blanks, false
	f.Kinds[0] = Kind{User: Column{Name: "$3"}, Fields: []Column{{Name: "$4"}, {Name: "$5"}}}
	pattern := regexp.MustCompile(`^[ \t]*(\S+[ \t]+\S+)`)
	for _, format := range []string{"", "2006-01-02 15:04:05", "2006-01-02 15:04:05.000", "2006-1-2 15:04:05", "2006-01-02\t15:04:05"} {
		f.Kinds[0].Time = Time{Column: Column{Name: "$line", Pattern: pattern}, Format: format}
		for _, between := range []string{" ", "\t", "  ", " \t", "\t\t "} {
			if strings.Contains(format, "\t") && between != "\t" {
				continue
			}
			fraction := strings.TrimPrefix(format, "2006-01-02 15:04:05")
			if !strings.HasPrefix(fraction, ".") {
				fraction = ""
			}
			line := "2014-09-01" + between + "10:00:07" + fraction + " u1 A 15\n"
			wantLines(t, read(t, line, playFile("a.log"), f, 1), `keep 0: play "u1" 2014-09-01T10:00:07 2014-09-01 title="A" seconds="15"`)
		}
	}
	f.Kinds[0].Time.Format = ""
	wantLines(t, read(t, "2014-09-01\t10:00 u1 A 15\n", playFile("a.log"), f, 1), `reject 0 line 1: bad time: "2014-09-01\t10:00" is not a time such as 2006-01-02 15:04:05`)
	f.Syntax, f.Delimiter = TSV, "|"
	f.Kinds[0] = Kind{User: Column{Name: "$2"}, Time: Time{Column: Column{Name: "$1"}}, Fields: []Column{{Name: "$3"}, {Name: "$4"}}}
	wantLines(t, read(t, "2014-09-01\t10:00:07|u1|A|15\n", playFile("a.log"), f, 1), `reject 0 line 1: bad time: "2014-09-01\t10:00:07" is not a time such as 2006-01-02 15:04:05`)
}

// TestNamesReplaceTheHeader skips the header's line and uses other names for the columns.
func TestNamesReplaceTheHeader(t *testing.T) {
	f := plays()
	f.Names = []string{"user", "time", "title", "seconds"}
	want := `play "u1" 2014-09-01T00:00:00 2014-09-01 title="A" seconds="1"`
	wantLines(t, read(t, "用户,时间,节目,秒\nu1,2014-09-01,A,1\n", playFile("a"), f, 1), "keep 25: "+want)
	f.Header = false
	wantLines(t, read(t, "u1,2014-09-01,A,1\n", playFile("a"), f, 1), "keep 0: "+want)
	f.Header, f.Names = true, nil
	f.Kinds[0].User.Name, f.Kinds[0].Time.Name = "用户", "$2"
	wantLines(t, read(t, "用户,时间,title,seconds\nu1,2014-09-01,A,1\n", playFile("a"), f, 1), "keep 28: "+want)
}

// TestWrongColumns checks that the error names the missing column, the file and its columns. It
// escapes unprintable characters of names.
func TestWrongColumns(t *testing.T) {
	noYear := plays()
	noYear.Kinds[0].Time.Format = "01-02 15:04:05"
	noDate := playFile("day/a.csv")
	noDate.Date = nil
	json := plays()
	json.Syntax = JSONL
	json.Kinds[0].User.Name = "$1"
	number := plays()
	number.Kinds[0].User.Name = "$5"
	for _, c := range []struct {
		format *Format
		file   File
		header string
		want   []string
	}{
		{plays(), playFile("day/a.csv"), "user,time,Title,seconds", []string{`field title: no column "title"`, "day/a.csv", `"user", "time", "Title", "seconds"`}},
		{plays(), playFile("day/a.csv"), "uid,time", []string{`user: no column "user"`}},
		{plays(), playFile("day/a.csv"), "user,time,\xd3\xc3,seconds", []string{"the header is not UTF-8: write the encoding of the log under logs, such as encoding: gb18030"}},
		{plays(), playFile("day/a.csv"), "user,time,ti\x1b[2Jtle,sec\u202eonds", []string{`"user", "time", "ti\x1b[2Jtle", "sec\u202eonds"`}},
		{plays(), playFile("day/a.csv"), "user,time,time,title,seconds", []string{`column "time" occurs twice`, "day/a.csv"}},
		{number, playFile("day/a.csv"), "user,time,title,seconds", []string{`no column $5`, "day/a.csv"}},
		{noYear, noDate, "user,time,title,seconds", []string{"names no year", "day/a.csv"}},
		{json, playFile("day/a.csv"), "", []string{"column $1", "no numbers"}},
		{plays(), File{Path: "day/a.csv", Kind: -1}, "user,time,title,seconds", []string{"neither its path nor a column"}},
		{plays(), File{Path: "day/a.csv", Kind: 1}, "user,time,title,seconds", []string{"no behaviour of number 1"}},
	} {
		_, err := NewParser(c.format, c.file, strings.Split(c.header, ","))
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("header %s: got %v, want %q in it", c.header, err, want)
			}
		}
	}
	f := plays()
	f.Header = false
	_, err := NewParser(f, playFile("day/a.csv"), nil)
	if err == nil || !strings.Contains(err.Error(), "no header") {
		t.Errorf("got %v, want that there is no header", err)
	}
}

// TestSinkError checks that an error of the sink ends Parse and is returned unchanged.
func TestSinkError(t *testing.T) {
	p, err := NewParser(plays(), playFile("a"), []string{"user", "time", "title", "seconds"})
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{"u1,2014-09-01,A,1\nu2,2014-09-01,A,1\n", "bad\nbad\n"} {
		s := &full{}
		if err := p.Parse(Chunk{Data: []byte(data), Line: 1}, s); err != errFull || s.calls != 1 {
			t.Errorf("%q: got %v after %d calls, want the sink's error after 1", data, err, s.calls)
		}
	}
}

var errFull = errors.New("full")

type full struct{ calls int }

func (f *full) Keep(*behaviour.Record) error { f.calls++; return errFull }
func (f *full) Skip(*Skipped) error          { f.calls++; return errFull }
func (f *full) Reject(*Reject) error         { f.calls++; return errFull }

// TestValuesDoNotOverlap appends to every value of a record and checks that the others do not
// change.
func TestValuesDoNotOverlap(t *testing.T) {
	f := everyType()
	p, err := NewParser(f, File{Path: "a", Kind: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	line := "p,u1,2014-09-01 10:00:00,\"te\"\"xt\",-5,2.5,true,2014-09-01 10:00:00,2014-09-02"
	s := keeper(func(r *behaviour.Record) {
		before := make([][]byte, len(r.Values))
		for i, v := range r.Values {
			before[i] = bytes.Clone(v)
		}
		for _, v := range r.Values {
			_ = append(v, "xxxxxxxxxxxxxxxx"...)
		}
		_ = append(r.User, "xxxxxxxxxxxxxxxx"...)
		for i, v := range r.Values {
			if !bytes.Equal(v, before[i]) {
				t.Errorf("value %d is %q, was %q", i, v, before[i])
			}
		}
		if string(r.Values[0]) != `te"xt` {
			t.Errorf("text is %q", r.Values[0])
		}
	})
	if err := p.Parse(Chunk{Data: []byte(line), Line: 1}, s); err != nil {
		t.Fatal(err)
	}
}

// A keeper is a sink of good records.
type keeper func(*behaviour.Record)

func (k keeper) Keep(r *behaviour.Record) error { k(r); return nil }
func (k keeper) Skip(*Skipped) error            { return nil }
func (k keeper) Reject(r *Reject) error         { return r }

// covered is a sink that checks that records arrive in order and do not overlap.
type covered struct {
	t    *testing.T
	next int64
	n    int
}

func (c *covered) Keep(r *behaviour.Record) error {
	if r.ID < c.next {
		c.t.Fatalf("record at %d comes after %d", r.ID, c.next)
	}
	if len(r.User) == 0 || len(r.User) > behaviour.MaxUserLen {
		c.t.Fatalf("user %q", r.User)
	}
	c.next = r.ID + 1
	c.n++
	return nil
}

func (c *covered) Skip(*Skipped) error {
	c.n++
	return nil
}

func (c *covered) Reject(r *Reject) error {
	if r.Offset < c.next {
		c.t.Fatalf("reject at %d comes after %d", r.Offset, c.next)
	}
	if r.Reason == "" || r.Err == nil || !slices.Contains(Reasons, r.Reason) {
		c.t.Fatalf("reject %v", r)
	}
	c.next = r.Offset + 1
	c.n++
	return nil
}

// FuzzParse reads any text in each syntax, whole and in chunks. Nothing may panic, both
// results must be equal, and each line that is not empty must be in exactly one record.
func FuzzParse(f *testing.F) {
	for _, text := range awkward {
		f.Add(text, uint8(0), uint8(7))
	}
	f.Add("u1\t2014-09-01\tA\t1\n\nu2\n", uint8(1), uint8(3))
	f.Add(" u1 2014-09-01 A 1\n  \n", uint8(2), uint8(3))
	f.Add(`{"user":"u1","time":"2014-09-01"}`+"\n[]\n{\n", uint8(3), uint8(3))
	f.Add(mark+"u1,2014-09-01,A,1\n"+mark+"\"u2\",2014-09-01,\"\n\",1\n"+mark+"\n", uint8(0), uint8(3))
	f.Add("\xff\xfe\x00,\"\n\n\"\r\n,", uint8(0), uint8(1))
	f.Fuzz(func(t *testing.T, text string, syntax, size uint8) {
		format := plays()
		format.Syntax = []Syntax{CSV, TSV, Blanks, JSONL}[syntax%4]
		format.Header, format.Names = false, []string{"user", "time", "title", "seconds"}
		format.MaxLine = 64
		small, err := readAll(strings.NewReader(text), playFile("a"), format, int(size))
		if WideMark([]byte(text)) != "" {
			if !errors.Is(err, ErrEncoding) {
				t.Fatalf("%v, want ErrEncoding: the text begins with the mark of another encoding", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		whole := read(t, text, playFile("a"), format, len(text)+1)
		wantLines(t, small, whole.lines...)
		if n := linesOf(strings.TrimPrefix(text, mark), format.Syntax); format.Syntax != CSV && len(whole.lines) != n {
			t.Fatalf("%d records of %d lines", len(whole.lines), n)
		}
		checkCover(t, text, format)
	})
}

// linesOf counts the lines that are not empty.
func linesOf(text string, s Syntax) int {
	n := 0
	for l := range strings.Lines(text) {
		l = strings.TrimLeft(strings.TrimSuffix(strings.TrimSuffix(l, "\n"), "\r"), mark)
		if s == Blanks {
			l = strings.Trim(l, " \t")
		}
		if l != "" {
			n++
		}
	}
	return n
}

// checkCover cuts a text into records one by one and checks that Parse returns each of them.
func checkCover(t *testing.T, text string, f *Format) {
	text = strings.TrimPrefix(text, mark)
	delimiter, err := f.delimiter()
	if err != nil {
		t.Fatal(err)
	}
	cut, n := f.cutter(delimiter), 0
	for rest := []byte(text); len(rest) > 0; {
		size, content, _ := cut.record(rest, true)
		if size < 1 || size > len(rest) || content > size {
			t.Fatalf("record of %d bytes, %d with its end, of %d", content, size, len(rest))
		}
		if rec := string(unmarked(rest[:content])); rec != "" && (f.Syntax != Blanks || strings.Trim(rec, " \t") != "") {
			n++
		}
		rest = rest[size:]
	}
	p, err := NewParser(f, playFile("a"), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &covered{t: t}
	if err := p.Parse(Chunk{Data: []byte(text), Line: 1}, s); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	if s.n != n {
		t.Fatalf("%d of %d records", s.n, n)
	}
}

// TestZoneOfDates checks that a record has its date in the schema's zone, whatever zone its
// time is written in.
func TestZoneOfDates(t *testing.T) {
	f := plays()
	f.Zone = zone(t, "Asia/Shanghai")
	f.Kinds[0].Time.Zone = time.UTC
	wantLines(t, read(t, header+"u1,2014-09-01 15:59:59,A,1\nu1,2014-09-01 16:00:00,A,1\nu1,2014-09-01T20:00:00-04:00,A,1\n", playFile("a"), f, 1),
		`keep 24: play "u1" 2014-09-01T15:59:59 2014-09-01 title="A" seconds="1"`,
		`keep 51: play "u1" 2014-09-01T16:00:00 2014-09-02 title="A" seconds="1"`,
		`keep 78: play "u1" 2014-09-02T00:00:00 2014-09-02 title="A" seconds="1"`)
}

// A remapping is a sink that replaces the values of each record: it uses its own slice, with
// the last value first.
type remapping struct {
	values [][]byte
	got    []string
}

func (s *remapping) Keep(r *behaviour.Record) error {
	s.values = s.values[:0]
	for i := range r.Values {
		s.values = append(s.values, r.Values[len(r.Values)-1-i])
	}
	r.Values = s.values
	s.got = append(s.got, string(bytes.Join(r.Values, []byte(" "))))
	return nil
}

func (s *remapping) Skip(*Skipped) error  { return nil }
func (s *remapping) Reject(*Reject) error { return nil }

// TestSinksMayKeepValuesOfTheirOwn checks that a change that Keep makes to one record does
// not affect the next record.
func TestSinksMayKeepValuesOfTheirOwn(t *testing.T) {
	p, err := NewParser(plays(), playFile("a"), []string{"user", "time", "title", "seconds"})
	if err != nil {
		t.Fatal(err)
	}
	s := new(remapping)
	text := "u1,2014-09-01 10:00:00,AA,77\nu1,2014-09-01 10:00:00,BB,88\nu1,2014-09-01 10:00:00,CC,99\n"
	if err := p.Parse(Chunk{Data: []byte(text), Line: 1}, s); err != nil {
		t.Fatal(err)
	}
	number := func(n int64) string { return string(behaviour.AppendInt64(nil, n)) }
	if want := []string{number(77) + " AA", number(88) + " BB", number(99) + " CC"}; !slices.Equal(s.got, want) {
		t.Errorf("the values are %q, want %q", s.got, want)
	}
}
