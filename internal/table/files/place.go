package files

import (
	"bytes"
	"context"

	"usertrail/internal/dfs"
	"usertrail/internal/hfile"
	"usertrail/internal/manifest"
	"usertrail/internal/table"
)

// A choice says which cells of rows are asked for.
type choice struct {
	family   []byte
	from, to []byte // qualifiers; nil is open
	rows     int    // of a range only the first so many; 0 is all
	perRow   int    // of a row only the first so many columns; 0 is all
}

// choiceOf is what q asks for. Columns that lie between the prefixes are given too.
func (t *Table) choiceOf(q *table.Query) choice {
	c := choice{family: []byte(t.Manifest().Family), from: q.Columns.From, to: q.Columns.To}
	c.rows, c.perRow = q.First(t.Layout())
	if q.Exist {
		c.from, c.to, c.perRow = nil, nil, 1
	}
	return c
}

// all says whether every cell is asked for.
func (c *choice) all() bool { return c.from == nil && c.to == nil && c.rows == 0 && c.perRow == 0 }

// A place is one in one of the files. It goes through the cells of ranges, which
// ascend, that are asked for.
type place struct {
	ctx  context.Context
	name string // of the file
	it   *hfile.Iterator
	choice
	whole bool // all that lies in a range is asked for

	end     []byte
	past    bool // the cell at hand is the first one after the last range
	over    bool // after the file's last cell, or an error
	stopped error
	cells   int

	row       []byte // where cells are picked: that of the cell at hand
	column    []byte // the row's last qualifier that counted
	columns   int    // of the row that counted
	rowsFound int    // of the range that have some
}

// placeIn is before the first cell of a file.
func (t *Table) placeIn(ctx context.Context, f *manifest.File, h *hfile.Reader, asked choice, ahead int) *place {
	return &place{
		ctx: ctx, name: dfs.Join(t.Dir(), f.Name), it: h.Iterator(hfile.IterOptions{ReadAhead: ahead}),
		choice: asked, whole: asked.all(),
	}
}

// seek goes to the first cell of a range. An end of no bytes is open.
func (x *place) seek(start, end []byte) bool {
	x.end, x.rowsFound, x.row = end, 0, x.row[:0]
	switch {
	case x.over:
		return false
	case x.past && bytes.Compare(x.it.Cell().Row, start) >= 0:
	case len(start) == 0:
		x.over = !x.it.First()
	default:
		x.over = !x.it.SeekGE(start)
	}
	return x.settle()
}

// next goes to the next cell of the range.
func (x *place) next() bool {
	x.over = !x.it.Next()
	if x.cells++; x.cells&0xfff == 0 {
		x.check()
	}
	return !x.over && x.whole && x.it.SameRow() || x.settle()
}

// check ends the way through the file if its context has.
func (x *place) check() {
	if x.ctx.Err() != nil {
		x.over, x.stopped = true, context.Cause(x.ctx)
	}
}

// settle stays at the cell at hand, or goes on to the first one of the range that is
// asked for.
func (x *place) settle() bool {
	for !x.over {
		c := x.it.Cell()
		if !x.it.SameRow() {
			if x.past = len(x.end) > 0 && bytes.Compare(c.Row, x.end) >= 0; x.past {
				return false
			}
		}
		if x.whole {
			return true
		}
		if !bytes.Equal(x.row, c.Row) {
			x.row, x.columns = append(x.row[:0], c.Row...), 0
		}
		switch {
		case x.from != nil && bytes.Compare(c.Qualifier, x.from) < 0:
			x.over = !x.it.SeekColumn(x.row, x.family, x.from)
		case x.to != nil && bytes.Compare(c.Qualifier, x.to) >= 0 || !x.count(c.Qualifier):
			x.over = !x.it.NextRow()
		default:
			return x.rows == 0 || x.rowsFound <= x.rows
		}
		if x.cells++; x.cells&0xfff == 0 {
			x.check()
		}
	}
	return false
}

// count counts a column, unless it is the last one again, and says whether it is among
// the row's first so many.
func (x *place) count(qualifier []byte) bool {
	if x.columns == 0 {
		x.rowsFound++
	}
	if x.columns == 0 || !bytes.Equal(x.column, qualifier) {
		x.columns++
		x.column = append(x.column[:0], qualifier...)
	}
	return x.perRow == 0 || x.columns <= x.perRow
}

// err is what ended the way through the file before its end.
func (x *place) err() error {
	if x.stopped != nil {
		return x.stopped
	}
	return x.it.Err()
}
