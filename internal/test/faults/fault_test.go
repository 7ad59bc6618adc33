package faults_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"usertrail/internal/run/breakpoint"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// A fault disturbs servers, or changes the regions of two tables, while one table is loaded and
// the other is read.
type fault struct {
	name   string
	once   bool // runs in both modes; the others run in complete mode
	flags  []string
	late   bool                       // one more extract begins after it
	inject func(*testing.T, *work)    // disturbs a server and continues all processes
	change func(*testing.T, *fixture) // changes the regions of a table
}

// callTimeout is the --call-timeout of commands that meet a frozen server.
const callTimeout = 3 * time.Second

// regionFaults run before the faults of servers. After a recovery, HBase does not split or
// merge a region for a while, nor while the region has recovered edits.
var regionFaults = []fault{
	{name: "region split", change: splitRegion},
	{name: "region moved", change: moveRegion},
	{name: "regions merged", change: mergeRegions},
}

var serverFaults = []fault{
	{name: "RegionServer killed", inject: killServer(other), once: true},
	{name: "RegionServer with meta killed", inject: killServer(metaServer), late: true},
	{name: "RegionServer frozen", inject: freezeRegionServer, flags: []string{"--call-timeout", callTimeout.String()}},
	{name: "master restarted", inject: restart("master"), late: true},
	{name: "ZooKeeper restarted", inject: restart("zk")},
	{name: "DataNode killed", inject: killServer(dataNode)},
}

// TestFaults loads a table and extracts from another one at the same time, with catalog and
// results on HDFS. Each fault happens in the middle of all of them.
func TestFaults(t *testing.T) {
	var r *reference
	clustertest.AloneFor(t, func(c *clustertest.Cluster) {
		r = newReference(t, newFixture(t, c, t.TempDir()))
		for i, f := range regionFaults {
			t.Run(f.name, func(t *testing.T) { testFault(t, r, f, pairs(uncut)[i%2]) })
		}
	})
	t.Run("HFiles", func(t *testing.T) { testHandovers(t, r) })
	// Pieces of an extract end at the bounds of regions. The bounds do not change after this
	// point.
	t.Run("client killed", func(t *testing.T) {
		clustertest.Alone(t)
		killClients(t, r)
	})
	for i, f := range serverFaults {
		t.Run(f.name, func(t *testing.T) { testFault(t, r, f, pairs(cut)[i%2]) })
	}
}

func testFault(t *testing.T, r *reference, f fault, queries []query) {
	if !f.once {
		testkit.OnlyAll(t, "RegionServer killed, and by regions split, merged and moved while HFiles are handed over")
	}
	c := clustertest.Alone(t)
	w := begin(t, r, c.HDFS(t), queries, at(breakpoint.Fetch, 1), f.flags)
	if f.change != nil {
		w.change(t, f.change)
	} else {
		f.inject(t, w)
	}
	if f.late {
		w.queries = append(w.queries, w.queries[0])
		w.extracts = append(w.extracts, w.extract(t, len(w.extracts), nowhere, f.flags...))
	}
	w.checkEnds(t)
}

// work is a running load of a fixture, with running extracts from the reference.
type work struct {
	*fixture
	r        *reference
	files    string // the folder of catalog and results
	load     *process
	queries  []query
	extracts []*process
}

// piecemeal makes a load by puts send about twenty requests, at most two at a time to each
// of three servers. When the load has its first response, it has sent at most seven of them.
var piecemeal = []string{"--in-flight", "2", "--max-rate", "puts=48000/s"}

// begin starts the work and returns when each process has stopped. The load stops when its
// first cells are in the table, and the extracts stop at reading.
func begin(t *testing.T, r *reference, files string, queries []query, reading stop, flags []string) *work {
	t.Helper()
	for _, q := range queries {
		r.expect(t, q)
	}
	w := &work{fixture: r.another(t, files), r: r, files: files, queries: queries}
	level(t, w.fixture, r.fixture)
	for i := range queries {
		w.extracts = append(w.extracts, w.extract(t, i, reading, flags...))
	}
	w.load = w.fixture.loadUntil(t, at(breakpoint.Put, 1), slices.Concat(flags, piecemeal)...)
	for _, p := range w.all() {
		p.awaitStop(t)
	}
	w.checkPartly(t)
	return w
}

// all returns all processes of the work.
func (w *work) all() []*process { return append(slices.Clone(w.extracts), w.load) }

