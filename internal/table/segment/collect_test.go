package segment_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/segment"
	"usertrail/internal/table/shuffle"
	"usertrail/internal/tally"
)

// region is the region of the collected records.
const region = 2

var twoKinds = &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{
	{ID: 1, Name: "play", Fields: []behaviour.Field{{Name: "title", Type: behaviour.String}}},
	{ID: 5, Name: "order", Fields: []behaviour.Field{{Name: "item", Type: behaviour.String}}},
}}

// originOf returns the load that added a record of someDays.
func originOf(id int64, _ behaviour.Date, _ int) (int, error) { return 4 + int(id%3), nil }

// someDays returns records of a few users, dates and kinds. Users have different numbers of
// records.
func someDays(dice *rand.Rand) []behaviour.Record {
	first := behaviour.DateOf(2014, 9, 1)
	out := make([]behaviour.Record, 2000)
	for i := range out {
		date := first + behaviour.Date(dice.IntN(3))
		out[i] = behaviour.Record{
			User: fmt.Appendf(nil, "%d", 7+dice.IntN(30)*dice.IntN(2)), Kind: dice.IntN(2), Date: date,
			ID: int64(i), Time: int64(date)*24*3600*1e6 + dice.Int64N(24*3600)*1e6,
			Values: [][]byte{fmt.Appendf(nil, "value %d", dice.IntN(100))},
		}
	}
	return out
}

// A sortedRecord is a record and its row.
type sortedRecord struct {
	row []byte
	rec *behaviour.Record
}

// inOrder returns records in order of row and column ID.
func inOrder(l layout.Layout, recs []behaviour.Record) []sortedRecord {
	var out []sortedRecord
	for i := range recs {
		out = append(out, sortedRecord{l.AppendRow(nil, twoKinds, &recs[i]), &recs[i]})
	}
	slices.SortFunc(out, func(a, b sortedRecord) int {
		return cmp.Or(bytes.Compare(a.row, b.row), cmp.Compare(a.rec.ID, b.rec.ID))
	})
	return out
}

// A cellCount is a Sink that counts cells and records.
type cellCount struct {
	cells   tally.Counter
	records int64
}

func (c *cellCount) Add(x *cell.Cell) error {
	c.cells.Add(x)
	return nil
}

func (c *cellCount) EndRow(_ []byte, counts *segment.Counts) error {
	for _, x := range counts.List() {
		c.records += x.Records
	}
	return nil
}

// collect adds all records, and between them copies that are forgotten.
func collect(t *testing.T, to segment.Sink, cfg segment.CollectorConfig, recs []sortedRecord) *segment.Collector {
	t.Helper()
	c := segment.NewCollector(t.Context(), to, cfg)
	t.Cleanup(func() { _ = c.Close() })
	for _, x := range recs {
		packed := behaviour.AppendPacked(nil, x.rec)
		if err := c.Row(x.row); err != nil {
			t.Fatal(err)
		}
		var r behaviour.Record
		if err := r.Unpack(c.Keep(packed)); err != nil {
			t.Fatal(err)
		}
		r.User, r.ID = x.rec.User, x.rec.ID
		if err := c.Add(&r); err != nil {
			t.Fatal(err)
		}
		c.Keep(packed)
		c.Forget()
	}
	if err := c.End(); err != nil {
		t.Fatal(err)
	}
	return c
}

// daysOf returns the days of a load, counted record by record. It encodes each record alone.
func daysOf(t *testing.T, l layout.Layout, recs []sortedRecord, load int, origin func(int64, behaviour.Date, int) (int, error)) []manifest.Day {
	t.Helper()
	sum := map[segment.Day]*manifest.Day{}
	enc := l.Encoder(twoKinds, "d")
	for _, x := range recs {
		day := segment.Day{Load: load, Date: x.rec.Date, Kind: x.rec.Kind}
		if origin != nil {
			day.Load, _ = origin(x.rec.ID, x.rec.Date, x.rec.Kind)
		}
		if day.Load != load {
			continue
		}
		if sum[day] == nil {
			sum[day] = &manifest.Day{Date: day.Date, Behaviour: twoKinds.Kinds[day.Kind].Name}
		}
		var count tally.Counter
		enc.Add(x.rec)
		if err := enc.Cells(x.row, func(c *cell.Cell) error { count.Add(c); return nil }); err != nil {
			t.Fatal(err)
		}
		sum[day].Records++
		sum[day].Tally.Add(count.Tally)
	}
	var out []manifest.Day
	for _, d := range sum {
		out = append(out, *d)
	}
	slices.SortFunc(out, func(a, b manifest.Day) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), -cmp.Compare(a.Behaviour, b.Behaviour)) // play has the smaller ID
	})
	return out
}

