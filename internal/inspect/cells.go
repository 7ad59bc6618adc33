package inspect

import (
	"fmt"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/column"
	"usertrail/internal/format/hfile"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/rowkey"
	"usertrail/internal/trail"
)

// A Cell is one cell of an HFile.
type Cell struct {
	Row       manifest.Key `json:"row"`
	Family    string       `json:"family"`
	Qualifier manifest.Key `json:"qualifier"`
	Time      int64        `json:"time"` // milliseconds since 1970-01-01 UTC
	Type      string       `json:"type"`
	Value     manifest.Key `json:"value"`
	Means     *Meaning     `json:"means,omitempty"` // nil if the layout does not know the cell
}

// A Meaning is a cell decoded by its table's layout.
type Meaning struct {
	User        string         `json:"user"`
	Date        behaviour.Date `json:"date"`
	BehaviourID uint16         `json:"behaviour_id"`
	Behaviour   string         `json:"behaviour,omitempty"` // if a table names it
	Field       string         `json:"field"`               // column.Marker for the cell that only marks a record; empty if there are several fields
	ID          int64          `json:"id"`                  // column ID
	Value       string         `json:"value"`               // the value of one field; of several fields, FIELD=VALUE separated by blanks
}

// headCells returns the first n cells.
func headCells(rd *hfile.Reader, r *reading, n int) ([]Cell, error) {
	out := []Cell{}
	it := rd.Iterator(hfile.IterOptions{})
	for ok := n > 0 && it.First(); ok; ok = len(out) < n && it.Next() {
		c := it.Cell().Clone()
		out = append(out, Cell{
			Row: c.Row, Family: string(c.Family), Qualifier: c.Qualifier, Time: c.Time,
			Type: c.Type.String(), Value: c.Value, Means: r.meaning(c),
		})
	}
	return out, it.Err()
}

// A reading decodes cells.
type reading struct {
	owner
	decoder layout.Decoder // nil without a schema
	batch   trail.Batch
}

func newReading(h owner) *reading {
	r := &reading{owner: h}
	if h.schema == nil {
		return r
	}
	r.decoder = h.layout.Decoder(h.schema, layout.Everything(h.schema, behaviour.AllDays))
	return r
}

// meaning returns nil for a cell that the layout did not make.
func (r *reading) meaning(c *cell.Cell) *Meaning {
	if r.decoder == nil {
		return guess(c)
	}
	return r.decode(c)
}

// decode decodes c as if c were the only cell of its record. The values of the only event are then the values of c.
func (r *reading) decode(c *cell.Cell) *Meaning {
	var m Meaning
	r.batch.Reset()
	r.decoder.Into(&r.batch, func(key []byte) (uint32, bool) {
		m.User = r.user(key)
		return 0, true
	})
	if r.decoder.Add(c) != nil || r.decoder.Flush() != nil || len(r.batch.Events) != 1 {
		return nil
	}
	ev := &r.batch.Events[0]
	kind := &r.schema.Kinds[ev.Kind]
	m.Date, m.ID = behaviour.Date(ev.Date), ev.ID
	m.BehaviourID, m.Behaviour = kind.ID, kind.Name
	m.Field, m.Value = column.Marker, valueText(c.Value)
	var pairs []string
	for i, f := range kind.Fields {
		if v := r.batch.Value(r.batch.Refs[int(ev.Refs)+i]); v != nil {
			m.Field, m.Value = f.Name, f.Type.Text(v)
			pairs = append(pairs, m.Field+"="+m.Value)
		}
	}
	if len(pairs) > 1 {
		m.Field, m.Value = "", strings.Join(pairs, " ")
	}
	return &m
}

// guess decodes a cell of a file that is in no table. The layout and the type of the value are unknown. guess tries
// the default layout.
func guess(c *cell.Cell) *Meaning {
	k, err := rowkey.Parse(c.Row)
	if err != nil {
		return nil
	}
	field, id, err := column.Parse(c.Qualifier)
	if err != nil {
		return nil
	}
	return &Meaning{
		User: k.User, Date: k.Date, BehaviourID: k.Behaviour,
		Field: string(field), ID: id, Value: valueText(c.Value),
	}
}

// cellText prints the first cells. If every cell has a meaning, it prints the meanings, otherwise the raw cells.
func (h *HFile) cellText(p *page) {
	meant := newGrid("user", "date", "behaviour", "field", ">id", "time", "value")
	raw := newGrid("row", "column", "time", "type", "value")
	for i := range h.Head {
		c := &h.Head[i]
		raw.add(short(valueText(c.Row)), short(c.Family+":"+binary(c.Qualifier)), instant(c.Time), c.Type, short(valueText(c.Value)))
		if m := c.Means; m != nil {
			meant.add(short(m.User), m.Date.String(), m.behaviour(), m.Field, fmt.Sprint(m.ID), instant(c.Time), short(m.Value))
		}
	}
	if len(meant.rows) == len(raw.rows) {
		p.list("cells", meant, int(h.Cells))
	} else {
		p.list("cells", raw, int(h.Cells))
	}
}

// behaviour returns the behaviour's name, or its ID if no table names it.
func (m *Meaning) behaviour() string {
	if m.Behaviour == "" {
		return fmt.Sprint(m.BehaviourID)
	}
	return m.Behaviour
}
