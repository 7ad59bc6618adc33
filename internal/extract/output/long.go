package output

import (
	"fmt"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/trail"
)

// A longMaker makes one row of each event.
type longMaker struct {
	q      *query.Query
	slots  [][]int  // by kind: the column of each of its fields; -1 if the field is not in the result
	behave []uint16 // by kind: its index among the kinds of the result
	bytes  int      // of fields of the rows since the last flush

	local *localTimes // nil if the result has only UTC

	// The index of each column; -1 if the files do not have it.
	date, time, behaviour, id, steps, fields int
}

func newLongMaker(q *query.Query, s trailfile.Schema) *longMaker {
	m := &longMaker{
		q: q, behave: indexes(q), slots: make([][]int, len(q.Info.Schema.Kinds)),
		date: s.Index(trailfile.DateColumn), time: s.Index(trailfile.TimeColumn),
		behaviour: s.Index(trailfile.BehaviourColumn), id: s.Index(trailfile.IDColumn),
	}
	m.steps = m.id + 1
	if q.Zone != nil {
		m.local = newLocalTimes(q.Zone)
		m.steps += localColumns
	}
	m.fields = m.steps + q.StepCount()
	columns := q.Columns()
	for _, k := range q.Kinds {
		for i, f := range q.Info.Schema.Kinds[k].Fields {
			slot := -1
			if q.Fields[k][i] {
				slot = m.fields + slices.Index(columns, f)
			}
			m.slots[k] = append(m.slots[k], slot)
		}
	}
	return m
}

// indexes returns, for each kind, its index among the kinds of the result.
func indexes(q *query.Query) []uint16 {
	out := make([]uint16, len(q.Info.Schema.Kinds))
	for i, k := range q.Kinds {
		out[k] = uint16(i)
	}
	return out
}

// row adds one event of u.
func (m *longMaker) row(b *trailfile.Batch, u *named, e *trail.Event) error {
	c, from := b.Columns, u.trails.Batch
	c[0].Str.Append(u.id)
	if m.date >= 0 {
		c[m.date].Small = append(c[m.date].Small, e.Date)
	}
	c[m.time].Int = append(c[m.time].Int, e.Time)
	if m.behaviour >= 0 {
		c[m.behaviour].Code = append(c[m.behaviour].Code, m.behave[e.Kind])
	}
	c[m.id].Int = append(c[m.id].Int, e.ID)
	if m.local != nil {
		m.local.add(c[m.id+1:m.steps], e.Time)
	}
	for i, t := range u.steps {
		c[m.steps+i].Int = append(c[m.steps+i].Int, t)
	}
	for i, slot := range m.slots[e.Kind] {
		if slot < 0 {
			continue
		}
		if v := from.Value(from.Refs[int(e.Refs)+i]); v != nil {
			m.bytes += len(v)
			if err := appendValue(&c[slot], v, b.Rows); err != nil {
				k := m.q.Info.Schema.Kinds[e.Kind]
				return fmt.Errorf("user %q, %s, id %d, field %s: %w", u.id, k.Name, e.ID, k.Fields[i].Name, err)
			}
		}
	}
	b.Rows++
	return nil
}

// fill appends the nulls that the columns of fields do not have yet.
func (m *longMaker) fill(b *trailfile.Batch) {
	for i := m.fields; i < len(b.Columns); i++ {
		c := &b.Columns[i]
		appendNulls(c, b.Rows-len(c.Valid))
	}
}

// appendValue appends the value of a row to its column, after the nulls of the rows before it. row
// is the index of the row.
func appendValue(c *trailfile.Values, v []byte, row int) error {
	if err := c.Type.Check(v); err != nil {
		return err
	}
	if len(c.Valid) > row {
		return fmt.Errorf("two values in one row")
	}
	appendNulls(c, row-len(c.Valid))
	c.Valid = append(c.Valid, true)
	switch c.Type {
	case behaviour.String:
		c.Str.Append(v)
	case behaviour.Int64, behaviour.Timestamp:
		c.Int = append(c.Int, behaviour.ToInt64(v))
	case behaviour.Double:
		c.Double = append(c.Double, behaviour.ToDouble(v))
	case behaviour.Day:
		c.Small = append(c.Small, int32(behaviour.ToDate(v)))
	case behaviour.Bool:
		c.Small = append(c.Small, int32(v[0]&1))
	}
	return nil
}

// appendNulls appends n nulls.
func appendNulls(c *trailfile.Values, n int) {
	if n == 0 {
		return
	}
	c.Valid = append(c.Valid, make([]bool, n)...)
	switch c.Type {
	case behaviour.String:
		c.Str.AppendEmpty(n)
	case behaviour.Int64, behaviour.Timestamp:
		c.Int = append(c.Int, make([]int64, n)...)
	case behaviour.Double:
		c.Double = append(c.Double, make([]float64, n)...)
	default:
		c.Small = append(c.Small, make([]int32, n)...)
	}
}