// TestCollectorCountsEachDay collects records in each layout, of one load and of several loads,
// in much memory and in little. The tallies of the days are equal to tallies of single records.
func TestCollectorCountsEachDay(t *testing.T) {
	recs := someDays(rand.New(rand.NewPCG(3, 4)))
	for _, name := range layout.Names() {
		l, err := layout.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(recs, func(r behaviour.Record) bool { return l.Fits(twoKinds, &r) != nil }) {
			t.Errorf("%s cannot store the records", name)
			continue
		}
		ordered := inOrder(l, recs)
		for _, origin := range []func(int64, behaviour.Date, int) (int, error){nil, originOf} {
			for _, memory := range []int64{1 << 20, 16 << 10} {
				t.Run(fmt.Sprintf("%s/merged=%t/memory=%d", name, origin != nil, memory), func(t *testing.T) {
					var sink cellCount
					c := collect(t, &sink, segment.CollectorConfig{
						Layout: l, Schema: twoKinds, Family: "d", Region: region, Load: 7, Origin: origin,
						Spill: shuffle.Config{FS: local.New(), Dir: t.TempDir(), Memory: memory},
					}, ordered)
					if c.Records() != int64(len(recs)) || sink.records != c.Records() {
						t.Errorf("%d records were collected and %d counted by row, want %d", c.Records(), sink.records, len(recs))
					}
					checkTallies(t, c.Tallies(), l, ordered, origin, sink.cells.Tally)
				})
			}
		}
	}
}

// checkTallies compares tallies with the records. all is the tally of all cells.
func checkTallies(t *testing.T, got *segment.Tallies, l layout.Layout, recs []sortedRecord, origin func(int64, behaviour.Date, int) (int, error), all tally.Tally) {
	t.Helper()
	want := []int{7}
	if origin != nil {
		want = []int{4, 5, 6}
	}
	if !slices.Equal(got.Loads(), want) {
		t.Fatalf("the records are of loads %v, want %v", got.Loads(), want)
	}
	var sum tally.Tally
	for _, load := range want {
		days := daysOf(t, l, recs, load, origin)
		if g := got.Days(load, twoKinds); !slices.Equal(g, days) || len(days) != 6 {
			t.Errorf("load %d: %+v\nwant %+v", load, g, days)
		}
		var cells tally.Tally
		for _, d := range days {
			cells.Add(d.Tally)
		}
		regions := got.Regions(load, split.Points{[]byte("a"), []byte("b")})
		if len(regions) != 3 || regions[region].Tally != cells || regions[0].Tally.Cells > 0 || string(regions[region].First) != "b" {
			t.Errorf("load %d: the regions are %+v, want %s in region %d", load, regions, cells, region)
		}
		sum.Add(cells)
	}
	if sum != all {
		t.Errorf("the days have %s, the sink got %s", sum, all)
	}
}

// TestFinishNamesLoadsAndDates finishes a segment of several loads, and one without records.
func TestFinishNamesLoadsAndDates(t *testing.T) {
	l, err := layout.ByName(layout.Names()[0])
	if err != nil {
		t.Fatal(err)
	}
	recs := someDays(rand.New(rand.NewPCG(5, 6)))
	span := behaviour.Span{From: behaviour.DateOf(2014, 9, 1), To: behaviour.DateOf(2014, 9, 3)}
	for _, x := range []struct {
		recs   []sortedRecord
		origin func(int64, behaviour.Date, int) (int, error)
		load   int
		loads  []int
	}{
		{inOrder(l, recs), originOf, 6, []int{4, 5, 6}},
		{inOrder(l, recs), nil, 7, nil},
		{nil, nil, 0, nil},
	} {
		to := staging{dir: t.TempDir()}
		w := segment.New(t.Context(), to, segment.Config{Name: "file", Layout: l, Schema: twoKinds, Span: span, Spill: shuffle.Config{FS: local.New(), Dir: t.TempDir(), Memory: 1 << 20}})
		defer w.Abort()
		c := collect(t, w, segment.CollectorConfig{
			Layout: l, Schema: twoKinds, Family: "d", Load: 7, Origin: x.origin,
			Spill: shuffle.Config{FS: local.New(), Dir: t.TempDir(), Memory: 1 << 20},
		}, x.recs)
		f, err := c.Finish(w)
		if err != nil {
			t.Fatal(err)
		}
		if f.Load != x.load || !slices.Equal(f.Loads, x.loads) || f.Records != int64(len(x.recs)) {
			t.Errorf("the file has %d records of loads %d and %v, want %d, %d, %v", f.Records, f.Load, f.Loads, len(x.recs), x.load, x.loads)
		}
		if len(x.recs) > 0 && (f.Span != span || f.Users < 2 || f.Name != "file.hfile" || f.Roll != "file.roll") {
			t.Errorf("%+v, want the dates %v", f, span)
		}
		made, err := os.ReadDir(to.dir)
		if err != nil || (len(made) == 0) != (len(x.recs) == 0) {
			t.Errorf("%d records made %d files, %v", len(x.recs), len(made), err)
		}
	}
}

// TestCollectorNamesTheRowOfAnUnknownRecord collects a record that no load has added.
func TestCollectorNamesTheRowOfAnUnknownRecord(t *testing.T) {
	l, err := layout.ByName(layout.Names()[0])
	if err != nil {
		t.Fatal(err)
	}
	unknown := errors.New("unknown")
	x := inOrder(l, someDays(rand.New(rand.NewPCG(7, 8))))[0]
	c := segment.NewCollector(context.Background(), &cellCount{}, segment.CollectorConfig{
		Layout: l, Schema: twoKinds, Family: "d",
		Origin: func(int64, behaviour.Date, int) (int, error) { return 0, unknown },
	})
	if err := c.Row(x.row); err != nil {
		t.Fatal(err)
	}
	if err := c.Add(x.rec); !errors.Is(err, unknown) || !bytes.Contains([]byte(err.Error()), fmt.Appendf(nil, "%q", x.row)) {
		t.Errorf("%v, want the row %q and the cause", err, x.row)
	}
}
