package peek_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/peek"
	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// A seen collects the numbers in the field of good records, and the lines and reasons of bad
// records.
type seen struct {
	good []int64
	bad  []string
	fail error
}

func (s *seen) Keep(r *behaviour.Record) error {
	s.good = append(s.good, behaviour.ToInt64(r.Values[0]))
	return s.fail
}

func (s *seen) Skip(*record.Skipped) error { return nil }

func (s *seen) Reject(r *record.Reject) error {
	s.bad = append(s.bad, fmt.Sprintf("%d %s", r.Line, r.Reason))
	return nil
}

var format = record.Format{
	Schema: &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "play", Fields: []behaviour.Field{{Name: "n", Type: behaviour.Int64}}}}},
	Syntax: record.CSV, Header: true,
	Kinds: []record.Kind{{User: record.Column{Name: "user_id"}, Time: record.Time{Column: record.Column{Name: "time"}}, Fields: []record.Column{{Name: "n"}}}},
}

// write writes a file of n records, the last line cut if cut is set.
func write(t *testing.T, name string, n int, cut bool) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("user_id,time,n\n")
	for i := range n {
		fmt.Fprintf(&b, "u%d,2014-09-01 10:00:00,%d\n", i%7, i)
	}
	if cut {
		b.WriteString("u1,2014")
	}
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if strings.HasSuffix(name, ".gz") {
		z := gzip.NewWriter(f)
		defer z.Close()
		_, err = z.Write([]byte(b.String()))
	} else {
		_, err = f.WriteString(b.String())
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string, records int64) *seen {
	t.Helper()
	s := &seen{}
	if _, err := peek.Read(t.Context(), local.New(), &format, record.File{Path: path, Kind: 0}, peek.Limit{Records: records}, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestShortFilesAreReadWhole reads every record once if a file has no more than the limit.
func TestShortFilesAreReadWhole(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 100, 299, 300} {
		s := read(t, write(t, "play.csv", n, false), 300)
		if len(s.good) != n || len(s.bad) > 0 {
			t.Errorf("%d of %d records, bad %v", len(s.good), n, s.bad)
		}
		for i, v := range s.good {
			if v != int64(i) {
				t.Fatalf("record %d of %d is %d", i, n, v)
			}
		}
	}
}

// TestLongFilesAreReadAtThreePlaces reads a bounded number of records of a long file, each
// once, and the cut line at its end.
func TestLongFilesAreReadAtThreePlaces(t *testing.T) {
	for _, n := range []int{301, 450, 1000, 50_000} {
		s := read(t, write(t, "play.csv", n, true), 300)
		if len(s.good) > 300 || len(s.good) < 280 && n > 310 {
			t.Errorf("%d of %d records", len(s.good), n)
		}
		for i := 1; i < len(s.good); i++ {
			if s.good[i] <= s.good[i-1] {
				t.Fatalf("record %d of %d after %d", s.good[i], n, s.good[i-1])
			}
		}
		if n >= 1000 && (s.good[0] != 0 || s.good[150] < int64(n)*2/5 || s.good[150] > int64(n)*3/5 || len(s.bad) != 1 || s.bad[0] != "0 wrong width") {
			t.Errorf("of %d records, the first is %d, the middle one %d, the bad ones are %v", n, s.good[0], s.good[150], s.bad)
		}
	}
}

func TestCompressedFilesAreReadAtTheBeginning(t *testing.T) {
	s := read(t, write(t, "play.csv.gz", 5000, true), 300)
	if len(s.good) != 300 || s.good[299] != 299 || len(s.bad) > 0 {
		t.Errorf("%d records, the last is %d; bad: %v", len(s.good), s.good[len(s.good)-1], s.bad)
	}
}

func TestErrorsOfTheSinkEndTheReading(t *testing.T) {
	s := &seen{fail: errors.New("full")}
	_, err := peek.Read(t.Context(), local.New(), &format, record.File{Path: write(t, "play.csv", 9, false), Kind: 0}, peek.Limit{Records: 300}, s)
	if !errors.Is(err, s.fail) || len(s.good) != 1 {
		t.Errorf("%v after %d records", err, len(s.good))
	}
}

// TestALimitOfBytes reads about as many bytes of a long file, at three places, and a short file
// whole.
func TestALimitOfBytes(t *testing.T) {
	long, packed := write(t, "play.csv", 50_000, true), write(t, "play.csv.gz", 50_000, true)
	for _, c := range []struct {
		path      string
		bytes     int64
		whole     bool
		beginning string
		bad       []string
	}{
		{path: write(t, "play.csv", 100, true), bytes: 4000, whole: true, bad: []string{"102 wrong width"}},
		{path: write(t, "play.csv", 100, true), bytes: 2600, whole: true, bad: []string{"0 wrong width"}},
		{path: long, bytes: 30_000, bad: []string{"0 wrong width"}},
		{path: packed, bytes: 30_000, beginning: "it is compressed"},
		{path: packed, bytes: 30 << 20, whole: true, bad: []string{"50002 wrong width"}},
	} {
		s := &seen{}
		e, err := peek.Read(t.Context(), local.New(), &format, record.File{Path: c.path, Kind: 0}, peek.Limit{Bytes: c.bytes}, s)
		if err != nil || e.Whole != c.whole || !c.whole && e.Beginning != c.beginning || !slices.Equal(s.bad, c.bad) {
			t.Errorf("%d bytes of %s: %+v, %v, bad %q; want %+v", c.bytes, c.path, e, err, s.bad, c)
		}
		if e.Bytes > c.bytes+200 && !c.whole || e.Bytes < c.bytes*9/10 && !c.whole {
			t.Errorf("%d bytes were read, want about %d", e.Bytes, c.bytes)
		}
		if c.path == long && (s.good[0] != 0 || s.good[len(s.good)-1] != 49_999 || s.good[len(s.good)/2] < 20_000 || s.good[len(s.good)/2] > 30_000) {
			t.Errorf("the records are %d … %d … %d", s.good[0], s.good[len(s.good)/2], s.good[len(s.good)-1])
		}
	}
}

// TestQuotesThatMayBeOpen reads a file only at its beginning if no place after it is certainly
// between two records.
func TestQuotesThatMayBeOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "play.csv")
	text := "user_id,time,n\n" + strings.Repeat("u1,2014-09-01 10:00:00,1\n", 1000) + strings.Repeat("A,\"\n", 20_000)
	testkit.WriteFile(t, path, text)
	f := format
	f.MaxLine = 128
	s := &seen{}
	e, err := peek.Read(t.Context(), local.New(), &f, record.File{Path: path, Kind: 0}, peek.Limit{Bytes: 30_000}, s)
	if err != nil || e.Whole || e.Beginning != "quotes may be open elsewhere" || len(s.bad) > 0 || len(s.good) != 400 {
		t.Errorf("%+v, %v, %d good, bad: %q", e, err, len(s.good), s.bad)
	}
}
