package tabletest

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/table"
)

// A hinted query has all the hints that can help it. needed are the cells that the caller needs, and
// allowed are the cells that the table may return.
type hinted struct {
	query           table.Query
	needed, allowed []*cell.Cell
}

// testHints runs each query with all its hints, with none, without each hint and with each hint alone.
// Every run returns the needed cells.
func testHints(t *testing.T, w *world, from table.Table) {
	needed, given := 0, map[string]bool{}
	for range 8 {
		for _, h := range []*hinted{w.hintedTimes(t), w.hintedNewest(t), w.hintedFuzzy(t), w.hintedWhere(t)} {
			if h == nil {
				continue
			}
			needed += len(h.needed)
			for name, hints := range variants(h.query.Hints, given) {
				q := h.query
				q.Hints = hints
				expect(t, fmt.Sprintf("%+v, hints: %s", h.query.Hints, name), scan(t, from, q), h.needed, h.allowed)
			}
		}
	}
	if needed == 0 {
		t.Error("nothing was needed")
	}
	w.checkGiven(t, given)
}

// checkGiven checks that every hint that can help the layout was given.
func (w *world) checkGiven(t *testing.T, given map[string]bool) {
	t.Helper()
	fuzzy, err := w.layout.Reads(w.schema, layout.Everyone(w.schema, allDays))
	if err != nil {
		t.Fatal(err)
	}
	without := map[string]bool{"Fuzzy": fuzzy.Fuzzy == nil, "Where": !w.layout.Traits().OneRecord, "Timed": !w.layout.Traits().Ranges.Times}
	hints := reflect.TypeFor[table.Hints]()
	for i := range hints.NumField() {
		if name := hints.Field(i).Name; !given[name] && !without[name] {
			t.Errorf("the hint %s was never given", name)
		}
	}
}

// variants returns hints by description: all, none, and all without one and one alone for each
// hint that is given. It adds the names of the hints that are given to given.
func variants(all table.Hints, given map[string]bool) map[string]table.Hints {
	out := map[string]table.Hints{"all": all, "none": {}}
	for i := range reflect.TypeFor[table.Hints]().NumField() {
		if reflect.ValueOf(all).Field(i).IsZero() {
			continue
		}
		name := reflect.TypeFor[table.Hints]().Field(i).Name
		given[name] = true
		without, alone := all, table.Hints{}
		reflect.ValueOf(&without).Elem().Field(i).SetZero()
		reflect.ValueOf(&alone).Elem().Field(i).Set(reflect.ValueOf(all).Field(i))
		out["all but "+name], out[name+" alone"] = without, alone
	}
	return out
}

// hintedTimes queries behaviours of a few users between two times, by ranges or by rows.
func (w *world) hintedTimes(t *testing.T) *hinted {
	want := w.want()
	reads := w.readsOf(t, want)
	ranges, rows := w.reads(reads)
	if len(ranges) == 0 {
		return nil
	}
	h := &hinted{query: query(ranges, want.Span)}
	in := func(key []byte) bool { return has(ranges, key) }
	if len(rows) > 0 && w.dice.IntN(2) == 0 {
		h.query = rowsQuery(rows, want.Span)
		in = func(key []byte) bool {
			return slices.ContainsFunc(rows, func(k []byte) bool { return bytes.Equal(k, key) })
		}
	}
	h.query.Columns, h.query.Ordered = reads.Columns, w.dice.IntN(2) == 0
	h.query.Times, h.query.Timed, h.query.Once = want.Times, reads.Timed, true
	w.need(h, in, every)
	return h
}

// hintedNewest queries the newest behaviours of a few users.
func (w *world) hintedNewest(t *testing.T) *hinted {
	want := w.want()
	want.Span, want.Times = allDays, nil
	reads := w.readsOf(t, want)
	ranges, _ := w.reads(reads)
	if len(ranges) == 0 {
		return nil
	}
	h := &hinted{query: query(ranges, want.Span)}
	h.query.Columns, h.query.Ordered = reads.Columns, w.dice.IntN(2) == 0
	h.query.Newest, h.query.Timed, h.query.Once = 1+w.dice.IntN(5), reads.Timed, true
	w.need(h, func(key []byte) bool { return has(ranges, key) }, every)
	h.needed = w.newest(ranges, &h.query)
	return h
}

// hintedFuzzy queries the rows of all users on some days.
func (w *world) hintedFuzzy(t *testing.T) *hinted {
	want := layout.Everyone(w.schema, w.span())
	reads := w.readsOf(t, want)
	h := &hinted{query: everything()}
	h.query.Span, h.query.Columns, h.query.Ordered = want.Span, reads.Columns, w.dice.IntN(2) == 0
	h.query.Fuzzy, h.query.Once = reads.Fuzzy, true
	w.need(h, func([]byte) bool { return true }, func(key []byte, _ *cell.Cell) bool { return matches(reads.Fuzzy, key) })
	return h
}

// hintedWhere queries records by the value of a column. It returns nil if the layout has no
// columns of fields.
func (w *world) hintedWhere(t *testing.T) *hinted {
	if !w.layout.Traits().OneRecord {
		return nil
	}
	want := layout.Everything(w.schema, allDays)
	reads := w.readsOf(t, want)
	ranges, _ := w.reads(reads)
	if len(ranges) == 0 {
		return nil
	}
	h := &hinted{query: query(ranges, want.Span)}
	title := table.ColumnTest{Qualifier: []byte(w.schema.Kinds[0].Fields[0].Name), In: []behaviour.Range{behaviour.One([]byte("value"))}}
	h.query.Columns, h.query.Where, h.query.Once = reads.Columns, [][]table.ColumnTest{{title}}, true
	passing := map[string]bool{}
	for _, c := range w.cells(every) {
		if bytes.Equal(c.Qualifier, title.Qualifier) && title.In[0].Has(c.Value) {
			passing[string(c.Row)] = true
		}
	}
	w.need(h, func(key []byte) bool { return has(ranges, key) }, func(key []byte, _ *cell.Cell) bool { return passing[string(key)] })
	return h
}

// need sets the cells of h. in reports which rows h queries, and which of their cells are needed. The days,
// times and columns of the query further limit these cells.
func (w *world) need(h *hinted, in func(key []byte) bool, which func(key []byte, c *cell.Cell) bool) {
	h.allowed = w.cells(func(key []byte, _ *cell.Cell) bool { return in(key) })
	h.needed = w.cells(func(key []byte, c *cell.Cell) bool { return in(key) && asks(&h.query, c) && which(key, c) })
}

// readsOf returns the layout's reads of a query.
func (w *world) readsOf(t *testing.T, want layout.Want) *layout.Reads {
	t.Helper()
	reads, err := w.layout.Reads(w.schema, want)
	if err != nil {
		t.Fatal(err)
	}
	return reads
}
