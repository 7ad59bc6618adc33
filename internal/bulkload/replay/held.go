package replay

import (
	"context"
	"slices"
	"sync"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/target"
	"usertrail/internal/cell"
	"usertrail/internal/column"
	"usertrail/internal/format/layout"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// The table may have a record under the user, time or behaviour that it had before it was corrected. A ledger does not list the
// records of a load, but the column ID of a record is always the same. If a load may have added a corrected record,
// and the table does not have it for its user and day, the replay reads the days of such loads once, and looks for the column IDs.

// A held finds records of a replay in the table.
type held struct {
	to    *target.Table
	files []*file
	once  sync.Once
	err   error
}

// Held implements batch.Corrected.
func (f *file) Held(ctx context.Context, offset int64) (bool, error) {
	if !f.mayBeHeld(offset) {
		return false, nil
	}
	f.held.once.Do(func() { f.held.err = f.held.find(ctx) })
	if f.held.err != nil {
		return false, f.held.err
	}
	i, ok := slices.BinarySearch(f.offsets, offset)
	return ok && f.found[i], nil
}

// mayBeHeld reports whether a load may have added the record at an offset.
func (f *file) mayBeHeld(offset int64) bool {
	return slices.ContainsFunc(f.reads, func(r earlierRead) bool { return r.mayHave(offset) })
}

// find sets found of all files.
func (h *held) find(ctx context.Context) error {
	byNumber := map[uint32][]*file{}
	days := behaviour.NoDays
	for _, f := range h.files {
		f.found = make([]bool, len(f.offsets))
		for _, n := range f.numbers {
			byNumber[n] = append(byNumber[n], f)
		}
		for i := range f.reads {
			if r := &f.reads[i]; slices.ContainsFunc(f.offsets, r.mayHave) {
				days.Add(r.days)
			}
		}
	}
	regions, err := h.to.Regions(ctx)
	if err != nil {
		return err
	}
	teller := h.to.Layout.Teller(h.to.Schema)
	for _, region := range regions {
		q := table.Query{Ranges: slices.Values([]split.Region{region}), Span: days, Hints: table.Hints{Bounds: region, Once: true}}
		err := h.to.Read(ctx, q, func(c *cell.Cell) error {
			if told, ok := teller.Tell(c); ok && told.ID != layout.NoID {
				number, offset := column.Place(told.ID)
				for _, f := range byNumber[number] {
					if i, ok := slices.BinarySearch(f.offsets, offset); ok {
						f.found[i] = true
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
