package verify

import (
	"bytes"

	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/run/progress"
	"usertrail/internal/tally"
)

// A count sums up cells by day and by range. Only one goroutine may use it.
type count struct {
	*run
	days    map[dayKey]tally.Tally
	ranges  []tally.Tally
	foreign Foreign
	cells   *progress.Counter

	teller  layout.Teller
	dayRows bool // the key of a row has the day and behaviour
	sum     tally.Counter
	before  tally.Tally // sum before the stretch
	row     []byte
	begun   bool
	at      int // the range of the current row

	// Fields of the stretch, which is a run of adjacent cells of one row, day and behaviour:
	day   dayKey
	known bool // the behaviour is known
}

func (r *run) newCount() *count {
	return &count{run: r, days: map[dayKey]tally.Tally{}, ranges: make([]tally.Tally, len(r.ranges)), cells: r.progress.Counter("cells"), teller: r.layout.Teller(r.schema), dayRows: r.layout.Traits().DayRows}
}

// add adds one cell, and reports whether it begins a stretch. It keeps no reference to the
// cell's bytes.
func (c *count) add(x *cell.Cell) bool {
	row := !c.begun || !bytes.Equal(c.row, x.Row)
	first := row
	if row || !c.dayRows {
		rec, known := c.teller.Tell(x)
		day := dayKey{rec.Date, int32(rec.Kind)}
		if first = row || known != c.known || known && day != c.day; first {
			c.end()
			c.day, c.known = day, known
		}
	}
	if row {
		c.row, c.begun = append(c.row[:0], x.Row...), true
		if len(c.ranges) > 0 {
			c.at = c.points.Of(x.Row)
		}
	}
	c.sum.Add(x)
	return first
}

// end adds the sums of the stretch, unless the stretch is not compared.
func (c *count) end() {
	added := c.sum.Since(c.before)
	c.before = c.sum.Tally
	switch {
	case added.Cells == 0:
		return
	case !c.known:
		c.foreign.add(Foreign{added.Cells, c.row})
		return
	case !c.wants(c.day):
		return
	}
	c.cells.Add(added.Cells)
	addTo(c.days, c.day, added)
	if len(c.ranges) > 0 {
		c.ranges[c.at].Add(added)
	}
}

// merge ends o and adds its sums. The caller must not use o again.
func (c *count) merge(o *count) {
	o.end()
	if len(c.days) == 0 {
		c.days = o.days
	} else {
		for k, t := range o.days {
			addTo(c.days, k, t)
		}
	}
	for i, t := range o.ranges {
		c.ranges[i].Add(t)
	}
	c.foreign.add(o.foreign)
}

func addTo(days map[dayKey]tally.Tally, k dayKey, t tally.Tally) {
	t.Add(days[k])
	days[k] = t
}

func (f *Foreign) add(o Foreign) {
	if o.Cells > 0 && (f.Cells == 0 || bytes.Compare(o.First, f.First) < 0) {
		f.First = bytes.Clone(o.First)
	}
	f.Cells += o.Cells
}
