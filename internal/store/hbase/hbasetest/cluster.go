package hbasetest

import (
	"bytes"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"usertrail/internal/cell"
	"usertrail/internal/store/hbase/wire"
)

// Config describes the behaviour of a cluster without faults. The zero Config has one region
// server and no limits.
type Config struct {
	Servers        int
	MaxResponse    int           // bytes of cells in a response; above it, a Multi's other actions are refused and a Scan's response ends
	PartialCells   int           // cells of one Result if a scan accepts partial rows
	UnsureParts    bool          // a Result of PartialCells cells that ends its row is also marked as a part, like a server that does not look further
	HeartbeatEvery int           // every n-th response of a scan that accepts heartbeats is empty
	SayMoved       bool          // the response for a moved region has its new server
	Disk           Disk          // holds the files for bulk loads; by default the files of AddFile
	Lease          time.Duration // a scanner that is not called for this time is closed; 0 is a minute
	OldSnapshots   bool          // the master takes no snapshot by a procedure, like one of HBase 2.5
	InMemory       bool          // connections are buffers in memory, for tests in a bubble of package synctest
}

// A Cluster is a fake cluster of region servers and a master. The first region server has
// hbase:meta. Its methods may be called while calls run.
type Cluster struct {
	t      testing.TB
	cfg    Config
	ended  sync.WaitGroup
	stop   chan struct{}
	master *server

	mu            sync.Mutex
	listeners     map[string]*Listener // by address, if they are in memory
	settled       *sync.Cond           // of mu: a connection has ended, and its calls
	dialed        int                  // connections by Dial
	served        int                  // connections that have ended
	hooks         Hooks
	counts        Counts
	servers       []*server
	tables        map[string]*table
	snapshots     map[string]*snapshot
	procedures    []*snapshot             // the procedure of ID n takes the snapshot n-1
	failSnapshots int                     // number of the next snapshots that fail
	masterAhead   time.Duration           // how far the master's clock is ahead of the test's clock
	files         map[string][]*cell.Cell // by path, with one family each
	staging       map[string]bool         // directories, by token
	lastID        uint64                  // ID of the last region
	lastSeq       int64                   // number of the last opening
	scanID        uint64
	scans         int // number of responses of scans so far
}

// A server is one region server, or the master.
type server struct {
	index    int
	name     wire.ServerName
	listener net.Listener
	peers    map[*Peer]bool
	dead     bool
	frozen   chan struct{} // closed by Thaw; nil if the server is not frozen
	scanners map[uint64]*scanner
}

// A table has its cells, in order, and its regions.
type table struct {
	name     wire.TableName
	schema   []byte // TableSchema
	families []string
	state    wire.TableState
	cells    []*cell.Cell
	regions  []*region
}

// A region is a range of a table's rows on one server.
type region struct {
	info   wire.RegionInfo
	name   string  // complete
	server *server // nil if no server has it
	seq    int64
}

// New starts a cluster that lives as long as the test.
func New(t testing.TB, cfg Config) *Cluster {
	t.Helper()
	c := &Cluster{
		t:         t,
		cfg:       cfg,
		stop:      make(chan struct{}),
		listeners: map[string]*Listener{},
		tables:    map[string]*table{},
		snapshots: map[string]*snapshot{},
		files:     map[string][]*cell.Cell{}, staging: map[string]bool{},
		lastID: 1_700_000_000_000,
		counts: Counts{Calls: map[string]int{}, RowGets: map[string]int{}, RowPuts: map[string]int{}},
	}
	c.settled = sync.NewCond(&c.mu)
	for i := range max(1, cfg.Servers) {
		c.servers = append(c.servers, c.listen(i))
	}
	c.master = c.listen(-1)
	t.Cleanup(c.close)
	return c
}

// listen starts a server.
func (c *Cluster) listen(index int) *server {
	c.t.Helper()
	l, err := c.newListener()
	if err != nil {
		c.t.Fatal(err)
	}
	addr := l.Addr().(*net.TCPAddr)
	s := &server{
		index:    index,
		name:     wire.ServerName{Host: addr.IP.String(), Port: uint32(addr.Port), StartCode: 1},
		listener: l,
		peers:    map[*Peer]bool{},
		scanners: map[uint64]*scanner{},
	}
	c.ended.Go(func() { c.accept(s) })
	return s
}

