package layout_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
)

// TestTraitsAreTrue encodes records and makes reads. It compares the rows, cells, ranges and
// columns with the traits of every layout.
func TestTraitsAreTrue(t *testing.T) {
	onEach(t, 20, func(t *testing.T, r *rand.Rand, l layout.Layout) {
		s := drawWorld(t, r, l, 1).schema
		traits := l.Traits()
		row, ranges := traits.Row, traits.Ranges
		if len(s.Kinds) == 1 { // nothing to differ in
			row.Kind, ranges.Kinds = false, false
		}
		if got := probedRow(l, s); got != row {
			t.Errorf("records have rows of their own if they differ in %+v, the trait Row is %+v", got, row)
		}
		gotRanges, gotColumns := probedReads(t, l, s)
		if gotRanges != ranges {
			t.Errorf("ranges are narrowed by %+v, the trait Ranges is %+v", gotRanges, ranges)
		}
		if want := traits.ColumnsTellKinds(s); gotColumns != want {
			t.Errorf("columns tell kinds: %t, by the traits %t", gotColumns, want)
		}
		for k := range s.Kinds {
			got, micros := probedCells(t, l, s, k)
			if want := traits.OwnCells(&s.Kinds[k]); !slices.Equal(got, want) {
				t.Errorf("%+v: the fields with cells of their own are %t, by the traits %t", s.Kinds[k].Fields, got, want)
			}
			if want := traits.MicrosCell && len(got) > 0; micros != want {
				t.Errorf("microseconds have a cell: %t, want %t", micros, want)
			}
		}
	})
}

// probedRecord returns a record whose fields are all null.
func probedRecord(s *behaviour.Schema, kind int) behaviour.Record {
	const day = 24 * 3600 * 1e6
	r := behaviour.Record{User: []byte("1"), Kind: kind, Date: behaviour.DateOf(2014, 9, 1), ID: 1}
	r.Time, r.Values = int64(r.Date)*day+day/2, make([][]byte, len(s.Kinds[kind].Fields))
	return r
}

// probedRow finds the parts in which records with different rows differ.
func probedRow(l layout.Layout, s *behaviour.Schema) layout.RowParts {
	first := probedRecord(s, 0)
	differs := func(change func(r *behaviour.Record)) bool {
		r := first
		change(&r)
		return !bytes.Equal(l.AppendRow(nil, s, &first), l.AppendRow(nil, s, &r))
	}
	return layout.RowParts{
		Kind:   len(s.Kinds) > 1 && differs(func(r *behaviour.Record) { r.Kind++ }),
		Date:   differs(func(r *behaviour.Record) { r.Date, r.Time = r.Date+1, r.Time+24*3600*1e6 }),
		Second: differs(func(r *behaviour.Record) { r.Time += 1e6 }),
		ID:     differs(func(r *behaviour.Record) { r.ID++ }),
	}
}

// probedCells finds the fields that have a cell in addition to the cell that shows that the
// record exists. It also finds out whether the microseconds of a record with a first field have
// a cell.
func probedCells(t *testing.T, l layout.Layout, s *behaviour.Schema, kind int) (own []bool, micros bool) {
	t.Helper()
	count := func(field int, micros int64) int {
		r := probedRecord(s, kind)
		r.Time += micros
		if field >= 0 {
			r.Values[field] = make([]byte, s.Kinds[kind].Fields[field].Type.Size())
		}
		return len(encoded(t, l, s, []behaviour.Record{r}))
	}
	own = make([]bool, len(s.Kinds[kind].Fields))
	for i := range own {
		own[i] = count(i, 0) > count(-1, 0)
	}
	return own, len(own) > 0 && count(0, 1) > count(0, 0)
}

// probedReads makes reads for one kind of all, for other days, and for a part of the days. It
// finds which of these change the ranges, and whether the first changes the prefixes of
// columns.
func probedReads(t *testing.T, l layout.Layout, s *behaviour.Schema) (limits layout.Limits, columns bool) {
	t.Helper()
	const hour = 3600 * 1e6
	date := behaviour.DateOf(2014, 9, 1)
	all := layout.Everyone(s, behaviour.Span{From: date, To: date + 1})
	shape := func(change func(w *layout.Want)) (ranges, columns string) {
		w := all
		change(&w)
		reads, err := l.Reads(s, w)
		if err != nil {
			t.Fatal(err)
		}
		reads.Ranges(l.AppendUserKey(nil, []byte("1")), func(start, stop []byte) bool {
			ranges += fmt.Sprintf("%q %q,", start, stop)
			return true
		})
		return ranges + fmt.Sprintf("%q %q", reads.Columns.From, reads.Columns.To), fmt.Sprintf("%q", reads.Columns.Prefixes)
	}
	ranges, prefixes := shape(func(*layout.Want) {})
	fewer, fewerPrefixes := shape(func(w *layout.Want) { w.Kinds = w.Kinds[:1] })
	later, _ := shape(func(w *layout.Want) { w.Span.To += 2 })
	inside, err := layout.TimesOf(all.Span, nil, s)
	if err != nil {
		t.Fatal(err)
	}
	inside.First, inside.Last = inside.First+6*hour, inside.Last-6*hour
	part, _ := shape(func(w *layout.Want) { w.Times = &inside })
	return layout.Limits{Kinds: ranges != fewer, Dates: ranges != later, Times: ranges != part}, prefixes != fewerPrefixes
}

// TestPackedIsNoCellOfItsOwn checks that a field with the name Traits.Packed has no cell of its
// own.
func TestPackedIsNoCellOfItsOwn(t *testing.T) {
	for _, name := range names() {
		l := named(t, name)
		traits := l.Traits()
		if traits.Packed == "" {
			continue
		}
		fields := []behaviour.Field{{Name: "title", Type: behaviour.String}, {Name: traits.Packed, Type: behaviour.String}, {Name: "titles", Type: behaviour.String}}
		s := &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "play", Fields: fields}}}
		got, _ := probedCells(t, l, s, 0)
		if want := []bool{true, false, true}; !slices.Equal(got, want) || !slices.Equal(traits.OwnCells(&s.Kinds[0]), want) {
			t.Errorf("%s: %t have cells of their own, by the traits %t; want %t", name, got, traits.OwnCells(&s.Kinds[0]), want)
		}
	}
}
