package files_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/dfs/local"
	"usertrail/internal/layout"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/table/files"
	"usertrail/internal/table/tabletest"
)

// TestAFewOfALongTrailCostLittle reads the latest behaviours, and those of a minute, of a
// short trail and of one that fills hundreds of blocks: no more cells are given of the
// one than of the other, and hardly more is read.
func TestAFewOfALongTrailCostLittle(t *testing.T) {
	const short, long = 200, 50_000
	for _, name := range []string{"tall", "wide"} {
		t.Run(name, func(t *testing.T) {
			l, err := layout.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			store := files.Store{FS: local.New(), Dir: filepath.Join(t.TempDir(), "trails")}
			first := tabletest.LoadTrails(t, tabletest.Files, store, l, short, long)
			from, err := store.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer from.Close()
			x := &few{Table: from, from: first}
			for _, user := range []string{"1", "2"} {
				x.read(t, user, 1, nil) // opens the user's file
			}
			for what, c := range map[string]struct {
				newest int
				times  func(n int) *layout.Times
				want   int
			}{
				"latest": {10, func(int) *layout.Times { return nil }, 10},
				"minute": {0, func(n int) *layout.Times { return x.minute(n / 2) }, 60},
			} {
				cells, calls := x.read(t, "1", c.newest, c.times(short))
				more, moreCalls := x.read(t, "2", c.newest, c.times(long))
				if cells != c.want || more != c.want {
					t.Errorf("%s: %d cells of the short trail and %d of the long one, want %d", what, cells, more, c.want)
				}
				if calls > 3 || moreCalls > 3 {
					t.Errorf("%s: %d reads for the short trail and %d for the long one", what, calls, moreCalls)
				}
			}
		})
	}
}

// A few reads parts of trails that begin on a date.
type few struct {
	table.Table
	from behaviour.Date
}

// minute is the times of sixty behaviours, from the one with a number on.
func (x *few) minute(i int) *layout.Times {
	at := int64(x.from)*86_400_000_000 + int64(i)*1_000_000
	return &layout.Times{First: at, Last: at + 60_000_000 - 1}
}

// read reads some of a user's trail. It says how many cells came, and how often files were
// read for that.
func (x *few) read(t *testing.T, user string, newest int, times *layout.Times) (cells int, calls int64) {
	t.Helper()
	info := x.Info()
	want := layout.Want{Kinds: []int{0}, Span: behaviour.Span{From: x.from, To: x.from + 1}, Times: times, Newest: newest}
	reads, err := info.Layout.Reads(info.Schema, want)
	if err != nil {
		t.Fatal(err)
	}
	var ranges []split.Region
	reads.Ranges(info.Layout.AppendUserKey(nil, []byte(user)), func(start, stop []byte) bool {
		ranges = append(ranges, split.Region{Start: bytes.Clone(start), End: bytes.Clone(stop)})
		return true
	})
	q := table.Query{
		Ranges: slices.Values(ranges), Bounds: split.Region{Start: ranges[0].Start, End: ranges[len(ranges)-1].End},
		Span: want.Span, Times: times, Columns: reads.Columns, Newest: newest,
	}
	before, _ := table.SpentBy(x.Table)
	if err := x.Read(t.Context(), q, func(*cell.Cell) error { cells++; return nil }); err != nil {
		t.Fatal(err)
	}
	after, _ := table.SpentBy(x.Table)
	return cells, after.Since(before).Calls
}
