package record

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// cutAll cuts a text into records and columns as Reader and Parser together do. It stops at
// the first wrong quote and returns its line, or -1 if all quotes are right.
func cutAll(text, delimiter string) (records [][]string, badLine int) {
	c := cutter{quotes: true, delimiter: []byte(delimiter), maxLine: DefaultMaxLine}
	s := newSplitter(CSV, c.delimiter)
	lineNumber := 1
	for rest := []byte(text); len(rest) > 0; {
		size, content, bad := c.record(rest, true)
		if bad != "" {
			return records, lineNumber
		}
		if content > 0 {
			s.split(rest[:content], strings.Contains(string(rest[:content]), `"`))
			records = append(records, s.names())
		}
		lineNumber += strings.Count(string(rest[:size]), "\n")
		rest = rest[size:]
	}
	return records, -1
}

// FuzzCSV compares with encoding/csv: both must return the same records, up to the line of
// the first wrong quote. encoding/csv turns \r\n between quotes into \n. This package keeps
// \r\n as it was delivered.
func FuzzCSV(f *testing.F) {
	for _, text := range []string{
		"", "a", "a,b\n", "a,b\r\nc,d", `"a","b"`, "\"a\nb\",c\n", `"a""b"`, `""`, `"",""`, `a"b`, `"a"b`, `"a`, "\"a\r\nb\"\r\nc",
		",,\n,\n", "\"\"\"\"\n", "a,\"b\nc\",d\ne\n\n\nf", "\r\n\r\n", "\"a\"\r", "a\r", "a\rb,c\n", "\xff,\"\xfe\"\n", "a,\"\"\"b\"\"\"\n", "\"a\",\n",
		"x\"\n\"y\nz\"\n", "\"open,1\n2,\"b\"\n", "\r", "\"a\"\r\r\n", " \"a\"",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := csv.NewReader(strings.NewReader(text))
		r.FieldsPerRecord = -1
		got, badLine := cutAll(text, ",")
		for i := 0; ; i++ {
			want, err := r.Read()
			var wrong *csv.ParseError
			switch {
			case err == io.EOF:
				if badLine >= 0 || len(got) != i {
					t.Fatalf("%d records, bad line %d; encoding/csv has %d and none", len(got), badLine, i)
				}
				return
			case errors.As(err, &wrong):
				if badLine != wrong.StartLine || len(got) != i {
					t.Fatalf("%d records, bad line %d; encoding/csv has %d and %v", len(got), badLine, i, err)
				}
				return
			case err != nil:
				t.Fatal(err)
			}
			if i >= len(got) {
				t.Fatalf("no record %d, encoding/csv has %q", i, want)
			}
			for k, s := range got[i] {
				got[i][k] = strings.ReplaceAll(s, "\r\n", "\n")
			}
			if !slices.Equal(got[i], want) {
				t.Fatalf("record %d is %q, encoding/csv has %q", i, got[i], want)
			}
		}
	})
}

// FuzzDelimiter compares a delimiter of many bytes with a comma in its place.
func FuzzDelimiter(f *testing.F) {
	f.Add("a,b\n\"c,\"\"\",d\n", "||")
	f.Add("a,\"b\"x\n", "，")
	f.Add("a,\"b\"\n\"\",\n", "\x01")
	f.Add("a,\"b\"|\n", "||")
	f.Fuzz(func(t *testing.T, text, delimiter string) {
		if delimiter == "" || !utf8.ValidString(delimiter) || !utf8.ValidString(text) || strings.ContainsAny(delimiter, ",\r\n\"") || strings.ContainsAny(text, delimiter) {
			return
		}
		want, wantBad := cutAll(text, ",")
		got, bad := cutAll(strings.ReplaceAll(text, ",", delimiter), delimiter)
		for _, rec := range got {
			for i := range rec {
				rec[i] = strings.ReplaceAll(rec[i], delimiter, ",")
			}
		}
		if bad != wantBad || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Fatalf("%q, bad line %d; with commas %q, %d", got, bad, want, wantBad)
		}
	})
}

// TestSyntaxes cuts lines that are not comma-separated.
func TestSyntaxes(t *testing.T) {
	for _, c := range []struct {
		syntax          Syntax
		delimiter, text string
	}{
		{CSV, ";", "user;time;title;seconds\nu1;2014-09-01;\"a;b\";1\nu2;2014-09-01;;"},
		{CSV, "||", "user||time||title||seconds\nu1||2014-09-01||\"a;b\"||1\nu2||2014-09-01||||"},
		{CSV, "\x01", "user\x01time\x01title\x01seconds\nu1\x012014-09-01\x01a;b\x011\nu2\x012014-09-01\x01\x01"},
		{TSV, "", "user\ttime\ttitle\tseconds\nu1\t2014-09-01\ta;b\t1\nu2\t2014-09-01\t\t"},
		{TSV, "|", "user|time|title|seconds\nu1|2014-09-01|a;b|1\nu2|2014-09-01|\\N|"},
		{Blanks, "", " user time  title seconds\n \t \nu1\t2014-09-01 a;b 1 \n  u2 2014-09-01   \\N \\N"},
		{JSONL, "", `{"user":"u1","time":"2014-09-01","title":"a;b","seconds":1}` + "\n" + `{"user":"u2","time":"2014-09-01","title":null}`},
	} {
		f := plays()
		f.Syntax, f.Delimiter, f.Nulls = c.syntax, c.delimiter, []string{`\N`}
		got := read(t, c.text, playFile("a"), f, 1<<20)
		if len(got.lines) != 2 {
			t.Fatalf("%s %q: %q", c.syntax, c.delimiter, got.lines)
		}
		for i, want := range []string{`play "u1" 2014-09-01T00:00:00 2014-09-01 title="a;b" seconds="1"`, `play "u2" 2014-09-01T00:00:00 2014-09-01 title=null seconds=null`} {
			if !strings.HasSuffix(got.lines[i], want) {
				t.Errorf("%s %q: got %s, want %s", c.syntax, c.delimiter, got.lines[i], want)
			}
		}
	}
}

// TestTSVQuote checks that a quote has no special meaning in tsv.
func TestTSVQuote(t *testing.T) {
	f := plays()
	f.Syntax = TSV
	text := "user\ttime\ttitle\tseconds\nu1\t2014-09-01\t\"a\t1\nu2\t2014-09-01\tb\"\t2\n"
	wantLines(t, read(t, text, playFile("a"), f, 1),
		`keep 24: play "u1" 2014-09-01T00:00:00 2014-09-01 title="\"a" seconds="1"`,
		`keep 43: play "u2" 2014-09-01T00:00:00 2014-09-01 title="b\"" seconds="2"`)
}

func TestCheckSyntax(t *testing.T) {
	for _, c := range []struct {
		syntax    Syntax
		delimiter string
		want      string
	}{
		{CSV, "", ""}, {CSV, ",", ""}, {CSV, "||", ""}, {TSV, `"`, ""}, {JSONL, "", ""}, {Blanks, "", ""},
		{CSV, `"`, "cannot be one"}, {CSV, "\n", "cannot be one"}, {TSV, "\r", "cannot be one"},
		{CSV, "\xff", "cannot be one"}, {JSONL, ",", "no delimiter"}, {"xml", "", "unknown format"}, {"", "", "unknown format"},
	} {
		err := CheckSyntax(c.syntax, c.delimiter)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: got %v, want %q", c.syntax, c.delimiter, err, c.want)
		}
	}
}
