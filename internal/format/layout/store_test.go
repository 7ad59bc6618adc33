package layout_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/trail"
)

// encoded are the cells of records, row by row and in order, checked to be those that
// the records have and no others. The encoder is used for all rows, and the record for
// all records.
func encoded(t testing.TB, l layout.Layout, s *behaviour.Schema, recs []behaviour.Record) []*cell.Cell {
	t.Helper()
	rows := map[string][]behaviour.Record{}
	for i := range recs {
		row := string(l.AppendRow(nil, s, &recs[i]))
		rows[row] = append(rows[row], recs[i])
	}
	enc := l.Encoder(s, "d")
	var out []*cell.Cell
	var r behaviour.Record
	for _, row := range slices.Sorted(maps.Keys(rows)) {
		list := rows[row]
		slices.SortStableFunc(list, func(a, b behaviour.Record) int { return cmp.Compare(a.ID, b.ID) })
		for i := range list {
			r = list[i]
			r.Values = slices.Clone(r.Values)
			enc.Add(&r)
			clear(r.Values)
		}
		first := len(out)
		err := enc.Cells([]byte(row), func(c *cell.Cell) error {
			out = append(out, c.Clone())
			if !bytes.Equal(c.Row, []byte(row)) || string(c.Family) != "d" || c.Type != cell.Put {
				t.Fatalf("a cell of row %q is %s", row, c)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(out) == first {
			t.Fatalf("row %q has no cell", row)
		}
	}
	for i := 1; i < len(out); i++ {
		if cell.Compare(out[i-1], out[i]) >= 0 {
			t.Fatalf("%s does not come before %s", out[i-1], out[i])
		}
	}
	return out
}

// A store is three files of a table.
type store struct {
	layout layout.Layout
	schema *behaviour.Schema
	files  [3][]*cell.Cell
}

// stored puts each record of w into one of the files.
func stored(t testing.TB, r *rand.Rand, l layout.Layout, w *world) *store {
	t.Helper()
	s := &store{layout: l, schema: w.schema}
	var parts [3][]behaviour.Record
	for _, rec := range w.recs {
		i := r.IntN(3)
		parts[i] = append(parts[i], rec)
	}
	for i, part := range parts {
		s.files[i] = encoded(t, l, w.schema, part)
	}
	return s
}

// ways are the orders in which a table may emit its cells.
var ways = map[string]func(s *store) []*cell.Cell{
	// As HBase does.
	"merged": func(s *store) []*cell.Cell {
		all := slices.Concat(s.files[0], s.files[1], s.files[2])
		slices.SortFunc(all, cell.Compare)
		return all
	},
	// Row by row, and in a row file by file.
	"row by row": func(s *store) []*cell.Cell {
		all := slices.Concat(s.files[0], s.files[1], s.files[2])
		slices.SortStableFunc(all, func(a, b *cell.Cell) int { return bytes.Compare(a.Row, b.Row) })
		return all
	},
	"file by file": func(s *store) []*cell.Cell { return slices.Concat(s.files[2], s.files[0], s.files[1]) },
}

// A part is the part of a store that is read.
type part struct {
	rows    []string // sorted; nil for ranges
	ranges  [][2]string
	columns layout.Columns
	millis  *[2]int64 // both included; nil for all
}

func (p *part) has(c *cell.Cell) bool {
	if p.millis != nil && (c.Time < p.millis[0] || c.Time > p.millis[1]) {
		return false
	}
	return p.hasRow(string(c.Row)) && hasColumn(p.columns, c.Qualifier)
}

func (p *part) hasRow(row string) bool {
	if p.rows != nil {
		_, ok := slices.BinarySearch(p.rows, row)
		return ok
	}
	return slices.ContainsFunc(p.ranges, func(r [2]string) bool { return r[0] <= row && row < r[1] })
}

func hasColumn(c layout.Columns, q []byte) bool {
	if c.From != nil && bytes.Compare(q, c.From) < 0 || c.To != nil && bytes.Compare(q, c.To) >= 0 {
		return false
	}
	return len(c.Prefixes) == 0 || slices.ContainsFunc(c.Prefixes, func(p []byte) bool { return bytes.HasPrefix(q, p) })
}

// of are the cells of all in the part.
func (p *part) of(all []*cell.Cell) []*cell.Cell {
	return slices.DeleteFunc(slices.Clone(all), func(c *cell.Cell) bool { return !p.has(c) })
}

// A lender emits cells as tables do: all of them in the same bytes.
type lender struct{ c cell.Cell }

func (l *lender) lend(c *cell.Cell) *cell.Cell {
	l.c.Row = append(l.c.Row[:0], c.Row...)
	l.c.Family = append(l.c.Family[:0], c.Family...)
	l.c.Qualifier = append(l.c.Qualifier[:0], c.Qualifier...)
	l.c.Value = append(l.c.Value[:0], c.Value...)
	l.c.Time, l.c.Type = c.Time, c.Type
	return &l.c
}

// spoil writes over what was lent last.
func (l *lender) spoil() {
	for _, b := range [][]byte{l.c.Row, l.c.Family, l.c.Qualifier, l.c.Value} {
		for i := range b {
			b[i] = 0xaa
		}
	}
}

// found are the records of the requested users that a decoder finds in cells.
func found(l layout.Layout, s *behaviour.Schema, d layout.Decoder, cells []*cell.Cell, asked func(user string) bool) ([]behaviour.Record, error) {
	var b trail.Batch
	b.Reset()
	var met []string
	var wrong error
	d.Into(&b, func(key []byte) (uint32, bool) {
		user, err := l.AppendUser(nil, key)
		if err != nil {
			wrong = cmp.Or(wrong, err)
			return 0, false
		}
		if !asked(string(user)) {
			return 0, false
		}
		if i := slices.Index(met, string(user)); i >= 0 {
			return uint32(i), true
		}
		met = append(met, string(user))
		return uint32(len(met) - 1), true
	})
	var from lender
	for _, c := range cells {
		if err := cmp.Or(d.Add(from.lend(c)), wrong); err != nil {
			return nil, err
		}
	}
	from.spoil()
	if err := d.Flush(); err != nil {
		return nil, err
	}
	return recordsOf(&b, s, met)
}

// recordsOf are the events of a batch whose users are named.
func recordsOf(b *trail.Batch, s *behaviour.Schema, names []string) ([]behaviour.Record, error) {
	var out []behaviour.Record
	for _, e := range b.Events {
		r := behaviour.Record{User: []byte(names[e.User]), Kind: int(e.Kind), Time: e.Time, Date: behaviour.Date(e.Date), ID: e.ID}
		n := len(s.Kinds[r.Kind].Fields)
		if int(e.Refs)+n > len(b.Refs) {
			return nil, fmt.Errorf("event %+v has values beyond the %d there are", e, len(b.Refs))
		}
		for i := range n {
			r.Values = append(r.Values, bytes.Clone(b.Value(b.Refs[int(e.Refs)+i])))
		}
		out = append(out, r)
	}
	return out, nil
}
