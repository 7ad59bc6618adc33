package files

import (
	"bytes"
	"context"

	"usertrail/internal/format/hfile"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// A choice selects the cells of rows that are requested.
type choice struct {
	family   []byte
	from, to []byte // qualifiers; nil is open
	rows     int    // the number of first rows of each range; 0 means all
	perRow   int    // the number of first columns of each row; 0 means all
}

// choiceOf returns the choice of q. It includes columns between q's prefixes.
func (t *Table) choiceOf(q *table.Query) choice {
	c := choice{family: []byte(t.Manifest().Family), from: q.Columns.From, to: q.Columns.To}
	c.rows, c.perRow = q.First(t.Layout())
	if q.Exist {
		c.from, c.to, c.perRow = nil, nil, 1
	}
	return c
}

// all reports whether every cell is requested.
func (c *choice) all() bool { return c.from == nil && c.to == nil && c.rows == 0 && c.perRow == 0 }

// A place is a position in one file. It iterates over the requested cells of ranges, which
// must ascend.
type place struct {
	apart bool // its file is Apart
	ctx   context.Context
	name  string // of the file
	it    *hfile.Iterator
	choice
	whole bool // every cell of a range is requested

	end     []byte
	past    bool // the current cell is the first cell after the last range
	over    bool // after the file's last cell, or an error
	stopped error
	cells   int

	row       []byte // the row of the current cell, if not every cell is requested
	column    []byte // the last qualifier of the row that was counted
	columns   int    // the columns of the row that were counted
	rowsFound int    // the rows of the range with requested cells
}

// placeIn returns a place before the first cell of a file.
func (t *Table) placeIn(ctx context.Context, f *manifest.File, h *hfile.Reader, asked choice, ahead int) *place {
	return &place{
		ctx: ctx, name: dfs.Join(t.Dir(), f.Name), it: h.Iterator(hfile.IterOptions{ReadAhead: ahead}),
		choice: asked, whole: asked.all(), apart: f.Apart,
	}
}

// seek moves to the first cell of a range. An empty end is open.
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

// next moves to the next cell of the range.
func (x *place) next() bool {
	x.over = !x.it.Next()
	if x.cells++; x.cells&0xfff == 0 {
		x.check()
	}
	return !x.over && x.whole && x.it.SameRow() || x.settle()
}

// check ends the iteration if its context has ended.
func (x *place) check() {
	if x.ctx.Err() != nil {
		x.over, x.stopped = true, context.Cause(x.ctx)
	}
}

// settle moves to the first requested cell of the range from the current cell on.
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

// count counts a column, unless it is the column that was counted last. It reports whether the
// column is among the requested first columns of the row.
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

// err returns the error that ended the iteration, if any.
func (x *place) err() error {
	if x.stopped != nil {
		return x.stopped
	}
	return x.it.Err()
}
