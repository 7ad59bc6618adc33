package extract

import (
	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/extract/estimate"
	"usertrail/internal/format/layout"
	"usertrail/internal/trail"
)

// A grain says how many rows and cells the records of a schema have in a layout.
type grain struct {
	row    layout.RowParts
	micros bool     // a time that is not a whole number of milliseconds has one cell more
	own    [][]bool // by kind and field: it has a cell besides the one that tells that the record exists
}

// grainOf returns the grain of a table of s in the layout l.
func grainOf(l layout.Layout, s *behaviour.Schema) grain {
	traits := l.Traits()
	g := grain{row: traits.Row}
	g.row.Kind = g.row.Kind && len(s.Kinds) > 1
	for k := range s.Kinds {
		g.own = append(g.own, traits.OwnCells(&s.Kinds[k]))
		g.micros = g.micros || traits.MicrosCell && len(s.Kinds[k].Fields) > 0
	}
	return g
}

// rows counts the rows of a user's events, which are in order of time.
func (g *grain) rows(events []trail.Event) (n int64) {
	if g.row.ID {
		return int64(len(events))
	}
	var at int64
	var did activity.Set
	for i := range events {
		e := &events[i]
		if now := g.when(e); now != at || i == 0 {
			n += g.share(did)
			at, did = now, 0
		}
		did |= activity.Of(int(e.Kind))
	}
	return n + g.share(did)
}

// when returns the part of an event's time that its row key holds.
func (g *grain) when(e *trail.Event) int64 {
	switch {
	case g.row.Second:
		return behaviour.Millis(e.Time) / 1000
	case g.row.Date:
		return int64(e.Date)
	}
	return 0
}

// share returns the number of rows that some kinds have at one time.
func (g *grain) share(did activity.Set) int64 {
	if g.row.Kind {
		return int64(did.Len())
	}
	return int64(min(did.Len(), 1))
}

// cells estimates how many cells a record of a kind has in the fields that are read. Nil is all
// fields.
func (g *grain) cells(k int, asked []bool) int {
	n := 1
	for i, own := range g.own[k] {
		if own && (asked == nil || asked[i]) {
			n++
		}
	}
	return n
}

// holds returns the contents of a row, in the terms of package estimate.
func (g *grain) holds() estimate.Row {
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

// A reach says which limits of a query bound the reads of its table's layout.
type reach struct {
	kinds  bool // scans skip rows of behaviours that are not read,
	sifts  bool // or columns tell which cells are theirs
	dates  bool // scans skip rows or columns of other days
	times  bool // scans skip other times of a day
	listed bool // rows can be named,
	named  int  // this number of rows for each user; 0 if the number depends on the span
	fuzzy  bool // rows of a day can be told, whoever the user is
	timed  bool // reads contain almost nothing of other times

	prefixes, columns bool // columns are selected by prefixes; by a range
}

// reachOf returns the reach of a query in a table of s in the layout l.
func reachOf(l layout.Layout, s *behaviour.Schema, want layout.Want) (reach, error) {
	reads, err := l.Reads(s, want)
	if err != nil {
		return reach{}, err
	}
	traits := l.Traits()
	r := reach{
		kinds: traits.Ranges.Kinds && len(s.Kinds) > 1, sifts: traits.ColumnsTellKinds(s), dates: traits.Ranges.Dates, times: traits.Ranges.Times,
		listed: reads.Rows != nil, fuzzy: reads.Fuzzy != nil, timed: reads.Timed,
		prefixes: reads.Columns.Prefixes != nil, columns: reads.Columns.Bounded(),
	}
	if r.listed && !r.dates {
		r.named = 1
		if traits.Row.Kind {
			r.named = len(want.Kinds)
		}
	}
	return r, nil
}
