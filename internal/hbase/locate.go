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
	"usertrail/internal/hbase/rpc"
	"usertrail/internal/hbase/wire"
	"usertrail/internal/pipe"
	"usertrail/internal/split"
)

// A Region is a range of a table's rows and the server that has it.
type Region struct {
	split.Region
	Name   []byte // complete
	ID     uint64 // ms of its creation
	Server string // host:port; empty is on no server now
	Seq    int64  // grows each time it is opened
	State  string // as meta says: OPEN, CLOSED, OPENING ...
}

// A region is one location of a region, as it was learned. Only stale changes.
type region struct {
	Region
	stale atomic.Int64 // unix ns since when it is known to be wrong; 0 is not
}

func (r *region) String() string { return string(r.Name) }

// online says whether the location may be tried.
func (r *region) online() bool { return r.Server != "" && r.stale.Load() == 0 }

// leave says that the location is wrong.
func (r *region) leave() { r.stale.CompareAndSwap(0, time.Now().UnixNano()) }

// A table is what is known of where a table's regions are: all of them, from one
// walk over meta. Who finds a location wrong says so and, at the next attempt,
// waits for a new walk, of which there is one at a time and not many a second.
type table struct {
	c    *Client
	name string

	regions atomic.Pointer[[]*region] // ascending by start; nil before the first walk

	mu      sync.Mutex
	walking *walk
	next    time.Time // no walk begins before
}

// A walk is one reading of a table's part of meta. err may be read once over is
// closed.
type walk struct {
	over chan struct{}
	err  error
}

// table returns the one table of its name.
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

// known returns the region of row, online or not; nil where there is a hole or
// nothing is known.
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

// locate returns the region of row, after another walk over meta if what is known
// is wrong. It fails with errNotOnline if no server has the region now.
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

// refresh waits for a walk over meta, the one that is under way or another.
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

// maxWalkPause bounds the time between two walks: those who have found a region gone
// wait for it, and a walk in which meta itself was gone took as long as that.
const maxWalkPause = time.Second

// walk reads meta on behalf of all who wait, so that the first of them can leave
// without taking the others' answer away. A fifth of the time goes into walks, where
// they are short.
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

// merge takes over what a walk found, except where more was learned since it
// began: a location that a server gave stays if it is of a later opening, and one
// that was found wrong meanwhile stays wrong.
func (t *table) merge(fresh []*region, began time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, r := range fresh {
		old := t.known(r.Start)
		if old == nil || !bytes.Equal(old.Name, r.Name) {
			continue
		}
		switch since := old.stale.Load(); {
		case since == 0 && old.Seq > r.Seq:
			fresh[i] = old
		case since > began.UnixNano() && old.Server == r.Server && old.Seq >= r.Seq:
			r.stale.Store(since)
		}
	}
	t.regions.Store(&fresh)
}

// moved takes over a location that the server before named.
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

// checkEnabled fails with ErrDisabled if the table is not enabled, which its
// regions do not say: they are just not there.
func (t *table) checkEnabled(ctx context.Context) error {
	state, err := t.c.tableState(ctx, t.name)
	if err == nil && (state == wire.TableDisabled || state == wire.TableDisabling) {
		err = fmt.Errorf("table %s is %s: %w", t.name, state, ErrDisabled)
	}
	return err
}

// Regions reads a table's regions from meta: in order, without a hole. While one
// is being split or merged it waits.
func (c *Client) Regions(ctx context.Context, tableName string) ([]Region, error) {
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	e := effort{what: "read regions", table: tableName}
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

// findHole says where rows are in no region of all, or in two.
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

// metaRows is how many rows of meta one call reads.
const metaRows = 2000

// readMeta reads a table's regions, ascending, in one-shot scans: they may be
// repeated safely. Meta sorts by table, start and ID, so that from "t,," to
// "t ,," are the regions of t and no others.
func (c *Client) readMeta(ctx context.Context, tableName string) ([]*region, error) {
	e := effort{what: "read hbase:meta", table: tableName}
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

// A metaReader puts rows of meta together to regions.
type metaReader struct {
	table wire.TableName
	found []*region
	rows  int
	last  []byte // the row read last
	resp  wire.ScanResponse
}

// read takes an answer and says whether there may be more.
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

// row takes one row of meta over.
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

// regions are what was found, one for each start: the youngest.
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

// tableState reads table:state of meta.
func (c *Client) tableState(ctx context.Context, tableName string) (wire.TableState, error) {
	e := effort{what: "read hbase:meta for the state", table: tableName}
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
