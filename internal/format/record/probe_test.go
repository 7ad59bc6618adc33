package record_test

import (
	"reflect"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/record"
)

func TestRowsAreThoseOfTheSyntax(t *testing.T) {
	for _, c := range []struct {
		name, text, delimiter string
		syntax                record.Syntax
		limit                 int
		final                 bool
		want                  [][]string
		bad                   int
	}{
		{"csv", "a,\"b\n,c\"\n\n1,2\n", ",", record.CSV, 9, true, [][]string{{"a", "b\n,c"}, {"1", "2"}}, 0},
		{"mark", "\uFEFFa,b\r\n", ",", record.CSV, 9, true, [][]string{{"a", "b"}}, 0},
		{"marks", "\uFEFFa,b\n\uFEFF\"1,\",\"2\"\n\uFEFF\n", ",", record.CSV, 9, true, [][]string{{"a", "b"}, {"1,", "2"}}, 0},
		{"quote gone wrong", "a,b\n1,x\"y\n3,4\n", ",", record.CSV, 9, true, [][]string{{"a", "b"}, {"3", "4"}}, 1},
		{"quotes of tsv", "a\t\"b\n", "\t", record.TSV, 9, true, [][]string{{"a", `"b`}}, 0},
		{"last line not whole", "a;b\nc;", ";", record.CSV, 9, false, [][]string{{"a", "b"}}, 0},
		{"last line", "a;b\nc;", ";", record.CSV, 9, true, [][]string{{"a", "b"}, {"c", ""}}, 0},
		{"limit", "1|2\n3|4\n5|6\n", "|", record.CSV, 2, true, [][]string{{"1", "2"}, {"3", "4"}}, 0},
		{"blanks", " \t\n  a\t b \n", "", record.Blanks, 9, true, [][]string{{"a", "b"}}, 0},
	} {
		got, bad := record.Rows([]byte(c.text), c.syntax, c.delimiter, c.limit, c.final)
		if !reflect.DeepEqual(got, c.want) || bad != c.bad {
			t.Errorf("%s: got %q and %d bad, want %q and %d", c.name, got, bad, c.want, c.bad)
		}
	}
}

func TestMembersAreNamedAsColumnsAre(t *testing.T) {
	got, err := record.Members([]byte(`{"a":{"b":"x","c":{"d":1.50}},"e":null,"f":[1, 2],"g":2.0e3,"h":true}`))
	if err != nil {
		t.Fatal(err)
	}
	var texts [][2]string
	for _, m := range got {
		texts = append(texts, [2]string{m.Name, m.Text})
	}
	want := [][2]string{{"a.b", "x"}, {"a.c.d", "1.50"}, {"e", "null"}, {"f", "[1,2]"}, {"g", "2000"}, {"h", "true"}}
	if !reflect.DeepEqual(texts, want) {
		t.Errorf("got %q, want %q", texts, want)
	}
	if !got[0].Quoted() || got[1].Quoted() || !got[2].Null() || got[3].Null() {
		t.Errorf("%+v", got)
	}
	for _, line := range []string{"", "[1]", "{", "3"} {
		if _, err := record.Members([]byte(line)); err == nil {
			t.Errorf("%q has members", line)
		}
	}
}

func TestReadsSaysWhatAParserTakes(t *testing.T) {
	for _, c := range []struct {
		typ  behaviour.Type
		text string
		want bool
	}{
		{behaviour.Int64, "7", true}, {behaviour.Int64, "4.0128e+10", true}, {behaviour.Int64, "7.5", false}, {behaviour.Int64, "", false},
		{behaviour.Double, "7.5", true}, {behaviour.Double, "NaN", true}, {behaviour.Double, "0x1p3", false},
		{behaviour.Bool, "Yes", true}, {behaviour.Bool, "maybe", false}, {behaviour.String, "x", true},
	} {
		if got := record.Reads(c.typ, c.text); got != c.want {
			t.Errorf("%s %q: %t", c.typ, c.text, got)
		}
	}
}

func TestTimeReadersReadAsTimesDo(t *testing.T) {
	near := behaviour.DateOf(2014, 9, 1)
	for _, c := range []struct {
		format, text string
		want         record.Written
		ok           bool
	}{
		{"", "2014-09-01 00:00:01", record.Written{Wall: 1409529601}, true},
		{"", "2014-09-01T08:00:01+08:00", record.Written{Wall: 1409558401, Zoned: true, Offset: 8 * 3600}, true},
		{record.EpochMillis, "1409529601000", record.Written{Wall: 1409529601, Zoned: true}, true},
		{"Jan _2 15:04:05", "Sep  1 00:00:01", record.Written{Wall: 1409529601}, true},
		{"02/01/2006", "13/13/2014", record.Written{}, false},
	} {
		read, err := record.TimeReader(c.format)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := read(c.text, near)
		if ok != c.ok || ok && (got != c.want || got.Day() != near) {
			t.Errorf("%q by %q: %+v %t, want %+v %t", c.text, c.format, got, ok, c.want, c.ok)
		}
	}
	if _, err := record.TimeReader("15:04"); err == nil {
		t.Error("a format without a day is read")
	}
}
