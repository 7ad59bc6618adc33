// Package footprint computes how many rows and cells events have in the layout of a table, and
// which limits of a query bound the reads.
package footprint

import (
	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/extract/estimate"
	"usertrail/internal/format/layout"
	"usertrail/internal/trail"
)

// A Footprint counts the rows and cells of records of a schema in a layout.
type Footprint struct {
	row    layout.RowParts
	Micros bool     // a time that is not a whole number of milliseconds has one cell more
	Own    [][]bool // by kind and field: it has a cell of its own, apart from the cell that shows that the record exists
}

// New returns the footprint of records of s in the layout l.
func New(l layout.Layout, s *behaviour.Schema) Footprint {
	traits := l.Traits()
	g := Footprint{row: traits.Row}
	g.row.Kind = g.row.Kind && len(s.Kinds) > 1
	for k := range s.Kinds {
		g.Own = append(g.Own, traits.OwnCells(&s.Kinds[k]))
		g.Micros = g.Micros || traits.MicrosCell && len(s.Kinds[k].Fields) > 0
	}
	return g
}

// Rows counts the rows of a user's events, which are in order of time.
func (g *Footprint) Rows(events []trail.Event) (n int64) {
	if g.row.ID {
		return int64(len(events))
	}
	var at int64
	var did activity.Set
	for i := range events {
		e := &events[i]
		if now := g.when(e); now != at || i == 0 {
			n += g.share(did)
			at, did = now, activity.Set{}
		}
		did.Add(int(e.Kind))
	}
	return n + g.share(did)
}

// when returns the part of an event's time that its row key holds.
func (g *Footprint) when(e *trail.Event) int64 {
	switch {
	case g.row.Second:
		return behaviour.Millis(e.Time) / 1000
	case g.row.Date:
		return int64(e.Date)
	}
	return 0
}

// share returns the number of rows that some kinds have at one time.
func (g *Footprint) share(did activity.Set) int64 {
	if g.row.Kind {
		return int64(did.Len())
	}
	return int64(min(did.Len(), 1))
}

// Cells estimates how many cells of a record of a kind are read. asked marks the fields that
// are read; nil is all fields.
func (g *Footprint) Cells(k int, asked []bool) int {
	n := 1
	for i, own := range g.Own[k] {
		if own && (asked == nil || asked[i]) {
			n++
		}
	}
	return n
}

// Holds returns the contents of a row, in the terms of package estimate.
func (g *Footprint) Holds() estimate.Row {
	switch {
	case g.row.ID:
		return estimate.Record
	case g.row.Second:
		return estimate.Second
	case g.row.Date && g.row.Kind:
		return estimate.DayKind
	case g.row.Date:
		return estimate.Day
	case g.row.Kind:
		return estimate.UserKind
	}
	return estimate.User
}

// Bounds are the limits of a query that bound the reads of its table's layout.
type Bounds struct {
	Kinds  bool // scans skip rows of behaviours that are not read,
	Sifts  bool // or columns show which cells belong to them
	Dates  bool // scans skip rows or columns of other days
	Times  bool // scans skip other times of a day
	Listed bool // rows can be named,
	Named  int  // this number of rows for each user; 0 if the number depends on the span
	Fuzzy  bool // the rows of a day can be selected without the user
	Timed  bool // reads contain almost nothing of other times

	Prefixes, Columns bool // columns are selected by prefixes; by a range
}

// BoundsOf returns the bounds of a query in a table of s in the layout l.
func BoundsOf(l layout.Layout, s *behaviour.Schema, want layout.Want) (Bounds, error) {
	reads, err := l.Reads(s, want)
	if err != nil {
		return Bounds{}, err
	}
	traits := l.Traits()
	r := Bounds{
		Kinds: traits.Ranges.Kinds && len(s.Kinds) > 1, Sifts: traits.ColumnsTellKinds(s), Dates: traits.Ranges.Dates, Times: traits.Ranges.Times,
		Listed: reads.Rows != nil, Fuzzy: reads.Fuzzy != nil, Timed: reads.Timed,
		Prefixes: reads.Columns.Prefixes != nil, Columns: reads.Columns.Bounded(),
	}
	if r.Listed && !r.Dates {
		r.Named = 1
		if traits.Row.Kind {
			r.Named = len(want.Kinds)
		}
	}
	return r, nil
}
