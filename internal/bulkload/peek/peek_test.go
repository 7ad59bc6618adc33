package peek_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/peek"
	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs/local"
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
	if err := peek.Read(t.Context(), local.New(), &format, record.File{Path: path, Kind: 0}, records, s); err != nil {
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
	err := peek.Read(t.Context(), local.New(), &format, record.File{Path: write(t, "play.csv", 9, false), Kind: 0}, 300, s)
	if !errors.Is(err, s.fail) || len(s.good) != 1 {
		t.Errorf("%v after %d records", err, len(s.good))
	}
}
