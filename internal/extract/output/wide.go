package output

import (
	"slices"

	"usertrail/internal/extract/query"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/trail"
)

// A wideMaker makes one row of each user. For each requested behaviour it has columns of
// trailfile.WideColumns: the number of events of the result, the first and the last time, and the
// number of days.
type wideMaker struct {
	columns []string
	behave  []uint16 // by kind: its index among the kinds of the result
	did     []did    // of the current user, by that index
	local   *localTimes
}

// did has the columns of one behaviour in one row.
type did struct {
	count, days int64
	first, last int64 // µs
	date        int32 // the latest
}

func newWideMaker(q *query.Query) *wideMaker {
	m := &wideMaker{columns: q.Wide, behave: indexes(q), did: make([]did, len(q.Kinds))}
	if q.Zone != nil {
		m.local = newLocalTimes(q.Zone)
	}
	return m
}

// row adds the row of u.
func (m *wideMaker) row(b *trailfile.Batch, u *named) {
	m.sum(u.events())
	c := b.Columns
	c[0].Str.Append(u.id)
	at := c[1:]
	for i := range m.did {
		for _, name := range m.columns {
			m.add(name, &at[0], &m.did[i])
			at = at[1:]
		}
	}
	for i, t := range u.steps {
		at[i].Int = append(at[i].Int, t)
	}
	b.Rows++
}

// add appends the value of a column of a behaviour.
func (m *wideMaker) add(name string, c *trailfile.Values, d *did) {
	micros := func(t int64) { c.Int, c.Valid = append(c.Int, t), append(c.Valid, d.count > 0) }
	switch name {
	case trailfile.WideCount:
		c.Int = append(c.Int, d.count)
	case trailfile.WideDays:
		c.Int = append(c.Int, d.days)
	case trailfile.WideFirst:
		micros(d.first)
	case trailfile.WideLast:
		micros(d.last)
	case trailfile.WideFirstLocal:
		micros(m.local.wall(d.first))
	case trailfile.WideLastLocal:
		micros(m.local.wall(d.last))
	}
}

// sum sums up the events of a user, which are in order of time.
func (m *wideMaker) sum(events []trail.Event) {
	clear(m.did)
	for i := range events {
		e := &events[i]
		d := &m.did[m.behave[e.Kind]]
		switch {
		case d.count == 0:
			d.first, d.days, d.date = e.Time, 1, e.Date
		case e.Date > d.date:
			d.days, d.date = d.days+1, e.Date
		case e.Date < d.date && !onDay(events[:i], e):
			d.days++ // the zone's clock went back over midnight
		}
		d.count, d.last = d.count+1, e.Time
	}
}

// onDay reports whether events have the kind of e on the day of e.
func onDay(events []trail.Event, e *trail.Event) bool {
	return slices.ContainsFunc(events, func(o trail.Event) bool { return o.Kind == e.Kind && o.Date == e.Date })
}
