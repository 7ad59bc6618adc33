package verify

import (
	"bytes"

	"usertrail/internal/cell"
	"usertrail/internal/progress"
	"usertrail/internal/tally"
)

// A count adds cells up by day and by range. It is used by one goroutine.
type count struct {
	*run
	days    map[dayKey]tally.Tally
	ranges  []tally.Tally
	foreign Foreign
	cells   *progress.Counter

	sum    tally.Counter
	before tally.Tally // sum, before the row
	row    []byte
	begun  bool

	// Of the row:
	day   dayKey
	known bool // it is one of a behaviour, on the day
	at    int  // its range
}

func (r *run) newCount() *count {
	return &count{run: r, days: map[dayKey]tally.Tally{}, ranges: make([]tally.Tally, len(r.ranges)), cells: r.progress.Counter("cells")}
}

// add takes one cell, and says whether it begins a row. It keeps no reference to
// the cell's bytes.
func (c *count) add(x *cell.Cell) bool {
	first := !c.begun || !bytes.Equal(c.row, x.Row)
	if first {
		c.endRow()
		c.beginRow(x.Row)
	}
	c.sum.Add(x)
	return first
}

func (c *count) beginRow(row []byte) {
	c.row, c.begun = append(c.row[:0], row...), true
	c.day.date, c.day.kind, c.known = c.layout.ParseRow(c.schema, row)
	if len(c.ranges) > 0 {
		c.at = c.points.Of(row)
	}
}

// endRow adds up what has come of the row. Of what is not compared nothing is.
func (c *count) endRow() {
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

// merge adds what o has counted, which is then at its end.
func (c *count) merge(o *count) {
	o.endRow()
	for k, t := range o.days {
		addTo(c.days, k, t)
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
