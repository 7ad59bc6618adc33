package jobdraft_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/format/job"
	"usertrail/internal/format/record"
	"usertrail/internal/test/testkit"
)

// A writing is a syntax with its delimiter.
type writing struct {
	syntax    record.Syntax
	delimiter string
}

var writings = []writing{
	{record.CSV, ","}, {record.CSV, ";"}, {record.CSV, "|"}, {record.CSV, "||"}, {record.CSV, "^"}, {record.CSV, "::"}, {record.CSV, "|~|"},
	{record.TSV, "\t"}, {record.CSV, "\x01"}, {record.JSONL, ""}, {record.Blanks, ""},
}

var (
	endings   = []string{"", ".gz", ".zst"}
	encodings = []string{"", "gb18030", "utf-16", "shift_jis", "windows-1252"}
)

// worlds returns worlds that vary one property at a time, while the others rotate through
// their values. make test has a fifth of the pairs of encodings or paths and writings.
func worlds() []world {
	var out []world
	n := 0
	at := func(syntax, header, ending, encoding, times, paths int) {
		s := writings[syntax%len(writings)]
		w := world{s.syntax, s.delimiter, header%2 == 0 && s.syntax != record.JSONL, endings[ending%len(endings)], encodings[encoding%len(encodings)], timeWays[times%len(timeWays)], pathWays[paths%len(pathWays)]}
		if w.syntax == record.Blanks && strings.Contains(w.times.format, " ") {
			w.times = timeWays[times%2+3]
		}
		if (w.encoding == "windows-1252" || w.encoding == "shift_jis") && strings.Contains(w.times.format, "年") {
			w.encoding = ""
		}
		if !w.header && w.syntax != record.JSONL && w.paths.byColumn() {
			w.paths = pathWays[0] // the column that names the behaviours cannot be guessed
		}
		out = append(out, w)
		n++
	}
	for s := range writings {
		for h := range 2 {
			at(s, h, n, 0, n, n)
			at(s, h, n, n, n*3, n*5)
		}
	}
	for i := range timeWays {
		at(0, 0, i, 0, i, 0)
		at(i, i, i, 0, i, i)
		at(9, 0, i, 0, i, 1)
	}
	for e := range encodings {
		for s := range writings {
			if testkit.All() || (e+s)%5 == 0 {
				at(s, e+s, 0, e, s, s)
			}
		}
	}
	for p := range pathWays {
		for s := range writings {
			if testkit.All() || (p+s)%5 == 0 {
				at(s, s/2, p, 0, p+s, p)
			}
		}
	}
	return out
}

// TestADraftReadsWhatTheTrueJobReads delivers logs in many ways and drafts a job of them. It
// reads them with the draft and with the job that the logs were made from.
func TestADraftReadsWhatTheTrueJobReads(t *testing.T) {
	for i, w := range worlds() {
		t.Run(fmt.Sprintf("%03d", i), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			right := w.write(t, dir)
			d := makeDraft(t, dir)
			if d.Problem != nil {
				t.Fatalf("%v: %v\n%s", w, d.Problem, d.Text)
			}
			j, err := job.Parse(filepath.Join(dir, "usertrail.yaml"), []byte(d.Text))
			if err != nil {
				t.Fatal(err)
			}
			want, got := records(t, right), records(t, j)
			if len(want) < 100 || strings.Contains(strings.Join(want, "\n"), "bad: ") {
				t.Fatalf("%v: the true job reads %d records: %s", w, len(want), want[0])
			}
			if !slices.Equal(want, got) {
				t.Errorf("%v: read\n%s\nwant\n%s\nby\n%s", w, sparse(got), sparse(want), d.Text)
			}
			if d.Bad != 0 || d.Good != d.Read || d.Read == 0 || d.SkippedFiles != 0 {
				t.Errorf("%v: %+v, want all of the sample good", w, d.Summary)
			}
			if i%8 > 0 {
				return
			}
			if again := makeDraft(t, dir); again.Text != d.Text {
				t.Errorf("%v: the same logs give\n%s\nand\n%s", w, d.Text, again.Text)
			}
		})
	}
}

