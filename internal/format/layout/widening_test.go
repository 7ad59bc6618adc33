package layout_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
)

// TestFieldEncodersMakeOnlyValues compares the cells of a FieldEncoder with those of an Encoder. Layouts that store every field in a
// cell of its own have one.
func TestFieldEncodersMakeOnlyValues(t *testing.T) {
	onEach(t, 10, func(t *testing.T, r *rand.Rand, l layout.Layout) {
		of, ok := l.(layout.Widening)
		if traits := l.Traits(); ok != (traits.FieldCells == layout.AllFields && traits.DayRows) {
			t.Fatalf("it is a Widening: %t", ok)
		}
		if !ok {
			return
		}
		w := drawWorld(t, r, l, 40)
		enc := of.FieldEncoder(w.schema, "d")
		for i := range w.recs {
			rec := w.recs[i]
			rec.Values = slices.Clone(rec.Values)
			for f := range rec.Values {
				if r.IntN(2) == 0 {
					rec.Values[f] = nil
				}
			}
			var all []string
			for _, c := range encoded(t, l, w.schema, []behaviour.Record{w.recs[i]}) {
				all = append(all, fmt.Sprint(c))
			}
			values, cells := 0, 0
			for _, v := range rec.Values {
				if v != nil {
					values++
				}
			}
			enc.Add(&rec)
			err := enc.Cells(l.AppendRow(nil, w.schema, &rec), func(c *cell.Cell) error {
				if cells++; !slices.Contains(all, fmt.Sprint(c)) {
					t.Errorf("%s is none of the record's cells", c)
				}
				return nil
			})
			if err != nil || cells != values {
				t.Errorf("%d values make %d cells, %v", values, cells, err)
			}
		}
	})
}

// TestWithoutRecordsThereAreNoCells asks an Encoder for cells before the first record, and again after the cells of a record.
func TestWithoutRecordsThereAreNoCells(t *testing.T) {
	onEach(t, 1, func(t *testing.T, r *rand.Rand, l layout.Layout) {
		w := drawWorld(t, r, l, 3)
		enc := l.Encoder(w.schema, "d")
		for i := range w.recs {
			row := l.AppendRow(nil, w.schema, &w.recs[i])
			for _, before := range []bool{true, false} {
				cells := 0
				if !before {
					enc.Add(&w.recs[i])
				}
				if err := enc.Cells(row, func(*cell.Cell) error { cells++; return nil }); err != nil || (cells == 0) != before {
					t.Errorf("%d cells, without a record: %t, %v", cells, before, err)
				}
			}
		}
	})
}
