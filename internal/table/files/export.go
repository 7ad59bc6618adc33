package files

import (
	"context"
	"fmt"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// Export calls emit for all cells that some loads wrote to a region, in order. A cell is
// valid until emit returns.
func (t *Table) Export(ctx context.Context, loads []int, r split.Region, emit func(*cell.Cell) error) error {
	m := t.Manifest()
	mixed := false
	files := slices.DeleteFunc(among(m.Files, r, behaviour.AllDays), func(f *manifest.File) bool {
		theirs := 0
		for _, load := range loads {
			if f.Brought(load) {
				theirs++
			}
		}
		mixed = mixed || theirs > 0 && theirs < len(f.Loads)
		return theirs == 0
	})
	places, err := t.places(ctx, files, &table.Query{})
	if err != nil {
		return err
	}
	if !mixed {
		return merged(places, r, emit)
	}
	some, err := t.onlyOf(ctx, loads, emit)
	if err != nil {
		return err
	}
	return mergedFrom(places, r, func(from *place, c *cell.Cell) error {
		if from.apart {
			return emit(c)
		}
		return some(c)
	})
}

// onlyOf returns an emit that passes on only the cells of some loads. Merged files also hold
// cells of other loads. All cells of a file that is Apart are of one load.
func (t *Table) onlyOf(ctx context.Context, loads []int, emit func(*cell.Cell) error) (func(*cell.Cell) error, error) {
	ledgers, err := table.Ledgers(ctx, t)
	if err != nil {
		return nil, err
	}
	from, schema, l := manifest.OriginsOf(ledgers), t.Manifest().Schema, t.Layout()
	teller := l.Teller(schema)
	return func(c *cell.Cell) error {
		rec, ok := teller.Tell(c)
		if !ok {
			return fmt.Errorf("which load wrote it: the row %.64q, column %.64q is of no behaviour", c.Row, c.Qualifier)
		}
		load, ok := from.Load(rec.ID, rec.Date, schema.Kinds[rec.Kind].Name)
		if !ok {
			return fmt.Errorf("no ledger has the record with the column ID %d in the row %.64q", rec.ID, c.Row)
		}
		if !slices.Contains(loads, load) {
			return nil
		}
		return emit(c)
	}, nil
}
