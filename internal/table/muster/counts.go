package muster

import (
	"cmp"
	"slices"

	"usertrail/internal/behaviour"
)

// A Count is how many records there are of one date and behaviour.
type Count struct {
	Date    behaviour.Date
	Kind    int // index in the schema's kinds
	Records int64
}

// mostCounts is how many Counts are held, unless there are as many dates and behaviours.
const mostCounts = 4 << 10

// Counts count the records of a row by date and behaviour. Records of one date and
// behaviour may be counted in several places.
type Counts struct {
	list []Count
	most int // of list, before those of one date and behaviour are added up
}

// Add counts one record.
func (c *Counts) Add(date behaviour.Date, kind int) {
	if n := len(c.list); n > 0 && c.list[n-1].Date == date && c.list[n-1].Kind == kind {
		c.list[n-1].Records++
		return
	}
	if len(c.list) >= max(c.most, mostCounts) {
		c.addUp()
		c.most = 2 * len(c.list)
	}
	c.list = append(c.list, Count{date, kind, 1})
}

// addUp makes one Count of all those of a date and behaviour.
func (c *Counts) addUp() {
	slices.SortFunc(c.list, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Kind, b.Kind))
	})
	out := c.list[:0]
	for _, x := range c.list {
		if n := len(out); n > 0 && out[n-1].Date == x.Date && out[n-1].Kind == x.Kind {
			out[n-1].Records += x.Records
		} else {
			out = append(out, x)
		}
	}
	c.list = out
}

// List returns the counts, valid until Add or Reset.
func (c *Counts) List() []Count { return c.list }

// Reset forgets all records.
func (c *Counts) Reset() { c.list = c.list[:0] }