func (c *Cluster) close() {
	close(c.stop)
	c.mu.Lock()
	for _, s := range append(c.servers, c.master) {
		s.kill()
	}
	c.mu.Unlock()
	c.ended.Wait()
}

func (s *server) kill() {
	s.dead = true
	s.listener.Close()
	for p := range s.peers {
		p.Close()
	}
}

// MasterAddr returns the master's host:port. The master is also a ClientMetaService.
func (c *Cluster) MasterAddr() string { return c.master.name.Addr() }

// MetaAddr returns the host:port of the server that has hbase:meta.
func (c *Cluster) MetaAddr() string { return c.Addr(0) }

// Addr returns the host:port of region server i.
func (c *Cluster) Addr(i int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.servers[i].name.Addr()
}

// CreateTable creates a table and assigns its regions to the servers round-robin.
func (c *Cluster) CreateTable(name string, families []string, splits ...[]byte) {
	schema := wire.TableSchema{Name: wire.ParseTableName(name)}
	for _, f := range families {
		schema.Families = append(schema.Families, wire.FamilySchema{Name: f, Attributes: map[string]string{"VERSIONS": "1"}})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.createTable(schema.Name, schema.Append(nil), families, splits)
}

func (c *Cluster) createTable(name wire.TableName, schema []byte, families []string, splits [][]byte) {
	t := &table{name: name, schema: schema, families: families}
	var start []byte
	for _, end := range append(slices.Clone(splits), nil) {
		r := c.newRegion(name, start, end)
		r.server = c.servers[len(t.regions)%len(c.servers)]
		t.regions = append(t.regions, r)
		start = end
	}
	c.tables[name.String()] = t
}

func (c *Cluster) newRegion(name wire.TableName, start, end []byte) *region {
	c.lastID++
	c.lastSeq++
	info := wire.RegionInfo{ID: c.lastID, Table: name, Start: start, End: end}
	return &region{info: info, name: string(info.Name()), seq: c.lastSeq}
}

// Load adds cells to a table without the protocol.
func (c *Cluster) Load(name string, cells ...*cell.Cell) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tables[name]
	for _, x := range cells {
		t.put(x.Clone())
	}
}

// Cells returns all cells of a table, in order.
func (c *Cluster) Cells(name string) []*cell.Cell {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.tables[name].cells)
}

// Delete removes the cells of a table for which gone returns true, without the
// protocol.
func (c *Cluster) Delete(name string, gone func(*cell.Cell) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tables[name]
	t.cells = slices.DeleteFunc(t.cells, gone)
}

// Alter sets an attribute of a table's only family.
func (c *Cluster) Alter(name, key, value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tables[name]
	schema := wire.TableSchema{Name: t.name, Families: []wire.FamilySchema{{Name: t.families[0], Attributes: map[string]string{"VERSIONS": "1", key: value}}}}
	t.schema = schema.Append(nil)
}

// put adds x or replaces the cell of the same key.
func (t *table) put(x *cell.Cell) {
	i, found := slices.BinarySearchFunc(t.cells, x, cell.Compare)
	if found {
		t.cells[i] = x
		return
	}
	t.cells = slices.Insert(t.cells, i, x)
}

// Regions returns the complete names of a table's regions, in order.
func (c *Cluster) Regions(name string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, r := range c.tables[name].regions {
		names = append(names, r.name)
	}
	return names
}

// Move moves the region of a row to another server; -1 is no server.
func (c *Cluster) Move(name string, row []byte, to int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, r := c.tables[name].find(row)
	c.move(r, to)
}

func (c *Cluster) move(r *region, to int) {
	c.lastSeq++
	r.server, r.seq = nil, c.lastSeq
	if to >= 0 {
		r.server = c.servers[to]
	}
}

// Split splits the region of a row before the row, unless the region begins with it. The
// upper half moves to the next server.
func (c *Cluster) Split(name string, row []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tables[name]
	i, r := t.find(row)
	if bytes.Equal(r.info.Start, row) {
		return
	}
	low, high := c.newRegion(t.name, r.info.Start, row), c.newRegion(t.name, row, r.info.End)
	low.server, high.server = r.server, r.server
	if r.server != nil {
		high.server = c.servers[(r.server.index+1)%len(c.servers)]
	}
	t.regions = slices.Replace(t.regions, i, i+1, low, high)
}

