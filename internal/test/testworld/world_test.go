package testworld_test

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"usertrail/internal/behaviour"
	"usertrail/internal/column"
	"usertrail/internal/format/job"
	"usertrail/internal/test/testworld"
)

const worlds = 12

func TestOneSeedOneWorld(t *testing.T) {
	for seed := range uint64(worlds) {
		a, b := testworld.World(seed, 20), testworld.World(seed, 20)
		if !reflect.DeepEqual(a, b) || a.Job() != b.Job() {
			t.Errorf("seed %d gives two worlds", seed)
		}
		if c := testworld.World(seed+worlds, 20); reflect.DeepEqual(a.Files, c.Files) {
			t.Errorf("seeds %d and %d give one world", seed, seed+worlds)
		}
	}
}

func TestWorldsAreNasty(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(worlds) {
		w := testworld.World(seed, 40)
		for _, u := range w.Users {
			if !utf8.ValidString(u) || len(u) == 0 || len(u) > behaviour.MaxUserLen || strings.ContainsAny(u, "\r\n") {
				t.Errorf("world %d: %q is no user that can be asked for", seed, u)
			}
			count(seen, "comma", strings.Contains(u, ","))
			count(seen, "quote", strings.Contains(u, `"`))
			count(seen, "backslash", strings.Contains(u, `\`))
			count(seen, "beyond ASCII", len(u) > utf8.RuneCountInString(u))
			count(seen, "255 bytes", len(u) == behaviour.MaxUserLen)
		}
		for _, f := range w.Files {
			count(seen, "late file", f.Late)
			count(seen, "empty file", f.Records == 0)
			count(seen, "bad record", f.Bad > 0)
			count(seen, "compressed", !strings.HasSuffix(f.Name, ".csv"))
			count(seen, "no last newline", !bytes.HasSuffix(f.Text, []byte("\n")))
			count(seen, "carriage return", bytes.Contains(f.Text, []byte("\r\n")))
		}
		for _, r := range w.Oracle(w.Queries(seed, 1)[0]).Rows {
			count(seen, "microseconds", len(r.Time) > len("2006-01-02T15:04:05.999Z"))
			count(seen, "no value", len(r.Values) == 0)
			count(seen, "other day in UTC", !strings.HasPrefix(r.Time, r.Date))
		}
		count(seen, "missing", w.Missing > 0)
		count(seen, "missing at first", w.MissingEarly > w.Missing)
	}
	for _, what := range []string{
		"comma", "quote", "backslash", "beyond ASCII", "255 bytes", "late file", "empty file", "bad record", "compressed", "no last newline",
		"carriage return", "microseconds", "no value", "other day in UTC", "missing",
	} {
		if seen[what] == 0 {
			t.Errorf("no world has a case of %s", what)
		}
	}
}

func count(seen map[string]int, what string, is bool) {
	if is {
		seen[what]++
	}
}

// TestFilesHoldWhatTheOracleSays finds each row of the result by its column ID in the
// delivered text. It counts the records with another csv reader.
func TestFilesHoldWhatTheOracleSays(t *testing.T) {
	for seed := range uint64(worlds) {
		w := testworld.World(seed, 25)
		files := map[uint32]testworld.File{}
		records := 0
		for _, f := range w.Files {
			n, err := column.Number(f.Name, func(uint32) bool { return true })
			if err != nil {
				t.Fatal(err)
			}
			files[n] = f
			if got := len(parse(t, string(f.Text))) - 1; got != f.Records {
				t.Errorf("world %d: %s has %d records, want %d", seed, f.Name, got, f.Records)
			}
			records += f.Records
		}
		result := w.Oracle(w.Queries(seed, 1)[0])
		counts := w.Counts(true)
		if len(result.Rows) != counts.Loaded || records != counts.Read || counts.Read != counts.Loaded+counts.Quarantined {
			t.Errorf("world %d: %d rows, %d records, but counts are %+v", seed, len(result.Rows), records, counts)
		}
		for _, row := range result.Rows {
			number, offset := column.Place(row.ID)
			line := parse(t, string(files[number].Text[offset:]))[0]
			if !slices.Contains(line, row.User) {
				t.Fatalf("world %d: at %d of %s stands %q, want %s", seed, offset, files[number].Name, line, row)
			}
			for name, v := range row.Values {
				if name != "placed" && !slices.Contains(line, strings.ReplaceAll(v, "\r\n", "\n")) {
					t.Fatalf("world %d: %q has no %s %q", seed, line, name, v)
				}
			}
		}
	}
}

func parse(t *testing.T, text string) [][]string {
	t.Helper()
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestDeliveriesAddUp(t *testing.T) {
	for seed := range uint64(worlds) {
		w := testworld.World(seed, 25)
		whole, parts := t.TempDir(), t.TempDir()
		for _, err := range []error{w.WriteLogs(whole), w.WriteEarly(parts)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		early, all := w.Counts(false), w.Counts(true)
		if got := len(contents(t, parts)); got != early.Files {
			t.Errorf("world %d: first delivery has %d files, want %d", seed, got, early.Files)
		}
		if err := w.WriteLate(parts); err != nil {
			t.Fatal(err)
		}
		want := contents(t, whole)
		if got := contents(t, parts); !reflect.DeepEqual(got, want) || len(want) != all.Files {
			t.Errorf("world %d: two deliveries give other files than one", seed)
		}
		if n, err := w.WriteCopy(parts); err == nil && (n == 0 || len(contents(t, parts)) != all.Files+1) {
			t.Errorf("world %d: no copy came", seed)
		}
	}
}

// TestDeliveredFilesAreWhole reads the files back from disk.
func TestDeliveredFilesAreWhole(t *testing.T) {
	for seed := range uint64(worlds) {
		w := testworld.World(seed, 10)
		dir := t.TempDir()
		if err := w.WriteLogs(dir); err != nil {
			t.Fatal(err)
		}
		for _, f := range w.Files {
			body, err := os.ReadFile(filepath.Join(dir, "logs", f.Name))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := decompress(f.Name, body); err != nil || got != string(f.Text) {
				t.Errorf("world %d: %s has %d bytes, %v; want %d", seed, f.Name, len(got), err, len(f.Text))
			}
		}
	}
}

func decompress(name string, body []byte) (string, error) {
	var r io.Reader = bytes.NewReader(body)
	switch filepath.Ext(name) {
	case ".gz":
		z, err := gzip.NewReader(r)
		if err != nil {
			return "", err
		}
		r = z
	case ".zst":
		z, err := zstd.NewReader(r)
		if err != nil {
			return "", err
		}
		defer z.Close()
		r = z
	}
	text, err := io.ReadAll(r)
	return string(text), err
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, dir)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestJobMeansTheWorld(t *testing.T) {
	for seed := range uint64(worlds) {
		w := testworld.World(seed, 5)
		j, err := job.Parse("usertrail.yaml", []byte(w.Job()))
		if err != nil {
			t.Fatalf("world %d: %v\n%s", seed, err, w.Job())
		}
		if !reflect.DeepEqual(j.Format.Schema, &w.Schema) {
			t.Errorf("world %d: the job's schema is %+v, want %+v", seed, j.Format.Schema, w.Schema)
		}
	}
}

// TestOracleAgreesWithItself compares results that must have a known relation to each other.
func TestOracleAgreesWithItself(t *testing.T) {
	for seed := range uint64(worlds) {
		w := testworld.World(seed, 25)
		for i, q := range w.Queries(seed, 20) {
			a := w.Oracle(q)
			name := fmt.Sprintf("world %d, query %d, %+v", seed, i, q)
			if a.Active > a.Found || a.Found > a.Users {
				t.Errorf("%s: %d users, %d found, %d active", name, a.Users, a.Found, a.Active)
			}
			users := map[string]bool{}
			for _, r := range a.Rows {
				users[r.User] = true
			}
			if len(users) != a.Active {
				t.Errorf("%s: rows of %d users, want %d", name, len(users), a.Active)
			}
			if !slices.IsSortedFunc(a.Rows, func(x, y testworld.Row) int {
				return cmp.Or(cmp.Compare(x.User, y.User), cmp.Compare(padded(x.Time), padded(y.Time)))
			}) {
				t.Errorf("%s: rows are not in order", name)
			}
			checkAnyDayByDay(t, name, w, q)
		}
	}
}

// checkAnyDayByDay checks that with --active any, the rows of a span are the rows of its
// days.
func checkAnyDayByDay(t *testing.T, name string, w *testworld.W, q testworld.Query) {
	t.Helper()
	q.Active = "any"
	whole, days := len(w.Oracle(q).Rows), 0
	for d := q.Span.From; d <= q.Span.To; d++ {
		day := q
		day.Span = behaviour.Span{From: d, To: d}
		days += len(w.Oracle(day).Rows)
	}
	if whole != days {
		t.Errorf("%s: %d rows, but %d day by day", name, whole, days)
	}
}

// padded returns a time in a form whose texts sort like times.
func padded(s string) string {
	s = strings.TrimSuffix(s, "Z")
	if !strings.Contains(s, ".") {
		s += "."
	}
	return s + "000000"[:6-(len(s)-strings.IndexByte(s, '.')-1)]
}

// TestOracleOfSmallQueries prints small worlds and complete results, for review by
// hand.
func TestOracleOfSmallQueries(t *testing.T) {
	datadriven.RunTest(t, "testdata/results", func(t *testing.T, d *datadriven.TestData) string {
		var seed uint64
		var people, day int
		var kinds, active string
		d.ScanArgs(t, "seed", &seed)
		d.ScanArgs(t, "people", &people)
		w := testworld.World(seed, people)
		if d.Cmd == "files" {
			return drawFiles(w)
		}
		d.ScanArgs(t, "types", &kinds)
		d.ScanArgs(t, "active", &active)
		q := testworld.Query{Span: w.Span, Kinds: strings.Split(kinds, "+"), Active: active}
		if d.MaybeScanArgs(t, "day", &day) {
			q.Span.From += behaviour.Date(day)
			q.Span.To = q.Span.From
		}
		return drawResult(w.Oracle(q))
	})
}

// drawFiles returns the delivered files, with control characters escaped as in Go.
func drawFiles(w *testworld.W) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s, %d missing, %d at first\n", w.Schema.Zone, w.Span, w.Missing, w.MissingEarly)
	for _, f := range w.Files {
		fmt.Fprintf(&b, "%s, %d records, %d bad\n", f.Name, f.Records, f.Bad)
		for line := range strings.Lines(string(f.Text)) {
			fmt.Fprintf(&b, "  %s\n", strings.Trim(strconv.QuoteToGraphic(line), `"`))
		}
	}
	return b.String()
}

func drawResult(a testworld.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d users, %d found, %d active\n", a.Users, a.Found, a.Active)
	for _, r := range a.Rows {
		b.WriteString(r.String() + "\n")
	}
	return b.String()
}
