package hbase

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"usertrail/internal/cell"
	"usertrail/internal/run/pipe"
	"usertrail/internal/split"
	"usertrail/internal/store/hbase/rpc"
	"usertrail/internal/store/hbase/wire"
)

// A Region is a range of a table's rows and the server that has it.
type Region struct {
	split.Region
	Name   []byte // complete
	ID     uint64 // ms of its creation
	Server string // host:port; empty if no server has the region now
	Seq    int64  // grows each time it is opened
	State  string // as in hbase:meta: OPEN, CLOSED, OPENING ...
}

// A region is one known location of a region. Only its field stale changes.
type region struct {
	Region
	stale atomic.Pointer[time.Time] // when the location was found wrong; nil if it was not
}

func (r *region) String() string { return string(r.Name) }

// online reports whether the client may try the location.
func (r *region) online() bool { return r.Server != "" && r.stale.Load() == nil }

// leave marks the location as wrong.
func (r *region) leave() {
	now := time.Now()
	r.stale.CompareAndSwap(nil, &now)
}

// A table holds the known locations of all regions of a table, from one walk over
// hbase:meta. A caller that finds a location wrong marks it, and its next attempt
// waits for a new walk. There is one walk at a time and not many in a second.
type table struct {
	c    *Client
	name string

	regions atomic.Pointer[[]*region] // ascending by start; nil before the first walk

	mu      sync.Mutex
	walking *walk
	next    time.Time // no walk begins before this time
}

// A walk is one reading of a table's part of hbase:meta. err may be read after over
// is closed.
type walk struct {
	over chan struct{}
	err  error
}

// table returns the client's table of a name, which it creates at the first call.
func (c *Client) table(name string) *table {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tables[name]
	if t == nil {
		t = &table{c: c, name: name}
		c.tables[name] = t
	}
	return t
}

// known returns the region of row, online or not. It returns nil if the known
// regions have a hole there or if no region is known.
func (t *table) known(row []byte) *region {
	p := t.regions.Load()
	if p == nil {
		return nil
	}
	all := *p
	i := sort.Search(len(all), func(i int) bool { return bytes.Compare(all[i].Start, row) > 0 })
	if i == 0 || !all[i-1].Has(row) {
		return nil
	}
	return all[i-1]
}

// locate returns the region of row. If the known location is wrong or missing,
// locate waits for a walk over hbase:meta. It fails with errNotOnline if no server
// has the region now.
func (t *table) locate(ctx context.Context, row []byte) (*region, error) {
	r := t.known(row)
	if r != nil && r.online() {
		return r, nil
	}
	if err := t.refresh(ctx); err != nil {
		return nil, err
	}
	if r = t.known(row); r == nil || !r.online() {
		return nil, errNotOnline
	}
	return r, nil
}