// checkPartly checks that HBase has some cells of the load, and not all.
func (w *work) checkPartly(t *testing.T) {
	t.Helper()
	words := w.c.Admin(t, "count", w.table)
	cells, err := strconv.ParseInt(words[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d cells are in the table when the load stops", cells, w.r.digest.Cells)
	if cells == 0 || cells >= w.r.digest.Cells {
		t.Errorf("%d of %d cells are in the table when the load stops", cells, w.r.digest.Cells)
	}
}

// goOn continues all processes.
func (w *work) goOn(t *testing.T) {
	t.Helper()
	for _, p := range w.all() {
		p.resume(t)
	}
}

// change changes the regions of both tables. The first extract continues before the
// change. The other processes continue after it, with addresses of regions that are gone.
func (w *work) change(t *testing.T, change func(*testing.T, *fixture)) {
	t.Helper()
	w.extracts[0].resume(t)
	change(t, w.r.fixture)
	change(t, w.fixture)
	for _, p := range w.all()[1:] {
		p.resume(t)
	}
}

// extract starts the extract of one of the queries. It reads one batch of users at a
// time.
func (w *work) extract(t *testing.T, i int, s stop, flags ...string) *process {
	t.Helper()
	return w.r.extractUntil(t, s, w.queries[i], w.out(i), append(flags, "--workers", "1")...)
}

// out returns the folder for the result of query i.
func (w *work) out(i int) string { return fmt.Sprint(w.files, "/", i) }

// checkEnds checks that all processes end as without a fault.
func (w *work) checkEnds(t *testing.T) {
	t.Helper()
	began := time.Now()
	w.r.checkSaid(t, w.load.done(t))
	t.Logf("the load went on for %s", time.Since(began).Round(time.Millisecond))
	for i, p := range w.extracts {
		w.r.checkResult(t, w.queries[i], p.done(t), w.out(i))
	}
	t.Logf("all went on for %s", time.Since(began).Round(time.Millisecond))
	w.r.checkLoad(t, w.fixture)
}

// level moves regions so that each RegionServer has the same number of regions of each fixture.
func level(t *testing.T, fixtures ...*fixture) {
	t.Helper()
	for _, h := range fixtures {
		servers := h.c.RegionServers()
		regions := h.c.Regions(t, h.table)
		share := (len(regions) + len(servers) - 1) / len(servers)
		has := map[string]int{}
		var homeless []clustertest.Region
		for _, r := range regions {
			if has[r.Server]++; r.Server == "" || has[r.Server] > share {
				homeless = append(homeless, r)
			}
		}
		for _, d := range servers {
			for has[d.Name] < share && len(homeless) > 0 {
				h.c.Move(t, homeless[0], d.Name)
				homeless = homeless[1:]
				has[d.Name]++
			}
		}
	}
}

// other returns a RegionServer that does not serve hbase:meta.
func other(t *testing.T, c *clustertest.Cluster) string {
	t.Helper()
	meta := c.MetaServer(t)
	for _, d := range c.RegionServers() {
		if d.Name != meta {
			return d.Name
		}
	}
	t.Fatal("there is only one RegionServer")
	return ""
}

func metaServer(t *testing.T, c *clustertest.Cluster) string { return c.MetaServer(t) }

func dataNode(*testing.T, *clustertest.Cluster) string { return "dn2" }

// killServer returns a fault that kills a server and continues the processes. Their next
// calls to the server fail.
func killServer(which func(*testing.T, *clustertest.Cluster) string) func(*testing.T, *work) {
	return func(t *testing.T, w *work) {
		w.c.Kill(t, which(t, w.c))
		w.goOn(t)
	}
}

func freezeRegionServer(t *testing.T, w *work) {
	freeze(t, w.c, func() { w.goOn(t) })
}

// freeze freezes a RegionServer, calls goOn, and thaws the server when a client has closed its connection
// because it had no response. If this takes longer than ZooKeeper's session, the server ends itself, and the
// processes must also succeed.
func freeze(t *testing.T, c *clustertest.Cluster, goOn func()) {
	t.Helper()
	name := other(t, c)
	c.Freeze(t, name)
	goOn()
	c.AwaitHangUp(t, name)
	c.Thaw(t, name)
}

// restart returns a fault that kills a server, continues the processes, and restarts the
// server.
func restart(name string) func(*testing.T, *work) {
	return func(t *testing.T, w *work) {
		w.c.Kill(t, name)
		w.goOn(t)
		w.c.Start(t, name)
	}
}

// splitRegion splits the region in which a scan ends.
func splitRegion(t *testing.T, h *fixture) { h.c.Admin(t, "split", h.table, "c") }

// moveRegion moves the region in which a scan ends.
func moveRegion(t *testing.T, h *fixture) {
	all := h.c.Regions(t, h.table)
	r := all[len(all)-1]
	for _, d := range h.c.RegionServers() {
		if d.Name != r.Server {
			h.c.Move(t, r, d.Name)
			return
		}
	}
}

// mergeRegions merges two regions that were never split.
func mergeRegions(t *testing.T, h *fixture) {
	all := h.c.Regions(t, h.table)
	i := slices.IndexFunc(all, func(r clustertest.Region) bool { return r.Start == "5" })
	h.c.Admin(t, "merge", all[i].Encoded, all[i+1].Encoded)
}
