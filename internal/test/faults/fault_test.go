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

// A fault is something that happens to servers, or to the regions of each of two
// tables, while one is loaded and the other is read.
type fault struct {
	name   string
	once   bool // strikes in both modes; the others strike in complete mode
	flags  []string
	late   bool                     // one more extract begins after it
	strike func(*testing.T, *work)  // harms a server and continues all processes
	change func(*testing.T, *house) // changes the regions of a table
}

// callTimeout is shorter than the freeze that it is to notice.
const callTimeout = 3 * time.Second

// regionFaults strike before any server does: for a while after a recovery HBase neither
// splits nor merges a region, nor for as long as it holds recovered edits.
var regionFaults = []fault{
	{name: "region split", change: splitRegion},
	{name: "region moved", change: moveRegion},
	{name: "regions merged", change: mergeRegions},
}

var serverFaults = []fault{
	{name: "RegionServer killed", strike: killServer(other), once: true},
	{name: "RegionServer with meta killed", strike: killServer(metaServer), late: true},
	{name: "RegionServer frozen", strike: freezeRegionServer, flags: []string{"--call-timeout", callTimeout.String()}},
	{name: "master restarted", strike: restart("master"), late: true},
	{name: "ZooKeeper restarted", strike: restart("zk")},
	{name: "DataNode killed", strike: killServer(dataNode)},
}

// TestFaults loads a table and extracts from another, all at once and with catalog
// and answers on HDFS, and has each fault strike in the midst of all of them.
func TestFaults(t *testing.T) {
	var r *reference
	clustertest.AloneFor(t, func(c *clustertest.Cluster) {
		r = newReference(t, c)
		for i, f := range regionFaults {
			t.Run(f.name, func(t *testing.T) { testFault(t, r, f, pairs(uncut)[i%2]) })
		}
	})
	t.Run("HFiles", func(t *testing.T) { testHandovers(t, r) })
	// Pieces of an extract end at the bounds of regions. No bound changes from here on.
	t.Run("client killed", func(t *testing.T) {
		clustertest.Alone(t)
		killClients(t, r)
	})
	for i, f := range serverFaults {
		t.Run(f.name, func(t *testing.T) { testFault(t, r, f, pairs(cut)[i%2]) })
	}
}

func testFault(t *testing.T, r *reference, f fault, questions []question) {
	if !f.once {
		testkit.OnlyAll(t, "RegionServer killed, and by regions split, merged and moved while HFiles are handed over")
	}
	c := clustertest.Alone(t)
	w := begin(t, r, c.HDFS(t), questions, at(breakpoint.Fetch, 1), f.flags)
	if f.change != nil {
		w.change(t, f.change)
	} else {
		f.strike(t, w)
	}
	if f.late {
		w.questions = append(w.questions, w.questions[0])
		w.extracts = append(w.extracts, w.extract(t, len(w.extracts), nowhere, f.flags...))
	}
	w.checkEnds(t)
}

// work is a load of a house and extracts from the reference, under way.
type work struct {
	*house
	r         *reference
	files     string // where catalog and answers are
	load      *process
	questions []question
	extracts  []*process
}

// piecemeal makes a load by puts send about twenty requests, at most two at a time to each
// of three servers. When the load has its first answer, it has sent at most seven of them.
var piecemeal = []string{"--in-flight", "2", "--max-rate", "puts=48000/s"}

// begin starts the work and returns when each process has stopped. The load stops when its
// first cells are in the table, and the extracts stop at reading.
func begin(t *testing.T, r *reference, files string, questions []question, reading stop, flags []string) *work {
	t.Helper()
	for _, q := range questions {
		r.answer(t, q)
	}
	w := &work{house: newHouse(t, r.c, files), r: r, files: files, questions: questions}
	level(t, w.house, r.house)
	for i := range questions {
		w.extracts = append(w.extracts, w.extract(t, i, reading, flags...))
	}
	w.load = w.house.loadUntil(t, at(breakpoint.Put, 1), slices.Concat(flags, piecemeal)...)
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
func (w *work) change(t *testing.T, change func(*testing.T, *house)) {
	t.Helper()
	w.extracts[0].resume(t)
	change(t, w.r.house)
	change(t, w.house)
	for _, p := range w.all()[1:] {
		p.resume(t)
	}
}

// extract starts the extract of one of the questions. It reads one batch of users at a
// time.
func (w *work) extract(t *testing.T, i int, s stop, flags ...string) *process {
	t.Helper()
	return w.r.extractUntil(t, s, w.questions[i], w.out(i), append(flags, "--workers", "1")...)
}

// out is where the answer to a question comes.
func (w *work) out(i int) string { return fmt.Sprint(w.files, "/", i) }

// checkEnds checks that all end as if nothing had happened.
func (w *work) checkEnds(t *testing.T) {
	t.Helper()
	began := time.Now()
	w.r.checkSaid(t, w.load.done(t))
	t.Logf("the load went on for %s", time.Since(began).Round(time.Millisecond))
	for i, p := range w.extracts {
		w.r.checkAnswer(t, w.questions[i], p.done(t), w.out(i))
	}
	t.Logf("all went on for %s", time.Since(began).Round(time.Millisecond))
	w.r.checkLoad(t, w.house)
}

// level gives each RegionServer the same number of regions of each house.
func level(t *testing.T, houses ...*house) {
	t.Helper()
	for _, h := range houses {
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

// other is a RegionServer that does not have hbase:meta.
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

// killServer kills a server and continues the processes. Their next calls to the server
// fail.
func killServer(which func(*testing.T, *clustertest.Cluster) string) func(*testing.T, *work) {
	return func(t *testing.T, w *work) {
		w.c.Kill(t, which(t, w.c))
		w.goOn(t)
	}
}

func freezeRegionServer(t *testing.T, w *work) {
	freeze(t, w.c, func() { w.goOn(t) })
}

// freeze freezes a RegionServer for longer than a call waits for its answer, and calls goOn
// meanwhile. The duration belongs to the fault, and no check depends on it. If the freeze
// takes longer than ZooKeeper's session, the server ends itself, and the processes must
// succeed as well.
func freeze(t *testing.T, c *clustertest.Cluster, goOn func()) {
	t.Helper()
	name := other(t, c)
	c.Freeze(t, name)
	goOn()
	time.Sleep(callTimeout + callTimeout/2)
	c.Thaw(t, name)
}

// restart kills a server, continues the processes, and starts the server again.
func restart(name string) func(*testing.T, *work) {
	return func(t *testing.T, w *work) {
		w.c.Kill(t, name)
		w.goOn(t)
		w.c.Start(t, name)
	}
}

// splitRegion cuts the region in which a scan ends.
func splitRegion(t *testing.T, h *house) { h.c.Admin(t, "split", h.table, "c") }

// moveRegion moves the region in which a scan ends.
func moveRegion(t *testing.T, h *house) {
	all := h.c.Regions(t, h.table)
	r := all[len(all)-1]
	for _, d := range h.c.RegionServers() {
		if d.Name != r.Server {
			h.c.Move(t, r, d.Name)
			return
		}
	}
}

// mergeRegions joins two regions that were never split.
func mergeRegions(t *testing.T, h *house) {
	all := h.c.Regions(t, h.table)
	i := slices.IndexFunc(all, func(r clustertest.Region) bool { return r.Start == "5" })
	h.c.Admin(t, "merge", all[i].Encoded, all[i+1].Encoded)
}
