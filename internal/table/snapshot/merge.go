package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
	"usertrail/internal/format/layout"
)

// A source is a position in one of the files of a region.
type source struct {
	*file
	it    *hfile.Iterator
	cell  *cell.Cell
	begun bool
	over  bool // after its last cell
}

// seek moves forwards to the first row that is not before start, and reports whether this row is before
// end. An empty end means no limit.
func (s *source) seek(start, end []byte) (bool, error) {
	if bytes.Compare(start, s.from) < 0 {
		start = s.from
	}
	switch {
	case s.over || s.begun && bytes.Compare(s.cell.Row, start) >= 0:
	case len(start) == 0:
		s.over = !s.it.First()
	default:
		s.over = !s.it.SeekGE(start)
	}
	s.begun = true
	return s.within(end), s.err()
}

// next goes to the next cell. It returns false if there is none.
func (s *source) next() (bool, error) {
	s.over = !s.it.Next()
	return !s.over, s.err()
}

// seekColumn goes to the first cell that is not before a column of the current row. This may be
// a cell of a later row.
func (s *source) seekColumn(row, family, qualifier []byte) (bool, error) {
	s.over = !s.it.SeekColumn(row, family, qualifier)
	return !s.over, s.err()
}

// nextRow goes to the first cell of the next row.
func (s *source) nextRow() (bool, error) {
	s.over = !s.it.NextRow()
	return !s.over, s.err()
}

// within reports whether the current cell of the source is before end and in its half.
func (s *source) within(end []byte) bool {
	if s.over || len(s.to) > 0 && bytes.Compare(s.cell.Row, s.to) >= 0 {
		return false
	}
	return len(end) == 0 || bytes.Compare(s.cell.Row, end) < 0
}

func (s *source) err() error {
	if err := s.it.Err(); err != nil {
		return fmt.Errorf("read %s: %w", s.name, err)
	}
	return nil
}

// before orders sources by their cells. If the cells are equal, the cell that was written later comes
// first. All cells of a bulk-loaded file were written when the file was loaded.
func (s *source) before(o *source) bool {
	if c := cell.Compare(s.cell, o.cell); c != 0 {
		return c < 0
	}
	return cmp.Or(cmp.Compare(s.written(), o.written()), cmp.Compare(s.rank, o.rank)) > 0
}

func (s *source) written() int64 {
	if s.bulk {
		return s.seq
	}
	return int64(s.cell.MVCC)
}

// A choice selects the visible cells that are requested.
type choice struct {
	columns layout.Columns
	rows    int // most rows of a range, the first ones; 0 is all
	perRow  int // most columns of a row, the first ones; 0 is all
}

// A merge iterates over the visible and requested cells of a region, in order, range after range. If only
// one file has a row, the row costs one comparison, at its first cell.
type merge struct {
	sources []source
	choice
	visibility visibility

	heap  []*source // sources within the range; the source of the first cell is on top
	end   []byte
	alone bool // no other source has the top's row
	row   []byte
	done  bool // no more cells of the row are requested
	cells int

	move         move // how to continue from the top's cell
	columnsGiven int  // columns of the row that were returned
	rowsGiven    int  // rows of the range that were returned
	family       []byte
}

// A move is the way in which the top source leaves its cell.
type move int

// The moves.
const (
	stay move = iota
	toNext
	toFrom     // the first requested column
	toRowAfter // no more cells of this row are requested
)

func newMerge(files []*file, f family, asked choice) *merge {
	m := &merge{choice: asked, visibility: visibility{family: f}, sources: make([]source, len(files))}
	ahead := min(readAhead, max(leastAhead, allAhead/max(len(files), 1)))
	for i, f := range files {
		it := f.h.Iterator(hfile.IterOptions{ReadAhead: ahead})
		m.sources[i] = source{file: f, it: it, cell: it.Cell()}
	}
	return m
}

