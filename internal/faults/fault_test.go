package faults_test

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"usertrail/internal/clustertest"
)

// A fault is something that happens to servers, or to the regions of each of two
// tables, while one is loaded and the other is read.
type fault struct {
	name    string
	flags   []string
	late    bool // one more extract begins when it has struck
	servers func(*testing.T, *clustertest.Cluster)
	regions func(*testing.T, *house)
}

// callTimeout is shorter than the freeze that it is to notice.
const callTimeout = 3 * time.Second

// regionFaults strike before any server does: for a while after a recovery HBase neither
// splits nor merges a region, nor for as long as it holds recovered edits.
var regionFaults = []fault{
	{name: "region split", regions: splitRegion},
	{name: "region moved", regions: moveRegion},
	{name: "regions merged", regions: mergeRegions},
}

var serverFaults = []fault{
	{name: "RegionServer killed", servers: killRegionServer},
	{name: "RegionServer with meta killed", servers: killMetaServer, late: true},
	{name: "RegionServer frozen", servers: freezeRegionServer, flags: []string{"--call-timeout", callTimeout.String()}},
	{name: "master restarted", servers: restart("master"), late: true},
	{name: "ZooKeeper restarted", servers: restart("zk")},
	{name: "DataNode killed", servers: killDataNode},
}

// TestFaults loads a table and extracts from another, all at once and with catalog
// and answers on HDFS, and has each fault strike when all of them have got somewhere.
func TestFaults(t *testing.T) {
	var r *reference
	strike := func(i int, f fault) {
		t.Run(f.name, func(t *testing.T) {
			c := clustertest.Alone(t)
			w := begin(t, r, c.HDFS(t), questions()[i%2*2:][:2:2], f.flags)
			w.suffer(t, f)
			if f.late {
				w.questions = append(w.questions, w.questions[0])
				w.extracts = append(w.extracts, w.extract(t, len(w.extracts), f.flags...))
			}
			w.checkEnds(t)
		})
	}
	clustertest.AloneFor(t, func(c *clustertest.Cluster) {
		r = newReference(t, c)
		for i, f := range regionFaults {
			strike(i, f)
		}
	})
	for i, f := range serverFaults {
		strike(i, f)
	}
	t.Run("client killed", func(t *testing.T) {
		clustertest.Alone(t)
		killClients(t, r)
	})
	t.Run("HFiles", func(t *testing.T) { testHandovers(t, r) })
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

// begin starts the work and returns when each process has got somewhere. Each is
// stopped there before the next begins, so that no machine is too fast or too slow for
// the fault to strike in the midst of it; goOn lets it go on.
func begin(t *testing.T, r *reference, files string, questions []question, flags []string) *work {
	t.Helper()
	w := &work{house: newHouse(t, r.c, files), r: r, files: files, questions: questions}
	flags = slices.Concat(flags, slowly)
	level(t, w.house, r.house)
	for i := range questions {
		p := w.extract(t, i, flags...)
		until(t, p, (*process).received, enough)
		p.signal(t, syscall.SIGSTOP)
		w.extracts = append(w.extracts, p)
	}
	w.load = w.house.load(t, flags...)
	w.untilPut(t)
	if w.holds(t, last(t)) {
		t.Fatal("the load was too far on before the fault could strike")
	}
	return w
}

func goOn(t *testing.T, all ...*process) {
	t.Helper()
	for _, p := range all {
		p.signal(t, syscall.SIGCONT)
	}
}

// suffer has the fault strike in the midst of the work.
func (w *work) suffer(t *testing.T, f fault) {
	t.Helper()
	all := append(slices.Clone(w.extracts), w.load)
	if f.servers != nil {
		goOn(t, all...)
		f.servers(t, w.c)
		checkUnderWay(t, all...)
		return
	}
	checkUnderWay(t, all...)
	goOnInTheMidst(t, func() { f.regions(t, w.r.house) }, w.extracts...)
	goOnInTheMidst(t, func() { f.regions(t, w.house) }, w.load)
}

// goOnInTheMidst lets processes go on when a change to their table is under way, or
// is done: it takes a second or so, and they may not need much more.
func goOnInTheMidst(t *testing.T, change func(), all ...*process) {
	t.Helper()
	begun := time.AfterFunc(200*time.Millisecond, func() {
		for _, p := range all {
			_ = p.cmd.Process.Signal(syscall.SIGCONT)
		}
	})
	change()
	if begun.Stop() {
		goOn(t, all...)
	}
}

// checkUnderWay checks that processes still run.
func checkUnderWay(t *testing.T, all ...*process) {
	t.Helper()
	for _, p := range all {
		if !p.running() {
			t.Errorf("%s had ended, with status %d, when the fault had struck", p.name, p.wait(t).status)
		}
	}
}

// extract starts the extract of one of the questions, such that it takes its time.
func (w *work) extract(t *testing.T, i int, flags ...string) *process {
	t.Helper()
	return w.r.extract(t, w.questions[i], w.out(i), append(flags, "--workers", "1")...)
}

// out is where the answer to a question comes.
func (w *work) out(i int) string { return fmt.Sprint(w.files, "/", i) }

// untilPut stops the load when it has put cells. The load waits while HBase is asked
// whether it has, which may take a while.
func (w *work) untilPut(t *testing.T) {
	t.Helper()
	row := first(t)
	for n := int64(enough); ; n += enough {
		until(t, w.load, (*process).sent, n)
		w.load.signal(t, syscall.SIGSTOP)
		if w.holds(t, row) {
			return
		}
		w.load.signal(t, syscall.SIGCONT)
	}
}

// enough is how many bytes a process has read or written when it has got somewhere.
const enough = 1 << 20

// until returns when a process has moved n bytes.
func until(t *testing.T, p *process, moved func(*process) (int64, error), n int64) {
	t.Helper()
	for {
		got, err := moved(p)
		if !p.running() {
			t.Fatalf("%s ended before it was seen to get somewhere: %+v", p.name, p.wait(t))
		}
		if err != nil {
			t.Fatal(err)
		}
		if got >= n {
			return
		}
		time.Sleep(20 * time.Millisecond)
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

func killRegionServer(t *testing.T, c *clustertest.Cluster) { c.Kill(t, other(t, c)) }
func killMetaServer(t *testing.T, c *clustertest.Cluster)   { c.Kill(t, c.MetaServer(t)) }
func killDataNode(t *testing.T, c *clustertest.Cluster)     { c.Kill(t, "dn2") }

func freezeRegionServer(t *testing.T, c *clustertest.Cluster) {
	name := other(t, c)
	c.Freeze(t, name)
	time.Sleep(callTimeout + callTimeout/2)
	c.Thaw(t, name)
}

func restart(name string) func(*testing.T, *clustertest.Cluster) {
	return func(t *testing.T, c *clustertest.Cluster) {
		c.Kill(t, name)
		c.Start(t, name)
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
