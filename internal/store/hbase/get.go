package hbase

import (
	"context"
	"fmt"
	"iter"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"usertrail/internal/cell"
	"usertrail/internal/run/ratelimit"
	"usertrail/internal/store/hbase/rpc"
	"usertrail/internal/store/hbase/wire"
)

// GetOptions select the cells of each row, and how to request them.
type GetOptions struct {
	wire.Get
	Batch int // most Gets in one Multi; 400
}

const (
	// maxRow is the length of the longest row, in bytes.
	maxRow = 32767

	defaultBatch = 400

	// firstBatch is the number of Gets in a Multi while the size of rows is not known.
	// After that, Gets aims at responses of responseTarget bytes.
	firstBatch     = 32
	responseTarget = 2 << 20

	// getRoom bounds the rows that are under way, in bytes. collectRoom and collectRows
	// bound the rows that wait for other rows of their region.
	getRoom     = 4 << 20
	collectRoom = 2 << 20
	collectRows = 16 << 10
)

func checkRow(row []byte) error {
	if len(row) == 0 || len(row) > maxRow {
		return fmt.Errorf("hbase: a row of %d bytes; it must have 1 to %d", len(row), maxRow)
	}
	return nil
}

// Get returns the cells of one row, in order. If there is no such row, it returns none.
func (c *Client) Get(ctx context.Context, tableName string, row []byte, g wire.Get) ([]cell.Cell, error) {
	if err := checkRow(row); err != nil {
		return nil, err
	}
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	t := c.table(tableName)
	e := retryState{what: fmt.Sprintf("get of %q", row), table: tableName}
	var out []cell.Cell
	err = t.call(ctx, &e, row, func(r *region, s *server) (timing, error) {
		if err := c.cfg.Limiter.Wait(ctx, ratelimit.Amount{Gets: 1, Bytes: int64(len(row))}); err != nil {
			return timing{}, err
		}
		resp, f, err := s.call(ctx, request{method: "Get", param: &wire.GetRequest{Region: r.Name, Row: row, Fields: g.Fields()}})
		if err != nil {
			return f, err
		}
		s.window.grow()
		defer resp.Release()
		c.cfg.Limiter.Owe(ratelimit.Amount{Bytes: int64(len(resp.Param) + len(resp.Cells))})
		out, err = copyCells(resp)
		c.came.Add(int64(len(out)))
		return f, err
	})
	return out, err
}

// copyCells copies a Get's response out of its buffer.
func copyCells(resp *rpc.Response) ([]cell.Cell, error) {
	own := append([]byte(nil), resp.Cells...)
	res, err := wire.DecodeGet(resp.Param, own)
	if err != nil {
		return nil, err
	}
	out := make([]cell.Cell, res.Cells.Len())
	for i := range out {
		res.Cells.Next(&out[i])
	}
	return out, res.Cells.Err()
}

// call makes a call to the region of row until it has a response or the budget is
// used up.
func (t *table) call(ctx context.Context, e *retryState, row []byte, do func(*region, *server) (timing, error)) error {
	for {
		f := timing{sent: time.Now()}
		r, err := t.locate(ctx, row)
		if err != nil && err != errNotOnline {
			return err
		}
		var s *server
		if err == nil {
			s = t.c.server(r.Server, wire.ClientService)
			e.region, e.server = r.String(), s.addr
			f, err = do(r, s)
		} else {
			f.took = time.Since(f.sent)
		}
		if err == nil {
			return nil
		}
		if ended := context.Cause(ctx); ended != nil {
			return ended
		}
		if err := t.recover(ctx, e, r, s, f.took, err); err != nil {
			return err
		}
	}
}

// recover applies the remedy for the failure of one call to a region, and pauses.
func (t *table) recover(ctx context.Context, e *retryState, r *region, s *server, took time.Duration, err error) error {
	v := judge(err)
	switch v.remedy {
	case relocate, check, lost, reconnect:
		if r != nil && v.addr != "" {
			t.moved(r, v.addr, v.seq)
		} else if r != nil {
			r.leave()
		}
	}
	if err := e.pauseAfter(ctx, t.c, took, v); err != nil {
		return err
	}
	if e.moved >= 2 && v.remedy == relocate {
		return t.checkEnabled(ctx)
	}
	return nil
}

