package userlist_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/layout"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// A person is a row of a Parquet file from another program.
type person struct {
	Name   string  `parquet:"name,dict"`
	Nick   *string `parquet:"nick,optional"`
	Number int64   `parquet:"number,delta"`
	Small  uint32  `parquet:"small"`
	Score  float64 `parquet:"score"`
	Tags   []string
}

// writePeople writes n people into a file of several row groups and pages.
func writePeople(t *testing.T, name string, n int) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := parquet.NewGenericWriter[person](f, parquet.MaxRowsPerRowGroup(700), parquet.PageBufferSize(1000))
	for i := range n {
		p := person{Name: fmt.Sprint("p", i%100), Number: int64(i) - 3, Small: 1<<32 - 1 - uint32(i)}
		if i%3 == 0 {
			nick := fmt.Sprint("n", i)
			if i%6 == 0 {
				nick = " "
			}
			p.Nick = &nick
		}
		if _, err := w.Write([]person{p}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestColumnsOfOthersAreRead compares the users of a column with a list of the same users.
// Integers are written in full.
func TestColumnsOfOthersAreRead(t *testing.T) {
	const n = 2500
	dir := t.TempDir()
	writePeople(t, filepath.Join(dir, "people.parquet"), n)
	lists := map[string]*strings.Builder{"name": {}, "nick": {}, "number": {}, "small": {}}
	for i := range n {
		fmt.Fprintf(lists["name"], "p%d\n", i%100)
		if i%3 == 0 && i%6 != 0 {
			fmt.Fprintf(lists["nick"], "n%d\n", i)
		}
		fmt.Fprintf(lists["number"], "%d\n", i-3)
		fmt.Fprintf(lists["small"], "%d\n", 1<<32-1-i)
	}
	for column, list := range lists {
		want, err := userlist.Read(strings.NewReader(list.String()), "list", layout.Reversed{}, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		got, err := userlist.Open(t.Context(), local.New(), filepath.Join(dir, "people.parquet:"+column), layout.Reversed{}, 1<<20)
		if err != nil {
			t.Errorf("%s: %v", column, err)
		} else if got.Len() != want.Len() || got.Digest() != want.Digest() {
			t.Errorf("%s names %d users, want %d: digests %s, %s", column, got.Len(), want.Len(), got.Digest(), want.Digest())
		}
	}
}

// TestCompressedListsAreRead reads a list of lines whose file is compressed.
func TestCompressedListsAreRead(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write([]byte("\xef\xbb\xbfa\r\nb\r\na\r\n")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "people.txt.gz")
	for text, want := range map[string]int{zipped.String(): 2, zipped.String()[:zipped.Len()-9]: -1, "a\nb\n": -1, "": -1} {
		testkit.WriteFile(t, name, text)
		got, err := userlist.Open(t.Context(), local.New(), name, layout.Reversed{}, 1<<20)
		switch {
		case want < 0 && (err == nil || !strings.Contains(err.Error(), "list of users "+name)):
			t.Errorf("%q: %v, want an error that names the list", text, err)
		case want >= 0 && (err != nil || got.Len() != want):
			t.Errorf("%q: %v, %v, want %d users", text, got, err, want)
		}
	}
}

// TestWrongColumnsAreRefused checks the errors for columns without user IDs.
func TestWrongColumnsAreRefused(t *testing.T) {
	dir := t.TempDir()
	writePeople(t, filepath.Join(dir, "people.parquet"), 5)
	whole, err := os.ReadFile(filepath.Join(dir, "people.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"half.parquet": string(whole[:len(whole)/2]), "empty.csv": "", "twice.csv": "who,name,who\na,b,c\n", "long.csv": "who\n" + strings.Repeat("x", 256) + "\n",
		"latin.csv": "who\n\xe9\n", "wide.csv": "\xff\xfew\x00h\x00o\x00\n\x00a\x00\n\x00", "quote.csv": "who\na\n\"b\n", "half.csv.gz": "\x1f\x8b\x08", "many.csv": "who\n" + numbered(1e5),
		"same.csv": "who\n" + strings.Repeat("a\nb\n", 1e5), "bare.csv": "who\n=\"0012\"\n", "mac.csv": "who,name\ra,b\r", "mac.tsv": "name\twho\ra\tb", "mac.txt": "\ufeffa\rb\r",
		"quoted.tsv": "\"name\"\t\"who\"\na\tb\n", "latin.tsv": "who\n\n\xe9\r\n", "huge.tsv": "who\n\n" + strings.Repeat("x", 9<<20), "huge.csv": "who,name\na,b\nc,\"d\n" + strings.Repeat("e,f\n", 3<<20), "wide2.csv": "who\n" + strings.Repeat("x", 9<<20), "tail.csv": "who\n" + strings.Repeat("\"a\nb\"\n", 1e5),
		"semicolon.csv": "who;name\na;b\n", "bar.csv": "who|name\na|b\n", "bar.tsv": "who|name\na|b\n", "semicolons.csv": "\"who\";\"name\"\n\"a\";\"b\"\n", "bars.csv": "\"who\"|name\na|b\n", "bars.tsv": "\"who\"|name\na|b\n",
		"tabs.csv": "who\tname\na\tb\n", "book.csv": "PK\x03\x04\n", "book.tsv": "PK\x03\x04\r\xff", "odd.csv": "na\x1b[2Jme,a\u202eb,\"c\nd\",e f\nx\n",
	} {
		testkit.WriteFile(t, filepath.Join(dir, name), text)
	}
	for name, says := range map[string]string{
		"people.parquet:Tags":  "no such column of strings or integers: Tags is a list or a group: name another column",
		"people.parquet:score": "no such column of strings or integers: score is DOUBLE: cast it to a string or an integer, or name another column",
		"people.parquet:nil":   `no such column: "nil"; there is name, nick, number, small, score, Tags`,
		"half.parquet:name":    "half.parquet",
		"odd.csv:who":          `no such column: "who"; there is "na\x1b[2Jme", "a\u202eb", "c\nd", e f`,
		"semicolon.csv:who":    `no such column: "who"; there is who;name: a .csv is separated by ",", and a .tsv by tabs, not by ";": convert the list, for example by python3 -c 'import csv, sys; csv.writer(sys.stdout).writerows(csv.reader(sys.stdin, delimiter=";"))' < OLD.csv > NEW.csv`,
		"bar.csv:who":          `not by "|": convert the list, for example by python3 -c 'import csv, sys; csv.writer(sys.stdout).writerows(csv.reader(sys.stdin, delimiter="|"))' < OLD.csv > NEW.csv`,
		"bar.tsv:who":          `not by "|": convert the list, for example by python3 -c 'import csv, sys; csv.writer(sys.stdout).writerows(csv.reader(sys.stdin, delimiter="|"))' < OLD.csv > NEW.csv`,
		"semicolons.csv:who":   `header: parse error on line 1, column 5: extraneous or missing " in quoted-field: a .csv is separated by ",", and a .tsv by tabs, not by ";": convert the list, for example by python3 -c 'import csv, sys; csv.writer(sys.stdout).writerows(csv.reader(sys.stdin, delimiter=";"))' < OLD.csv > NEW.csv`,
		"bars.tsv:who":         `not by "|": convert the list, for example by python3 -c `,
		"bars.csv:who":         `not by "|": convert the list, for example by python3 -c `,
		"tabs.csv:who":         `no such column: "who"; there is "who\tname": a .csv is separated by ",", not by tabs: rename the list to .tsv, or write it with ","`,
		"tabs.csv:":            "tabs.csv: the name of the column is missing after the colon: write --users " + filepath.Join(dir, "tabs.csv") + ":COLUMN, or leave the colon out if each line is one user ID",
		"book.csv:who":         "book.csv: the list is a workbook or a zip file: save it as CSV UTF-8",
		"book.tsv:who":         "book.tsv: the list is a workbook or a zip file: save it as CSV UTF-8",
		"empty.csv:who":        "no header",
		"twice.csv:who":        `the header has the column "who" more than once`,
		"long.csv:who":         "line 2 is longer than 255 bytes",
		"latin.csv:who":        "line 2 is not UTF-8",
		"wide.csv:who":         "iconv -f utf-16 -t utf-8",
		"quote.csv:who":        "line 3",
		"bare.csv:who":         `line 2, column 2: bare " in non-quoted-field: write quotes around a value with quotes, and each of its quotes twice; write an ID as 0012, not as ="0012"`,
		"mac.csv:who":          "mac.csv: the lines end in carriage returns alone: convert the list, for example by tr '\\r' '\\n'",
		"mac.tsv:name":         "the lines end in carriage returns alone",
		"mac.txt":              "the lines end in carriage returns alone",
		"quoted.tsv:who":       `no such column: "who"; there is "\"name\"", "\"who\"": quotes in a .tsv are part of a value: remove them, or write the list as a .csv`,
		"latin.tsv:who":        "line 3 is not UTF-8",
		"huge.tsv:who":         "line 3 does not fit in memory",
		"huge.csv:who":         "line 3 does not fit in memory: a line may have 8.0 MiB, and a quote may not be closed: correct the list, or raise --memory",
		"wide2.csv:who":        "line 2 does not fit in memory",
		"tail.csv:who":         "",
		"half.csv.gz:who":      "half.csv.gz",
		"many.csv:who":         "do not fit in memory",
		"same.csv:who":         "",
	} {
		_, err := userlist.Open(t.Context(), local.New(), filepath.Join(dir, name), layout.Reversed{}, 1<<20)
		if says == "" && err != nil || says != "" && (!errors.Is(err, userlist.ErrList) || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v, want ErrList and %q", name, err, says)
		}
	}
	if _, err := userlist.Open(t.Context(), local.New(), filepath.Join(dir, "none.csv:who"), layout.Reversed{}, 1<<20); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("a missing file: %v, want ErrNotExist", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := userlist.Open(ended, local.New(), filepath.Join(dir, "same.csv:who"), layout.Reversed{}, 1<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v, want Canceled", err)
	}
}

// TestQuotesInATSVArePartOfAValue reads lists with quotes. In a .tsv they are as other bytes, as in a log.
func TestQuotesInATSVArePartOfAValue(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"who\tsays\nu1\t\"1\nu2\t2\"\n":            "u1\nu2",
		"who\tsays\r\nu1\ta\"b\r\n\r\nu2\t\"c\"\"": "u1\nu2",
		"says\twho\n\"\t\"u1\"\n\"\tu2\r\n\"\t\n":  "\"u1\"\nu2",
		"\ufeffwho\nu1\t\t\n":                      "u1", // a spreadsheet writes empty columns
		"who\n":                                    "",
	} {
		name := filepath.Join(dir, "people.tsv")
		testkit.WriteFile(t, name, text)
		list, err := userlist.Read(strings.NewReader(want), "list", layout.Reversed{}, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		got, err := userlist.Open(t.Context(), local.New(), name+":who", layout.Reversed{}, 1<<20)
		if err != nil || got.Digest() != list.Digest() {
			t.Errorf("%q: %v, %v; want the users %q", text, got, err, want)
		}
	}
}

// TestAColumnMayHaveAColon reads columns whose names have colons.
func TestAColumnMayHaveAColon(t *testing.T) {
	dir := t.TempDir()
	for file, column := range map[string]string{"a.csv": "x:who", "b.csv": "x:y:who", "c.csv:x": "who", "d.csv:e.csv": "who"} {
		name := filepath.Join(dir, file)
		testkit.WriteFile(t, name, column+"\nu1\nu2\n")
		want := 2
		if file == "c.csv:x" { // of a file c.csv and a column, which is not there
			want = -1
		}
		list, err := userlist.Open(t.Context(), local.New(), name+":"+column, layout.Reversed{}, 1<<20)
		if want < 0 && !errors.Is(err, iofs.ErrNotExist) || want >= 0 && (err != nil || list.Len() != want) {
			t.Errorf("%s:%s: %v, %v; want %d users", file, column, list, err, want)
		}
	}
}

// TestALineOfTooManyColumnsIsRefused reads a list in which a value with a comma has no quotes, so that the later columns are shifted.
func TestALineOfTooManyColumnsIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"name\tcard\nMeier\t13\nA\tB\t12\n":             "people.tsv: line 3 has 3 columns, and the header has 2: a value may have a tab in it: remove the tab, or write the list as a .csv",
		"name,card\nMeier,13\n\"Müller, A.\",12\n":      "",
		"name,card,\nMeier,13,,,\n":                     "", // a spreadsheet writes empty columns
		"name,by,card\nMeier,99,13\nMüller, A.,13,12\n": "people.csv: line 3 has 4 columns, and the header has 3: a value may have ',' in it",
		"name,card\nMeier\n":                            "people.csv: line 2 has 1 column, and card is column 2",
	} {
		name := filepath.Join(t.TempDir(), "people.csv")
		if strings.Contains(text, "\t") {
			name = filepath.Join(t.TempDir(), "people.tsv")
		}
		testkit.WriteFile(t, name, text)
		_, err := userlist.Open(t.Context(), local.New(), name+":card", layout.Reversed{}, 1<<20)
		if want == "" && err != nil || want != "" && (!errors.Is(err, userlist.ErrList) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
