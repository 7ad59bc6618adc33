package extract

import (
	"bytes"
	"fmt"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/extract/estimate"
	"usertrail/internal/format/layout"
	"usertrail/internal/trail"
)

// A grain is how a layout lays records out, as far as it decides how many rows and cells
// they are. It is found out by laying a few out.
type grain struct {
	id, kind, date, second bool     // records that differ in it have rows of their own
	micros                 bool     // a time that is no whole millisecond has a cell more
	own                    [][]bool // by kind and field: it has a cell besides the one that tells that the record is there
}

// grainOf finds out how l lays records of s out.
func grainOf(l layout.Layout, s *behaviour.Schema) (g grain, err error) {
	const day = 24 * 3600 * 1e6
	first := behaviour.Record{User: []byte("1"), Date: behaviour.DateOf(2014, 9, 1), ID: 1}
	first.Time = int64(first.Date)*day + day/2
	parts := func(change func(r *behaviour.Record)) bool {
		r := first
		change(&r)
		return !bytes.Equal(l.AppendRow(nil, s, &first), l.AppendRow(nil, s, &r))
	}
	g.id = parts(func(r *behaviour.Record) { r.ID++ })
	g.kind = len(s.Kinds) > 1 && parts(func(r *behaviour.Record) { r.Kind++ })
	g.second = parts(func(r *behaviour.Record) { r.Time += 1e6 })
	g.date = parts(func(r *behaviour.Record) { r.Date, r.Time = r.Date+1, r.Time+day })
	for k := range s.Kinds {
		r := first
		r.Kind = k
		own, micros, err := cellsOf(l, s, r)
		if err != nil {
			return g, fmt.Errorf("see how the layout %s lays a record out: %w", l.Name(), err)
		}
		g.own, g.micros = append(g.own, own), g.micros || micros
	}
	return g, nil
}

// cellsOf says which fields of a record have a cell besides the one that tells that it
// is there, and whether microseconds have.
func cellsOf(l layout.Layout, s *behaviour.Schema, r behaviour.Record) (own []bool, micros bool, err error) {
	fields := s.Kinds[r.Kind].Fields
	e := l.Encoder(s, "t")
	count := func(field int, time int64) (n int) {
		r := r
		r.Time, r.Values = time, make([][]byte, len(fields))
		if field >= 0 {
			r.Values[field] = make([]byte, fields[field].Type.Size())
		}
		row := l.AppendRow(nil, s, &r)
		e.Add(&r)
		if failed := e.Cells(row, func(*cell.Cell) error { n++; return nil }); failed != nil {
			err = failed
		}
		return n
	}
	there := count(-1, r.Time)
	for i := range fields {
		own = append(own, count(i, r.Time) > there)
	}
	if len(fields) > 0 {
		micros = count(0, r.Time+1) > count(0, r.Time)
	}
	return own, micros, err
}

// rows counts the rows of a user's events, which are in order of time.
func (g *grain) rows(events []trail.Event) (n int64) {
	if g.id {
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
	case g.second:
		return behaviour.Millis(e.Time) / 1000
	case g.date:
		return int64(e.Date)
	}
	return 0
}

// share returns the number of rows that some kinds have at one time.
func (g *grain) share(did activity.Set) int64 {
	if g.kind {
		return int64(did.Len())
	}
	return int64(min(did.Len(), 1))
}

// cells estimates the number of cells of a kind's record when some of its fields are read.
func (g *grain) cells(k int, asked []bool) int {
	n := 1
	for i, own := range g.own[k] {
		if own && (asked == nil || asked[i]) {
			n++
		}
	}
	return n
}

// holds is what a row holds, as an estimate takes it.
func (g *grain) holds() estimate.Row {
	switch {
	case g.id:
		return estimate.Record
	case g.second:
		return estimate.Second
	case g.date && g.kind:
		return estimate.DayKind
	case g.date:
		return estimate.Day
	case g.kind:
		return estimate.UserKind
	}
	return estimate.User
}

// A reach is what of a question a layout's reads are bounded by. It is found out by
// asking for less.
type reach struct {
	kinds  bool // rows of behaviours that are not read are not passed over
	sifts  bool // and their cells are told by their columns, where they are
	dates  bool // rows or columns of other days are not passed over
	times  bool // nor those of other times of a day
	listed bool // rows can be named,
	named  int  // so many of a user, where that is the same for all spans
	fuzzy  bool // rows of a day can be told whoever the user is
	timed  bool // there is nothing of other times in what is read

	prefixes, columns bool // columns are asked for by how they begin; from one up to another
}

// reachOf finds out what bounds what l reads of a table of s.
func reachOf(l layout.Layout, s *behaviour.Schema, want layout.Want) (r reach, err error) {
	key := l.AppendUserKey(nil, []byte("1"))
	none := layout.Everyone(s, want.Span)
	shape := func(change func(w *layout.Want)) (rows, columns string) {
		w := none
		change(&w)
		reads, failed := l.Reads(s, w)
		if failed != nil {
			err = failed
			return "", ""
		}
		reads.Ranges(key, func(start, stop []byte) bool {
			rows += fmt.Sprintf("%q %q,", start, stop)
			return true
		})
		columns = fmt.Sprintf("%q", reads.Columns.Prefixes)
		return rows + fmt.Sprintf("%q %q", reads.Columns.From, reads.Columns.To), columns
	}
	rows, columns := shape(func(*layout.Want) {})
	fewer, narrower := shape(func(w *layout.Want) { w.Kinds = w.Kinds[:1] })
	r.kinds, r.sifts = rows != fewer, columns != narrower
	later, _ := shape(func(w *layout.Want) { w.Span.To += 2 })
	r.dates = rows != later
	inside, failed := layout.TimesOf(want.Span, nil, s)
	if failed != nil {
		return r, failed
	}
	const morning = 6 * 3600 * 1e6
	inside.First, inside.Last = inside.First+morning, inside.Last-morning
	sooner, _ := shape(func(w *layout.Want) { w.Times = &inside })
	r.times = rows != sooner
	if err != nil {
		return r, err
	}
	reads, err := l.Reads(s, want)
	if err != nil {
		return r, err
	}
	r.prefixes, r.columns = reads.Columns.Prefixes != nil, reads.Columns.Bounded()
	r.fuzzy, r.listed, r.timed = reads.Fuzzy != nil, reads.Rows != nil, reads.Timed
	if r.listed && !r.dates {
		reads.Rows(key, func([]byte) bool { r.named++; return true })
	}
	return r, nil
}