// refresh waits for the walk over hbase:meta that is under way. If there is none, it
// starts one.
func (t *table) refresh(ctx context.Context) error {
	t.mu.Lock()
	w := t.walking
	if w == nil {
		w = &walk{over: make(chan struct{})}
		t.walking = w
		t.c.wg.Go(func() { t.walk(w) })
	}
	t.mu.Unlock()
	select {
	case <-w.over:
		return w.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// maxWalkPause bounds the time between two walks. Callers that found a region gone
// wait for this time. A walk is slow if the region of hbase:meta itself was gone, and the pause
// must not grow with it.
const maxWalkPause = time.Second

// walk reads hbase:meta for all callers that wait. It runs in the client's context,
// so that the first caller can leave and the others still get the result. If walks
// are short, they take a fifth of the time.
func (t *table) walk(w *walk) {
	t.mu.Lock()
	wait := time.Until(t.next)
	t.mu.Unlock()
	var fresh []*region
	if wait > 0 {
		w.err = pipe.Sleep(t.c.life, wait)
	}
	began := time.Now()
	if w.err == nil {
		fresh, w.err = t.c.readMeta(t.c.life, t.name)
	}
	if w.err == nil {
		t.merge(fresh, began)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next = time.Now().Add(min(max(minBackoff/2, 4*time.Since(began)), maxWalkPause))
	t.walking = nil
	close(w.over)
}

// merge stores the regions that a walk found, unless the client has learned more
// since the walk began. A location that a server named stays if it is of a later
// opening. A location that was found wrong meanwhile stays wrong.
func (t *table) merge(fresh []*region, began time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, r := range fresh {
		old := t.known(r.Start)
		if old == nil || !bytes.Equal(old.Name, r.Name) {
			continue
		}
		switch since := old.stale.Load(); {
		case since == nil && old.Seq > r.Seq:
			fresh[i] = old
		case since != nil && since.After(began) && old.Server == r.Server && old.Seq >= r.Seq:
			r.stale.Store(since)
		}
	}
	t.regions.Store(&fresh)
}

// moved stores the new location of r, which r's old server named.
func (t *table) moved(r *region, addr string, seq int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.leave()
	p := t.regions.Load()
	if p == nil || seq <= r.Seq {
		return
	}
	i := slices.Index(*p, r)
	if i < 0 {
		return
	}
	to := &region{Region: r.Region}
	to.Server, to.Seq = addr, seq
	all := slices.Clone(*p)
	all[i] = to
	t.regions.Store(&all)
}

// checkEnabled fails with ErrDisabled if the table is disabled or being disabled.
// The regions do not show it: no server has them.
func (t *table) checkEnabled(ctx context.Context) error {
	state, err := t.c.tableState(ctx, t.name)
	if err == nil && (state == wire.TableDisabled || state == wire.TableDisabling) {
		err = fmt.Errorf("table %s is %s: %w", t.name, state, ErrDisabled)
	}
	return err
}

// Regions reads a table's regions from hbase:meta. It returns them in order and
// without a hole. While a region is being split or merged, Regions waits.
func (c *Client) Regions(ctx context.Context, tableName string) ([]Region, error) {
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	e := retryState{what: "read regions", table: tableName}
	for {
		began := time.Now()
		found, err := c.readMeta(ctx, tableName)
		if err != nil {
			return nil, err
		}
		hole := findHole(found)
		if hole == nil {
			out := make([]Region, len(found))
			for i, r := range found {
				out[i] = r.Region
			}
			return out, nil
		}
		if err := e.pauseAfter(ctx, c, time.Since(began), verdict{remedy: pause, err: hole}); err != nil {
			return nil, err
		}
	}
}

// findHole returns an error if rows are in no region of all or in two regions.
func findHole(all []*region) error {
	var end []byte
	for i, r := range all {
		if !bytes.Equal(r.Start, end) || i > 0 && len(end) == 0 {
			return fmt.Errorf("hbase:meta has no one region from %q on, but the next from %q: a split or merge under way?", end, r.Start)
		}
		end = r.End
	}
	if len(end) > 0 {
		return fmt.Errorf("hbase:meta has no region from %q on: a split or merge under way?", end)
	}
	return nil
}

var metaColumns = []wire.Column{{Family: []byte("info"), Qualifiers: [][]byte{
	[]byte("regioninfo"), []byte("server"), []byte("seqnumDuringOpen"), []byte("state"),
}}}

// metaRows is the number of rows of hbase:meta that one call reads.
const metaRows = 2000

// readMeta returns a table's regions in ascending order. It reads them with one-shot
// scans, which are safe to repeat. hbase:meta sorts by table, start and ID. Therefore
// the range from "t,," to "t ,," has the regions of t and no others.
func (c *Client) readMeta(ctx context.Context, tableName string) ([]*region, error) {
	e := retryState{what: "read hbase:meta", table: tableName}
	s := wire.Scan{
		Columns: metaColumns, CacheBlocks: true,
		Start: []byte(tableName + ",,"), Stop: []byte(tableName + " ,,"),
	}
	var m metaReader
	m.table = wire.ParseTableName(tableName)
	for {
		rows, more := m.rows, false
		param := &wire.ScanRequest{Region: []byte(wire.MetaRegion), Scan: &s, Rows: metaRows, Close: true}
		err := c.callKnown(ctx, &e, c.metaServer, "Scan", param, func(r *rpc.Response) error {
			var err error
			more, err = m.read(r)
			return err
		})
		if err != nil {
			return nil, err
		}
		if !more || m.rows == rows {
			break
		}
		s.Start, s.ExcludeStart = m.last, true
	}
	if len(m.found) == 0 {
		return nil, fmt.Errorf("table %s: %w", tableName, ErrNoTable)
	}
	return m.regions(), nil
}

// A metaReader makes regions from rows of hbase:meta.
type metaReader struct {
	table wire.TableName
	found []*region
	rows  int
	last  []byte // the row read last
	resp  wire.ScanResponse
}

// read adds the rows of a response and reports whether there may be more.
func (m *metaReader) read(r *rpc.Response) (more bool, err error) {
	if err := m.resp.Decode(r.Param); err != nil {
		return false, err
	}
	block := r.Cells
	for _, n := range m.resp.CellsPerResult {
		var cells wire.Cells
		if cells, block, err = wire.TakeCells(block, int(n)); err != nil {
			return false, err
		}
		if err := m.row(&cells); err != nil {
			return false, err
		}
	}
	return m.resp.MoreInRegion && len(m.resp.CellsPerResult) > 0, nil
}

// row adds one row of hbase:meta.
func (m *metaReader) row(cells *wire.Cells) error {
	var info wire.RegionInfo
	r := &region{}
	known := false
	for c := (cell.Cell{}); cells.Next(&c); {
		m.last = append(m.last[:0], c.Row...)
		switch string(c.Qualifier) {
		case "regioninfo":
			b, err := wire.StripPB(c.Value)
			if err == nil {
				err = info.Decode(b)
			}
			if err != nil {
				return fmt.Errorf("hbase:meta, row %q: %w", c.Row, err)
			}
			known = true
		case "server":
			r.Server = string(c.Value)
		case "seqnumDuringOpen":
			r.Seq = bigEndian(c.Value)
		case "state":
			r.State = string(c.Value)
		}
	}
	if err := cells.Err(); err != nil {
		return err
	}
	m.rows++
	if !known || info.Split || info.ReplicaID > 0 || info.Table.String() != m.table.String() {
		return nil
	}
	r.Start, r.End, r.ID, r.Name = info.Start, info.End, info.ID, bytes.Clone(m.last)
	m.found = append(m.found, r)
	return nil
}

// regions returns the regions that were found. If several have the same start, it
// returns the youngest.
func (m *metaReader) regions() []*region {
	slices.SortStableFunc(m.found, func(a, b *region) int {
		return cmp.Or(bytes.Compare(a.Start, b.Start), cmp.Compare(b.ID, a.ID))
	})
	return slices.CompactFunc(m.found, func(a, b *region) bool { return bytes.Equal(a.Start, b.Start) })
}

func bigEndian(b []byte) int64 {
	var n int64
	for _, x := range b {
		n = n<<8 | int64(x)
	}
	return n
}

// tableState reads table:state of hbase:meta.
func (c *Client) tableState(ctx context.Context, tableName string) (wire.TableState, error) {
	e := retryState{what: "read hbase:meta for the state", table: tableName}
	get := wire.Get{Columns: []wire.Column{{Family: []byte("table")}}, CacheBlocks: true}
	param := &wire.GetRequest{Region: []byte(wire.MetaRegion), Row: []byte(tableName), Fields: get.Fields()}
	var state wire.TableState
	err := c.callKnown(ctx, &e, c.metaServer, "Get", param, func(r *rpc.Response) error {
		res, err := wire.DecodeGet(r.Param, r.Cells)
		if err != nil {
			return err
		}
		var v cell.Cell
		if !res.Cells.Next(&v) {
			return ofKind(ErrNoTable, fmt.Errorf("%s", tableName))
		}
		state, err = wire.DecodeTableState(v.Value)
		return err
	})
	return state, err
}
