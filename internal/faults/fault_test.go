package faults_test

import (
	"fmt"
	"testing"
	"time"

	"usertrail/internal/clustertest"
)

// A fault is something that happens to the servers of two tables while one is
// loaded and the other is read.
type fault struct {
	name   string
	flags  []string
	late   bool // one more extract begins when it has struck
	strike func(*testing.T, *clustertest.Cluster, ...*house)
}

// callTimeout is shorter than the freeze that it is to notice.
const callTimeout = 3 * time.Second

var faultsOfServers = []fault{
	{name: "RegionServer killed", strike: killRegionServer},
	{name: "RegionServer with meta killed", strike: killMetaServer, late: true},
	{name: "RegionServer frozen", strike: freezeRegionServer, flags: []string{"--call-timeout", callTimeout.String()}},
	{name: "regions split", strike: splitRegions},
	{name: "regions moved", strike: moveRegions},
	{name: "regions merged", strike: mergeRegions},
	{name: "master restarted", strike: restart("master"), late: true},
	{name: "ZooKeeper restarted", strike: restart("zk")},
	{name: "DataNode killed", strike: killDataNode},
}

// TestFaults loads a table and extracts from another, all at once and with catalog
// and answers on HDFS, and has each fault strike when all of them have got somewhere.
func TestFaults(t *testing.T) {
	r := newReference(t)
	for i, f := range faultsOfServers {
		t.Run(f.name, func(t *testing.T) {
			c := clustertest.Get(t)
			w := begin(t, r, c.HDFS(t), questions()[i%2*2:][:2:2], f.flags)
			f.strike(t, c, w.house, r.house)
			w.checkUnderWay(t)
			if f.late {
				w.questions = append(w.questions, w.questions[0])
				w.extracts = append(w.extracts, w.extract(t, len(w.extracts), f.flags...))
			}
			w.checkEnds(t)
		})
	}
	t.Run("client killed", func(t *testing.T) {
		clustertest.Get(t)
		killClients(t, r)
	})
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

// begin starts the work and returns when each process has got somewhere.
func begin(t *testing.T, r *reference, files string, questions []question, flags []string) *work {
	t.Helper()
	w := &work{house: newHouse(t, r.c, files), r: r, files: files, questions: questions}
	level(t, w.house, r.house)
	w.load = w.house.load(t, flags...)
	w.untilPut(t)
	for i := range questions {
		w.extracts = append(w.extracts, w.extract(t, i, flags...))
	}
	for _, p := range w.extracts {
		untilRead(t, p)
	}
	if w.holds(t, last(t)) {
		t.Fatal("the load was too far on before the fault could strike")
	}
	return w
}

// extract starts the extract of one of the questions.
func (w *work) extract(t *testing.T, i int, flags ...string) *process {
	t.Helper()
	return w.r.extract(t, w.questions[i], w.out(i), flags...)
}

// out is where the answer to a question comes.
func (w *work) out(i int) string { return fmt.Sprint(w.files, "/", i) }

// untilPut returns when the load has put cells.
func (w *work) untilPut(t *testing.T) {
	t.Helper()
	row := first(t)
	for !w.holds(t, row) {
		if !w.load.running() {
			t.Fatalf("the load ended before it was seen to put something: %+v", w.load.wait(t))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// enough is how many bytes a process has read when it has read rows.
const enough = 1 << 20

// untilRead returns when an extract has read rows.
func untilRead(t *testing.T, p *process) {
	t.Helper()
	for {
		n, err := p.received()
		if !p.running() {
			t.Fatalf("it ended before it was seen to read something: %+v", p.wait(t))
		}
		if err != nil {
			t.Fatal(err)
		}
		if n >= enough {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// checkUnderWay checks that the fault has struck in the midst of the work.
func (w *work) checkUnderWay(t *testing.T) {
	t.Helper()
	for _, p := range append(w.extracts, w.load) {
		if !p.running() {
			t.Errorf("%s had ended, with status %d, when the fault had struck", p.name, p.wait(t).status)
		}
	}
}

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

// level puts the regions of each house on all RegionServers in turn.
func level(t *testing.T, houses ...*house) {
	t.Helper()
	for _, h := range houses {
		servers := h.c.RegionServers()
		for i, r := range h.c.Regions(t, h.table) {
			if to := servers[i%len(servers)].Name; r.Server != to {
				h.c.Move(t, r, to)
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

func killRegionServer(t *testing.T, c *clustertest.Cluster, _ ...*house) { c.Kill(t, other(t, c)) }
func killMetaServer(t *testing.T, c *clustertest.Cluster, _ ...*house)   { c.Kill(t, c.MetaServer(t)) }
func killDataNode(t *testing.T, c *clustertest.Cluster, _ ...*house)     { c.Kill(t, "dn2") }

func freezeRegionServer(t *testing.T, c *clustertest.Cluster, _ ...*house) {
	name := other(t, c)
	c.Freeze(t, name)
	time.Sleep(callTimeout + callTimeout/2)
	c.Thaw(t, name)
}

func restart(name string) func(*testing.T, *clustertest.Cluster, ...*house) {
	return func(t *testing.T, c *clustertest.Cluster, _ ...*house) {
		c.Kill(t, name)
		c.Start(t, name)
	}
}

func splitRegions(t *testing.T, c *clustertest.Cluster, houses ...*house) {
	for _, h := range houses {
		c.Admin(t, "split", h.table, "1")
	}
}

func moveRegions(t *testing.T, c *clustertest.Cluster, houses ...*house) {
	servers := c.RegionServers()
	for _, h := range houses {
		for i, r := range c.Regions(t, h.table) {
			c.Move(t, r, servers[(i+1)%len(servers)].Name)
		}
	}
}

func mergeRegions(t *testing.T, c *clustertest.Cluster, houses ...*house) {
	for _, h := range houses {
		all := c.Regions(t, h.table)
		a, b := all[len(all)-2], all[len(all)-1]
		c.Admin(t, "merge", a.Encoded, b.Encoded)
	}
}
