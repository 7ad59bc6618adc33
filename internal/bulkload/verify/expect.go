package verify

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sort"

	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/tally"
)

// expect adds up the ledgers of all loads.
func (r *run) expect(ctx context.Context) error {
	var cuts []cut
	err := r.table.EachLedger(ctx, func(l *manifest.Load) error {
		cuts = r.addCut(cuts, l)
		for _, d := range l.Days {
			kind, ok := r.schema.Kind(d.Behaviour)
			if !ok {
				return fmt.Errorf("ledger of load %d: %w: the table has no behaviour %q", l.Number, manifest.ErrDamaged, d.Behaviour)
			}
			k := dayKey{d.Date, int32(kind)}
			if !r.wants(k) {
				continue
			}
			sum := r.expected[k]
			sum.records += d.Records
			sum.cells.Add(d.Tally)
			r.expected[k] = sum
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.expectRanges(cuts)
	return nil
}

// addCut adds the regions of a load with cells to cuts. If the load does not tell its regions, no ranges are compared.
func (r *run) addCut(cuts []cut, l *manifest.Load) []cut {
	switch c := cut(l.Regions); {
	case len(c) > 0:
		return append(cuts, c)
	case len(l.Days) > 0 && r.result.Unlocated == "":
		r.result.Unlocated = fmt.Sprintf("the ledger of load %d tells no regions", l.Number)
	}
	return cuts
}

// expectRanges determines the ranges of rows that can be compared, and their expected
// content. cuts are the regions of the loads. The regions in a ledger count all days.
func (r *run) expectRanges(cuts []cut) {
	switch {
	case !r.whole():
		r.result.Unlocated = "not the whole table is compared"
		return
	case r.result.Unlocated != "":
		return
	}
	gone := r.dropped()
	r.points = common(append(slices.Clip(cuts), gone))
	r.ranges = make([]tally.Tally, len(r.points)+1)
	for _, c := range cuts {
		for _, region := range c {
			r.ranges[r.points.Of(region.First)].Add(region.Tally)
		}
	}
	for _, region := range gone {
		sum := &r.ranges[r.points.Of(region.First)]
		*sum = sum.Since(region.Tally)
	}
}

// dropped returns the cells of dropped days by region. The regions of the ledgers include
// them; the days of the ledgers do not.
func (r *run) dropped() cut {
	if m := table.Known(r.table); m != nil {
		return m.Dropped
	}
	return nil
}

// A cut is the list of regions that a table had at the time of a load.
type cut []manifest.Region

// common returns the rows at which every cut divides its cells. A cut divides its cells
// between two regions, and where it has no cells on one side.
func common(cuts []cut) split.Points {
	var all split.Points
	for _, c := range cuts {
		for _, region := range c {
			if len(region.First) > 0 {
				all = append(all, region.First)
			}
		}
	}
	slices.SortFunc(all, bytes.Compare)
	all = slices.CompactFunc(all, bytes.Equal)
	return slices.DeleteFunc(all, func(row []byte) bool {
		return slices.ContainsFunc(cuts, func(c cut) bool { return !c.divides(row) })
	})
}

// divides reports whether no region of c has cells both before row and from row on.
func (c cut) divides(row []byte) bool {
	i := sort.Search(len(c), func(i int) bool { return bytes.Compare(c[i].First, row) >= 0 })
	return i < len(c) && bytes.Equal(c[i].First, row) || i == 0 || c[i-1].Tally.Cells == 0
}