// sparse returns a few of many lines.
func sparse(lines []string) string {
	if len(lines) > 4 {
		lines = append(slices.Clone(lines[:4]), fmt.Sprintf("(%d lines)", len(lines)))
	}
	return strings.Join(lines, "\n")
}

// TestADraftTellsColumnsApart drafts a job of columns whose names differ only in case, from
// reserved names or from the columns of another behaviour.
func TestADraftTellsColumnsApart(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"2014-09-01/play.csv":  "UserID,Time,ID,Date,Price\na,2014-09-01 10:00:00,7,monday,1.5\nb,2014-09-01 11:00:00,8,monday,2.5\n",
		"2014-09-01/order.csv": "UserID,Time,price,PRICE\na,2014-09-01 10:00:00,1.5,x\nb,2014-09-01 11:00:00,2.5,y\n",
	} {
		name = filepath.Join(dir, "logs", name)
		testkit.WriteFile(t, name, text)
	}
	d := makeDraft(t, dir)
	if d.Problem != nil || d.Bad != 0 {
		t.Fatalf("%v, %+v\n%s", d.Problem, d.Summary, d.Text)
	}
	j, err := job.Parse(filepath.Join(dir, "usertrail.yaml"), []byte(d.Text))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, k := range j.Schema.Kinds {
		for _, f := range k.Fields {
			names[f.Name] = true
		}
	}
	folds := map[string]bool{}
	for name := range names {
		folds[strings.ToLower(name)] = true
	}
	if len(folds) != len(names) || !names["ID_"] || !names["Date_"] || names["ID"] || names["Date"] {
		t.Errorf("the fields are %v\n%s", names, d.Text)
	}
	if n := strings.Count(strings.Join(records(t, j), "\n"), "bad: "); n > 0 {
		t.Errorf("%d records are bad", n)
	}
}

// TestLinksThatLeadBackAreNotFollowed drafts a job of logs with links to themselves, to
// folders above them, to each other and to missing files.
func TestLinksThatLeadBackAreNotFollowed(t *testing.T) {
	dir := t.TempDir()
	worlds()[0].write(t, dir)
	want := makeDraft(t, dir)
	for name, target := range map[string]string{
		"logs/back": ".", "logs/up": "..", "logs/here": "here", "logs/left": "right", "logs/right": "left", "logs/nothing": "nowhere",
		"logs/cross": "../others", "others/cross": "../logs",
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	got := makeDraft(t, dir)
	if got.Files != want.Files || got.SkippedFiles != want.SkippedFiles || got.Good != want.Good || !slices.Equal(got.Behaviours, want.Behaviours) {
		t.Errorf("%+v\n%s\nwant %+v\n%s", got.Summary, got.Text, want.Summary, want.Text)
	}
}

// TestAnErrorPageIsNoLog drafts a job of two behaviours. A file of each is the error page of a server.
func TestAnErrorPageIsNoLog(t *testing.T) {
	dir := t.TempDir()
	for night := range 6 {
		for _, name := range []string{"listen", "search"} {
			text := "uid,at,text\n"
			for i := range 50 {
				text += fmt.Sprintf("u%d,2024-02-%02d %02d:00:00,%s %d\n", i%9, 20+night, i%24, name, i)
			}
			if (night == 3) == (name == "search") && night > 1 && night < 4 {
				text = "<!DOCTYPE html>\n<html><head><title>503</title></head>\n<body>No server is available</body></html>\n"
			}
			file := filepath.Join(dir, "logs", fmt.Sprintf("202402%d", 20+night), name+".csv")
			testkit.WriteFile(t, file, text)
		}
	}
	d := makeDraft(t, dir)
	if !slices.Equal(d.Behaviours, []string{"listen", "search"}) || len(d.LeftOut) > 0 || d.Bad > 0 || !strings.Contains(string(d.Text), "search.csv is an HTML page") {
		t.Errorf("%+v\n%s", d.Summary, d.Text)
	}
}