// Merge merges the region of a row with the next one, if there is one.
func (c *Cluster) Merge(name string, row []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tables[name]
	i, r := t.find(row)
	if i+1 == len(t.regions) {
		return
	}
	one := c.newRegion(t.name, r.info.Start, t.regions[i+1].info.End)
	one.server = r.server
	t.regions = slices.Replace(t.regions, i, i+2, one)
}

// find returns the region of a row and its index.
func (t *table) find(row []byte) (int, *region) {
	i, _ := slices.BinarySearchFunc(t.regions, row, func(r *region, row []byte) int {
		if bytes.Compare(r.info.Start, row) <= 0 {
			return -1
		}
		return 1
	})
	return i - 1, t.regions[i-1]
}

// Kill stops a server without a message. hbase:meta still names it, until Reassign.
func (c *Cluster) Kill(i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.servers[i].kill()
}

// Reassign moves all regions of one server to another.
func (c *Cluster) Reassign(from, to int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.tables {
		for _, r := range t.regions {
			if r.server == c.servers[from] {
				c.move(r, to)
			}
		}
	}
}

// Restart starts a killed server at another address, with no scanners open.
func (c *Cluster) Restart(i int) {
	fresh := c.listen(i)
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.servers[i]
	fresh.name.StartCode = old.name.StartCode + 1
	c.servers[i] = fresh
	for _, t := range c.tables {
		for _, r := range t.regions {
			if r.server == old {
				c.move(r, i)
			}
		}
	}
}

// Freeze makes a server accept connections and requests and respond to none.
func (c *Cluster) Freeze(i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.servers[i].frozen == nil {
		c.servers[i].frozen = make(chan struct{})
	}
}

// Thaw ends Freeze. The server then executes the requests that it received meanwhile.
func (c *Cluster) Thaw(i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ch := c.servers[i].frozen; ch != nil {
		close(ch)
		c.servers[i].frozen = nil
	}
}

// Disconnect closes all connections to a server.
func (c *Cluster) Disconnect(i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for p := range c.servers[i].peers {
		p.Close()
	}
}

// Scanners returns the number of open scanners.
func (c *Cluster) Scanners() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, s := range c.servers {
		n += len(s.scanners)
	}
	return n
}

// Counts are the numbers of executed calls, whether or not the response arrived.
type Counts struct {
	Connections int
	Calls       map[string]int // by method, also those that failed
	RowGets     map[string]int // by row
	RowPuts     map[string]int // by row
}

// Counts returns the counts so far.
func (c *Cluster) Counts() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.counts
	n.Calls, n.RowGets, n.RowPuts = maps.Clone(n.Calls), maps.Clone(n.RowGets), maps.Clone(n.RowPuts)
	return n
}

// gate returns a channel that is closed when the frozen server thaws. It returns nil
// if the server is not frozen.
func (c *Cluster) gate(s *server) chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return s.frozen
}

// exception returns a ServerError of a class below org.apache.hadoop.hbase.
func exception(class, format string, args ...any) *wire.ServerError {
	return &wire.ServerError{Class: "org.apache.hadoop.hbase." + class, Message: fmt.Sprintf(format, args...)}
}

// NotServing returns the exception for a region that the server does not have.
func NotServing(region string) *wire.ServerError {
	return exception("NotServingRegionException", "%s is not online on this server", strconv.Quote(region))
}

// Moved returns the exception for a region that has moved to a server of the cluster.
func (c *Cluster) Moved(to int) *wire.ServerError {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.moved(c.servers[to])
}

func (c *Cluster) moved(to *server) *wire.ServerError {
	e := exception("exceptions.RegionMovedException", "Region moved to: hostname=%s port=%d startCode=%d. As of locationSeqNum=%d.", to.name.Host, to.name.Port, to.name.StartCode, c.lastSeq)
	e.Host, e.Port = to.name.Host, int(to.name.Port)
	return e
}