// Gets requests many rows, in Multis of up to o.Batch rows, several at a time on each
// server. It calls emit for all cells that exist. The cells of a row follow each other
// in order. Each row of rows is emitted once. The rows have no guaranteed order. One
// goroutine at a time calls emit, and none after Gets has returned. A cell is valid
// until emit returns. Gets copies the bytes of a row before it reads the next row from rows. If
// some rows of a Multi fail, Gets requests only those rows again.
func (c *Client) Gets(ctx context.Context, tableName string, rows iter.Seq[[]byte], o GetOptions, emit func(*cell.Cell) error) error {
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	t := c.table(tableName)
	g := &gets{client: c, emit: emit, most: o.Batch, target: responseTarget}
	if g.most <= 0 {
		g.most = defaultBatch
	}
	share := c.cfg.Limiter.Share()
	g.most, g.target = within(g.most, share.Gets), within(g.target, share.Bytes)
	fields := o.Fields()
	m := newMulti(ctx, t, "get", multiGets, getRoom)
	m.appendAction = func(dst []byte, index uint32, a *action) []byte {
		return wire.AppendGetAction(dst, index, a.row, fields)
	}
	m.process = func(all []actionResult) error { return g.process(m.ctx, all) }
	m.divide = g.divided
	err = g.hand(m, rows)
	if err != nil {
		m.cancel(err)
	}
	ended := m.wait(context.Background())
	m.cancel(nil)
	return ended
}

// within returns the smaller of n and bound. A bound of 0 is no bound.
func within(n int, bound int64) int {
	if bound == 0 {
		return n
	}
	return int(min(int64(n), bound))
}

// gets is one call of Gets.
type gets struct {
	client *Client
	emit   func(*cell.Cell) error
	most   int
	target int // bytes of a response

	rows, bytes atomic.Int64 // received so far
	limit       atomic.Int64 // most rows of a Multi after a response was too large; 0 is no limit

	mu      sync.Mutex // of emit
	c       cell.Cell
	stopped bool // emit does not want more
}

// batch returns the number of rows to request in one Multi.
func (g *gets) batch() int {
	n := int64(g.most)
	rows, bytes := g.rows.Load(), g.bytes.Load()
	if rows == 0 {
		n = min(n, firstBatch)
	} else {
		n = min(n, rows*int64(g.target)/max(bytes, 1))
	}
	if limit := g.limit.Load(); limit > 0 {
		n = min(n, limit)
	}
	return int(max(n, 1))
}

// divided halves the batches from now on.
func (g *gets) divided(together int) int {
	n := max(min(g.batch(), together/2), 1)
	g.limit.Store(int64(n))
	return n
}

// hand cuts rows into batches, each of one region if possible, and dispatches them.
func (g *gets) hand(m *multi, rows iter.Seq[[]byte]) error {
	col := newCollector(m.t)
	first := true
	for row := range rows {
		if err := checkRow(row); err != nil {
			return err
		}
		if first {
			if _, err := m.t.locate(m.ctx, row); err != nil && err != errNotOnline {
				return err
			}
			first = false
		}
		b := col.addRow(row)
		var err error
		switch {
		case len(b.pending) >= g.batch():
			err = m.dispatch(m.ctx, col.cut(b))
		case col.bytes >= collectRoom || col.actions >= collectRows:
			err = m.dispatch(m.ctx, col.fullest(fullness{collectRoom, g.batch(), math.MaxInt}))
		}
		if err != nil {
			return err
		}
	}
	for col.actions > 0 {
		if err := m.dispatch(m.ctx, col.fullest(fullness{collectRoom, g.batch(), math.MaxInt})); err != nil {
			return err
		}
	}
	return nil
}

// addRow adds a Get.
func (c *collector) addRow(row []byte) *buffer {
	b := c.buffer(row)
	at := len(b.load.buf)
	b.load.buf = append(b.load.buf, row...)
	b.pending = append(b.pending, extent{row: at, rowLen: len(row), cells: at, end: at})
	c.bytes += len(row)
	c.actions++
	return b
}

// process calls emit for the cells of whole rows.
func (g *gets) process(ctx context.Context, all []actionResult) error {
	bytes, cells := 0, 0
	for i := range all {
		bytes += all[i].Cells.Size()
		cells += all[i].Cells.Len()
	}
	g.client.came.Add(int64(cells))
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for i := range all {
		for all[i].Cells.Next(&g.c) {
			if err := g.emit(&g.c); err != nil {
				g.stopped = true
				return err
			}
		}
		if err := all[i].Cells.Err(); err != nil {
			return fmt.Errorf("hbase: get of %q: %w", all[i].row, err)
		}
	}
	g.rows.Add(int64(len(all)))
	g.bytes.Add(int64(bytes))
	return nil
}
