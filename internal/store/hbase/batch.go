package hbase

import (
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// An action is one Get or Put of a Multi. Its bytes are in its load.
type action struct {
	row   []byte
	cells []byte // of a Put, as in a cell block
	n     int    // how many cells
	load  *load
}

// A load is the memory of actions of one region. The last action that is done
// releases the load.
type load struct {
	buf    []byte
	weight int64
	left   atomic.Int64
	room   *semaphore.Weighted
}

var loads = sync.Pool{New: func() any { return new(load) }}

// done records that an action of the load has its result.
func (l *load) done() {
	if l.left.Add(-1) == 0 {
		l.room.Release(l.weight)
		l.buf, l.room = l.buf[:0], nil
		loads.Put(l)
	}
}

// A batch holds actions that are under way together, and their retryState.
type batch struct {
	retryState
	actions []action
}

// A buffer collects a region's actions until there are enough for a batch.
type buffer struct {
	region  *region // nil if it is not known
	load    *load
	pending []extent
	cells   int
}

// An extent is an action whose bytes may still move.
type extent struct {
	row, rowLen, cells, end, n int
}

func (b *buffer) size() int { return len(b.load.buf) }

// A collector sorts actions by region.
type collector struct {
	t       *table
	buffers map[*region]*buffer
	near    *buffer // where the last action went
	bytes   int
	actions int
}

func newCollector(t *table) *collector {
	return &collector{t: t, buffers: map[*region]*buffer{}}
}

// buffer returns the buffer for row.
func (c *collector) buffer(row []byte) *buffer {
	if c.near != nil && c.near.region != nil && c.near.region.online() && c.near.region.Has(row) {
		return c.near
	}
	r := c.t.known(row)
	b := c.buffers[r]
	if b == nil {
		b = &buffer{region: r, load: loads.Get().(*load)}
		c.buffers[r] = b
	}
	c.near = b
	return b
}

// cut removes the actions from a buffer and returns them.
func (c *collector) cut(b *buffer) []action {
	l := b.load
	out := make([]action, len(b.pending))
	for i, x := range b.pending {
		out[i] = action{
			row:   l.buf[x.row : x.row+x.rowLen : x.row+x.rowLen],
			cells: l.buf[x.cells:x.end:x.end],
			n:     x.n, load: l,
		}
	}
	l.left.Store(int64(len(out)))
	l.weight = int64(len(l.buf)) + loadOverhead
	c.bytes -= len(l.buf)
	c.actions -= len(out)
	delete(c.buffers, b.region)
	if c.near == b {
		c.near = nil
	}
	return out
}

// loadOverhead is the memory of a load in addition to its bytes. It bounds the number
// of loads at one time.
const loadOverhead = 4 << 10

// A fullness is the size at which a Multi is full.
type fullness struct{ bytes, actions, cells int }

// fullest cuts the buffer with the most actions. If the Multi has room, it also cuts
// other buffers whose regions are on the same server. It returns nil if there is no
// buffer.
func (c *collector) fullest(full fullness) []action {
	var top *buffer
	for _, b := range c.buffers {
		if top == nil || len(b.pending) > len(top.pending) {
			top = b
		}
	}
	if top == nil {
		return nil
	}
	bytes, cells := top.size(), top.cells
	out := c.cut(top)
	if top.region == nil {
		return out
	}
	for r, b := range c.buffers {
		if r != nil && r.Server == top.region.Server && bytes+b.size() <= full.bytes && len(out)+len(b.pending) <= full.actions && cells+b.cells <= full.cells {
			bytes, cells = bytes+b.size(), cells+b.cells
			out = append(out, c.cut(b)...)
		}
	}
	return out
}
