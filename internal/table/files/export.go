package files

import (
	"context"
	"fmt"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/column"
	"usertrail/internal/manifest"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// Export gives the cells that some loads brought to a region, all of them in order.
// A cell is valid until emit returns.
func (t *Table) Export(ctx context.Context, loads []int, r split.Region, emit func(*cell.Cell) error) error {
	m := t.Manifest()
	mixed := false
	files := slices.DeleteFunc(among(m.Files, r, everyDate), func(f *manifest.File) bool {
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
	if mixed {
		if emit, err = t.onlyOf(ctx, loads, emit); err != nil {
			return err
		}
	}
	return merged(places, r, emit)
}

// onlyOf passes cells on of the records that some loads brought. Files that were merged
// hold those of others too.
func (t *Table) onlyOf(ctx context.Context, loads []int, emit func(*cell.Cell) error) (func(*cell.Cell) error, error) {
	ledgers, err := t.Ledgers(ctx)
	if err != nil {
		return nil, err
	}
	from, schema, l := originsOf(ledgers), t.Manifest().Schema, t.Layout()
	teller := l.Teller(schema)
	return func(c *cell.Cell) error {
		told, ok := teller.Tell(c)
		if !ok {
			return fmt.Errorf("which load brought it: the row %.64q, column %.64q is of no behaviour", c.Row, c.Qualifier)
		}
		load, ok := from.load(told.ID, told.Date, schema.Kinds[told.Kind].Name)
		if !ok {
			return fmt.Errorf("no ledger tells of the record with the column ID %d in the row %.64q", told.ID, c.Row)
		}
		if !slices.Contains(loads, load) {
			return nil
		}
		return emit(c)
	}, nil
}

// origins tell which load brought a record, by the number of its delivered file.
type origins map[uint32]*origin

type origin struct {
	replayed map[int64]int // load by offset
	parts    []portion     // in order of loads
}

// A portion is what of a file a load was asked for.
type portion struct {
	load int
	part *manifest.Part
}

func originsOf(ledgers []*manifest.Load) origins {
	out := origins{}
	for _, l := range ledgers {
		for i := range l.Inputs {
			in := &l.Inputs[i]
			if in.SameAs != "" {
				continue // it brought nothing
			}
			o := out[in.Number]
			if o == nil {
				o = &origin{replayed: map[int64]int{}}
				out[in.Number] = o
			}
			if in.Offsets == nil {
				o.parts = append(o.parts, portion{l.Number, in.Part})
			}
			for _, offset := range in.Offsets {
				o.replayed[offset] = l.Number
			}
		}
	}
	return out
}

// load is the number of the load that brought the record. Of parts that overlap the
// first brought it: the others were asked for what was not there.
func (o origins) load(id int64, date behaviour.Date, kind string) (int, bool) {
	number, offset := column.Place(id)
	x := o[number]
	if x == nil {
		return 0, false
	}
	if load, ok := x.replayed[offset]; ok {
		return load, true
	}
	for _, p := range x.parts {
		if p.part.Has(date, kind) {
			return p.load, true
		}
	}
	return 0, false
}
