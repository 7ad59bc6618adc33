package segment

import (
	"cmp"
	"slices"

	"usertrail/internal/behaviour"
)

// A Count is a number of records of one date and behaviour.
type Count struct {
	Date    behaviour.Date
	Kind    int // index in the schema's kinds
	Records int64
}

// maxCounts is the length at which a list of Counts is merged, unless the row has more
// different dates and behaviours.
const maxCounts = 4 << 10

// Counts counts the records of a row by date and behaviour. The list can have several Counts
// of one date and behaviour.
type Counts struct {
	list  []Count
	limit int // length at which list is merged again
}

// Add counts one record.
func (c *Counts) Add(date behaviour.Date, kind int) {
	if n := len(c.list); n > 0 && c.list[n-1].Date == date && c.list[n-1].Kind == kind {
		c.list[n-1].Records++
		return
	}
	if len(c.list) >= max(c.limit, maxCounts) {
		c.merge()
		c.limit = 2 * len(c.list)
	}
	c.list = append(c.list, Count{date, kind, 1})
}

// merge makes one Count of all Counts of the same date and behaviour.
func (c *Counts) merge() {
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

// List returns the counts. The list is valid until the next call of Add or Reset.
func (c *Counts) List() []Count { return c.list }

// Reset removes all counts.
func (c *Counts) Reset() { c.list = c.list[:0] }