// seek goes to a range that comes after the last one.
func (m *merge) seek(start, end []byte) error {
	m.heap, m.end, m.move, m.rowsGiven = m.heap[:0], end, stay, 0
	for i := range m.sources {
		s := &m.sources[i]
		in, err := s.seek(start, end)
		if err != nil {
			return err
		}
		if in {
			m.heap = append(m.heap, s)
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
	m.row = m.row[:0]
	if len(m.heap) > 0 {
		m.arrive()
	}
	return nil
}

// next returns the next visible and requested cell of the range, or nil at the end of the range. The cell is
// valid until the next call.
func (m *merge) next(ctx context.Context) (*cell.Cell, error) {
	for {
		if m.move != stay {
			if err := m.step(); err != nil {
				return nil, err
			}
		}
		if len(m.heap) == 0 {
			return nil, nil
		}
		if m.cells++; m.cells&0xfff == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c := m.heap[0].cell
		if m.move = m.after(c); m.move != toNext || c.Type == cell.Put && !m.asked(c.Qualifier) {
			continue
		}
		seen, err := m.visibility.sees(c)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", m.heap[0].name, err)
		}
		if !seen {
			continue
		}
		if m.visibility.met == 1 && !m.count() {
			continue
		}
		return c, nil
	}
}

// after returns where to continue after c. Deletes of a whole row come before its columns, so no
// delete is skipped.
func (m *merge) after(c *cell.Cell) move {
	switch from, to := m.columns.From, m.columns.To; {
	case m.done || to != nil && bytes.Compare(c.Qualifier, to) >= 0:
		return toRowAfter
	case from != nil && len(c.Qualifier) > 0 && bytes.Compare(c.Qualifier, from) < 0:
		return toFrom
	}
	return toNext
}

// count counts a visible column, and reports whether the column is within the limits. At
// the first column beyond a limit it leaves the row or the range.
func (m *merge) count() bool {
	if m.columnsGiven == 0 {
		m.rowsGiven++
	}
	m.columnsGiven++
	if m.rows > 0 && m.rowsGiven > m.rows {
		m.heap = m.heap[:0]
		return false
	}
	m.done = m.perRow > 0 && m.columnsGiven > m.perRow
	return !m.done
}

// leaveRow skips the rest of the row of the last cell.
func (m *merge) leaveRow() { m.done, m.move = true, toRowAfter }

// asked reports whether a column is requested.
func (m *merge) asked(qualifier []byte) bool {
	if m.columns.From != nil && bytes.Compare(qualifier, m.columns.From) < 0 {
		return false
	}
	if m.columns.Prefixes == nil {
		return true
	}
	for _, p := range m.columns.Prefixes {
		if bytes.HasPrefix(qualifier, p) {
			return true
		}
	}
	return false
}

// step continues from the top's cell.
func (m *merge) step() error {
	if len(m.heap) == 0 {
		return nil
	}
	top := m.heap[0]
	ok, err := m.leave(top)
	if err != nil {
		return err
	}
	if ok && top.it.SameRow() {
		if !m.alone {
			m.sink(0)
			m.arrive()
		}
		return nil
	}
	if !ok || !top.within(m.end) {
		last := len(m.heap) - 1
		m.heap[0] = m.heap[last]
		m.heap = m.heap[:last]
	}
	if len(m.heap) > 0 {
		m.sink(0)
		m.arrive()
	}
	return nil
}

// leave moves top to its next cell, in the way of m.move.
func (m *merge) leave(top *source) (bool, error) {
	switch m.move {
	case toFrom:
		m.family = append(m.family[:0], top.cell.Family...)
		return top.seekColumn(m.row, m.family, m.columns.From)
	case toRowAfter:
		return top.nextRow()
	}
	return top.next()
}

// arrive begins a row if the top's cell is of another row than the last cell.
func (m *merge) arrive() {
	c := m.heap[0].cell
	if len(m.row) == 0 || !bytes.Equal(m.row, c.Row) {
		m.row, m.done, m.columnsGiven = append(m.row[:0], c.Row...), false, 0
		m.visibility.begin()
	}
	m.alone = true
	for i := 1; i <= 2 && i < len(m.heap); i++ {
		m.alone = m.alone && !bytes.Equal(m.heap[i].cell.Row, c.Row)
	}
}

// sink moves the source at i of the heap down to its place.
func (m *merge) sink(i int) {
	h := m.heap
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if h[child].before(h[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
