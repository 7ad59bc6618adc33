package files_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/files"
	"usertrail/internal/table/tabletest"
)

// TestAFewOfALongTrailCostLittle reads the newest events, and the events of a minute, of a short
// trail and of a trail with hundreds of blocks. Both reads return the same number of cells, and
// the read of the long trail needs hardly more bytes.
func TestAFewOfALongTrailCostLittle(t *testing.T) {
	const short, long = 200, 50_000
	for _, name := range []string{"tall", "wide"} {
		t.Run(name, func(t *testing.T) {
			l, err := layout.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			store := files.Store{FS: local.New(), Dir: filepath.Join(t.TempDir(), "trails")}
			first := tabletest.LoadTrails(t, tabletest.Files, store, l, 1, short, long)
			from, err := store.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer from.Close()
			x := &few{Table: from, span: behaviour.Span{From: first, To: first}}
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
				if len(cells) != c.want || len(more) != c.want {
					t.Errorf("%s: %d cells of the short trail and %d of the long one, want %d", what, len(cells), len(more), c.want)
				}
				if calls > 3 || moreCalls > 3 {
					t.Errorf("%s: %d reads for the short trail and %d for the long one", what, calls, moreCalls)
				}
			}
		})
	}
}

// TestTheLatestOfManyNightsAreInTheLastOfThem reads the latest behaviours of a user with
// few and of one with more a night, after few and after many nights: files of earlier
// ones are not even opened.
func TestTheLatestOfManyNightsAreInTheLastOfThem(t *testing.T) {
	const newest = 10
	for _, name := range []string{"tall", "wide"} {
		t.Run(name, func(t *testing.T) {
			l, err := layout.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			var calls []int64
			for _, nights := range []int{8, 30} {
				store := files.Store{FS: local.New(), Dir: filepath.Join(t.TempDir(), "trails")}
				first := tabletest.LoadTrails(t, tabletest.Files, store, l, nights, 4, 12)
				last := first + behaviour.Date(nights) - 1
				from, err := store.Open(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer from.Close()
				x := &few{Table: from, span: behaviour.Span{From: first, To: last}}
				cells, some := x.read(t, "1", newest, nil)
				latest(t, cells, newest, last, 4)
				cells, more := x.read(t, "2", newest, nil)
				latest(t, cells, newest, last, 12)
				calls = append(calls, some+more)
			}
			if calls[0] != calls[1] {
				t.Errorf("files were read %d times after a few nights, and %d times after many", calls[0], calls[1])
			}
		})
	}
}

// latest checks that the latest n of behaviours are among those that came, a second
// apart each night, as many as perNight.
func latest(t *testing.T, cells []*cell.Cell, n int, last behaviour.Date, perNight int) {
	t.Helper()
	times := map[int64]bool{}
	for _, c := range cells {
		times[c.Time] = true
	}
	for i := range n {
		at := (int64(last)-int64(i/perNight))*86_400_000 + int64(perNight-1-i%perNight)*1000
		if !times[at] {
			t.Errorf("behaviour %d from the latest, at %d ms, is missing of %d", i, at, len(cells))
		}
	}
}

// A few reads parts of trails of some days.
type few struct {
	table.Table
	span behaviour.Span
}

// minute is the times of sixty behaviours, from the one of the first day with a number on.
func (x *few) minute(i int) *layout.Times {
	at := int64(x.span.From)*86_400_000_000 + int64(i)*1_000_000
	return &layout.Times{First: at, Last: at + 60_000_000 - 1}
}

// read reads some of a user's trail. It returns the cells that came, and how often files
// were read for that.
func (x *few) read(t *testing.T, user string, newest int, times *layout.Times) (cells []*cell.Cell, calls int64) {
	t.Helper()
	info := x.Info()
	want := layout.Want{Kinds: []int{0}, Span: x.span, Times: times, Newest: newest}
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
		Ranges: slices.Values(ranges), Span: want.Span, Columns: reads.Columns,
		Hints: table.Hints{Bounds: split.Region{Start: ranges[0].Start, End: ranges[len(ranges)-1].End}, Times: times, Newest: newest},
	}
	before, _ := table.SpentBy(x.Table)
	if err := x.Read(t.Context(), q, func(c *cell.Cell) error { cells = append(cells, c.Clone()); return nil }); err != nil {
		t.Fatal(err)
	}
	after, _ := table.SpentBy(x.Table)
	return cells, after.Since(before).Calls
}
