package hbase

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"usertrail/internal/cell"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/hbase/wire"
)

// PutOptions are the options of a Putter. Zero fields mean the defaults.
type PutOptions struct {
	Durability wire.Durability // the table's
	MaxBytes   int             // of cells that are not confirmed yet; 64 MiB
}

// A Putter writes cells to a table in large Multis, several at a time on each server.
// Many goroutines may use it.
//
// The Putter collects cells by region. It sends the cells of a region when they have
// MaxRequestBytes, or when MaxBytes are full. It sends failed cells again. Therefore a
// cell may arrive twice, and two cells of one row may arrive in another order than the
// caller put them. Timestamps decide which cell counts, so each cell must have its own
// timestamp and not HBase's LATEST.
type Putter struct {
	m     *multi
	done  func()
	full  fullness
	limit atomic.Int64 // of actions of one Multi, after one had too many; 0 is none
	most  int          // most bytes that are collected

	mu     sync.Mutex
	col    *collector
	closed bool
}

// NewPutter returns a Putter. Its errors come from Put and Flush.
func (c *Client) NewPutter(tableName string, o PutOptions) (*Putter, error) {
	if o.MaxBytes <= 0 {
		o.MaxBytes = 64 << 20
	}
	ctx, done, err := c.begin(context.Background())
	if err != nil {
		return nil, err
	}
	t := c.table(tableName)
	share := c.cfg.Limiter.Share()
	m := newMulti(ctx, t, "put", multiPuts, int64(o.MaxBytes/2))
	p := &Putter{m: m, done: done, most: o.MaxBytes / 2, col: newCollector(t)}
	p.full = fullness{
		bytes: within(c.cfg.MaxRequestBytes, share.Bytes), actions: c.cfg.MaxRequestActions, cells: within(math.MaxInt, share.Puts),
	}
	m.appendAction = func(dst []byte, index uint32, a *action) []byte {
		return wire.AppendPutAction(dst, index, a.row, a.n, o.Durability)
	}
	m.process = func([]actionResult) error { breakpoint.Reach(breakpoint.Put); return nil }
	m.divide = p.divided
	return p, nil
}

// Put adds a copy of a cell. Consecutive cells of one row are sent together. Put waits
// while MaxBytes are full. It returns the first error of any earlier cell. After an
// error the Putter sends no more cells. The same is true if ctx ends while Put waits.
func (p *Putter) Put(ctx context.Context, c *cell.Cell) error {
	if err := checkPut(c); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.err(); err != nil {
		return err
	}
	if p.m.t.regions.Load() == nil {
		if _, err := p.m.t.locate(ctx, c.Row); err != nil && err != errNotOnline {
			return err
		}
	}
	if err := p.makeRoom(ctx, c.Row); err != nil {
		return err
	}
	p.col.addCell(c)
	return nil
}

// divided halves the Multis from now on.
func (p *Putter) divided(together int) int {
	n := max(together/2, 1)
	if limit := int(p.limit.Load()); limit > 0 {
		n = min(n, limit)
	}
	p.limit.Store(int64(n))
	return n
}

// limits returns the size at which a Multi is full.
func (p *Putter) limits() fullness {
	full := p.full
	full.actions = within(full.actions, p.limit.Load())
	return full
}

// makeRoom sends a full buffer. It does so between two rows, unless the last row makes
// the buffer larger than four Multis.
func (p *Putter) makeRoom(ctx context.Context, row []byte) error {
	b := p.col.buffer(row)
	same := b.endsWith(row)
	full := p.limits()
	switch {
	case same && b.size() < 4*full.bytes:
	case b.size() >= full.bytes || len(b.pending) >= full.actions || b.cells >= full.cells:
		return p.dispatch(ctx, p.col.cut(b))
	case p.col.bytes >= p.most:
		return p.dispatch(ctx, p.col.fullest(full))
	}
	return nil
}

// endsWith reports whether the last action is of row.
func (b *buffer) endsWith(row []byte) bool {
	if len(b.pending) == 0 {
		return false
	}
	x := &b.pending[len(b.pending)-1]
	return string(b.load.buf[x.row:x.row+x.rowLen]) == string(row)
}

func checkPut(c *cell.Cell) error {
	switch {
	case c.Type != cell.Put:
		return fmt.Errorf("hbase: put of %s: its type is not Put", c)
	case c.Time < 0 || c.Time == math.MaxInt64:
		return fmt.Errorf("hbase: put of %s: no timestamp of its own", c)
	case len(c.Family) == 0 || len(c.Family) > math.MaxInt8:
		return fmt.Errorf("hbase: put of %s: a family of %d bytes; it must have 1 to %d", c, len(c.Family), math.MaxInt8)
	}
	return checkRow(c.Row)
}

// addCell adds a cell to the row added last, or as a new Put.
func (c *collector) addCell(v *cell.Cell) {
	b := c.buffer(v.Row)
	same := b.endsWith(v.Row)
	b.cells++
	at := len(b.load.buf)
	b.load.buf = wire.AppendCell(b.load.buf, v)
	end := len(b.load.buf)
	c.bytes += end - at
	if same {
		x := &b.pending[len(b.pending)-1]
		x.end, x.n = end, x.n+1
		return
	}
	// In a cell block the row follows three int32 and an int16.
	b.pending = append(b.pending, extent{row: at + 14, rowLen: len(v.Row), cells: at, end: end, n: 1})
	c.actions++
}

// dispatch starts actions. Actions that have been cut cannot return to their buffer,
// so a failure ends the Putter.
func (p *Putter) dispatch(ctx context.Context, actions []action) error {
	err := p.m.dispatch(ctx, actions)
	if err != nil {
		p.m.cancel(err)
	}
	return err
}

// err returns the error that ended the Putter.
func (p *Putter) err() error {
	if p.closed {
		return ErrClosed
	}
	return context.Cause(p.m.ctx)
}

// Flush sends the collected cells. It returns when all cells are confirmed or have failed.
func (p *Putter) Flush(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.err(); err != nil {
		return err
	}
	for p.col.actions > 0 {
		if err := p.dispatch(ctx, p.col.fullest(p.limits())); err != nil {
			return err
		}
	}
	return p.m.wait(ctx)
}

// Close drops the cells that have not been flushed, and returns an error if there are
// any. If an error ended the Putter before, Close returns that error.
func (p *Putter) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	err := p.err()
	p.closed = true
	unsent, under := p.col.actions, p.m.underway() // before cancel, which ends batches without a response
	p.m.cancel(ErrClosed)
	_ = p.m.wait(context.Background())
	p.done()
	if err == nil && (unsent > 0 || under > 0) {
		err = errors.New("hbase: put: closed before everything was flushed")
	}
	return err
}
