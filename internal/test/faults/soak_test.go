package faults_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

var soaked = flag.Int("soak", 0, "nights of TestNights; 0 is eight into a table of files, and in complete mode five into HBase")

// fiveNights are the troubles of TestNightsOfHBase without -soak. The killed load writes
// HFiles; TestFaults kills a load by puts.
var fiveNights = []trouble{killed, late, full, deadServer, killedRead}

// TestNightsOfFiles loads and extracts a series of nights with a table of files. Each night
// has its own trouble.
func TestNightsOfFiles(t *testing.T) {
	n := *soaked
	if n == 0 {
		n = 8
	}
	prepare(t)
	disk := newDisk(t)
	troubles := []trouble{calm, late, changed, empty, killed, full, killedRead}
	if disk.only {
		troubles = slices.DeleteFunc(troubles, func(x trouble) bool { return x == full })
	}
	s := newSoak(t, n, troubles)
	s.address = filepath.Join(disk.dir, "trails")
	s.fill, s.empty = disk.fill, disk.empty
	s.run(t)
}

// TestNightsOfHBase does the same with a table in HBase, by HFiles and by puts alternately.
func TestNightsOfHBase(t *testing.T) {
	// HDFS keeps the lock of a dead process for a minute, so few loads are killed.
	n, kills, troubles := *soaked, 2, []trouble{calm, late, changed, empty, killed, full, deadServer, killedRead}
	if n == 0 {
		testkit.OnlyAll(t, "TestNightsOfFiles, and TestFaults for tables of HBase")
		n, kills, troubles = len(fiveNights), 1, fiveNights
	}
	prepare(t)
	c := clustertest.Alone(t)
	s := newSoak(t, n, troubles)
	s.kills = kills
	catalog := c.HDFS(t)
	table := c.Create(t, "d", "split=2", "split=4", "split=6", "split=8")
	s.address = "hbase://" + c.ZooKeeper() + "/" + table
	s.where = fmt.Sprintf("{path: %q, catalog: %q}", s.address, catalog+"/catalog")
	s.env = []string{"HADOOP_CONF_DIR=" + c.ConfDir()}
	s.modes = []string{"hfile", "put"}
	path := catalog[strings.Index(catalog, "/test/"):]
	s.fill = func(t *testing.T) { c.Admin(t, "space", path, "1") }
	s.empty = func(t *testing.T) { c.Admin(t, "space", path, "0") }
	s.cluster = c
	s.run(t)
}

// A soak is a month of nights with troubles, and the table that they are loaded into.
type soak struct {
	*month
	dir     string // working directory
	logs    string // the files delivered so far
	address string
	where   string // the table in the job, and its address
	env     []string
	modes   []string // of loads, alternately
	cluster *clustertest.Cluster
	fill    func(*testing.T) // fills the disk
	empty   func(*testing.T)
	kills   int // number of killed loads in a night of killed loads; 0 kills one at each step

	dice   *rand.Rand
	counts counts                       // sum over all loads that reported counts
	killed bool                         // one of them was killed before it could
	missed map[behaviour.Date]*delivery // late files, by the date on which they arrive
	there  map[behaviour.Date]int64     // number of delivered good records, by their date
	differ []string
}

// counts are the summed counts of a load's last line.
type counts struct{ read, loaded, quarantined, cells int64 }

func (c *counts) add(r result) {
	c.read, c.loaded, c.quarantined, c.cells = c.read+r.Read, c.loaded+r.Loaded, c.quarantined+r.Quarantined, c.cells+r.Cells
}

func newSoak(t *testing.T, nights int, troubles []trouble) *soak {
	t.Helper()
	s := &soak{
		month: newMonth(t, nights, troubles), dir: t.TempDir(), dice: rand.New(rand.NewPCG(7, 7)), modes: []string{"auto"},
		missed: map[behaviour.Date]*delivery{}, there: map[behaviour.Date]int64{},
	}
	s.logs = filepath.Join(s.dir, "logs")
	if err := os.Mkdir(s.logs, 0o755); err != nil {
		t.Fatal(err)
	}
	return s
}

// run runs all nights and reports the outcome.
func (s *soak) run(t *testing.T) {
	if s.where == "" {
		s.where = fmt.Sprintf("%q", s.address)
	}
	testkit.WriteFile(t, filepath.Join(s.dir, "usertrail.yaml"), nightJob(s.logs, s.where))
	fmt.Printf("\n%s: %d nights into %s\n", t.Name(), len(s.nights), s.address)
	fmt.Printf("%-10s  %-17s  %-18s  %-10s  %7s  %7s  %4s  %7s  %7s\n", "night", "trouble", "loads", "extracts", "read", "loaded", "bad", "events", "seconds")
	for i, x := range s.nights {
		s.night(t, i, x)
	}
	s.comeLate(t)
	s.compare(t)
	verdict := "the table equals the table of an undisturbed month"
	if len(s.differ) > 0 {
		verdict = "IT DIFFERS:\n  " + strings.Join(s.differ, "\n  ")
		t.Errorf("%s", verdict)
	}
	fmt.Printf("verdict: %s\n", verdict)
}

// differs records a difference from the expected result.
func (s *soak) differs(format string, args ...any) {
	s.differ = append(s.differ, fmt.Sprintf(format, args...))
}

// expect records exit statuses of a night that are not among the expected ones.
func (s *soak) expect(x *night, what string, got int, want ...int) {
	if !slices.Contains(want, got) {
		s.differs("%s, %s: %s ended with status %d, want one of %v", x.date, x.trouble, what, got, want)
	}
}

// night delivers a night's files, loads them and extracts the day.
func (s *soak) night(t *testing.T, i int, x *night) {
	began := time.Now()
	before := s.counts
	s.bring(t, x)
	statuses := s.load(t, x, mode(s.modes[i%len(s.modes)]))
	events, asked := s.ask(t, x)
	if want := s.there[x.date]; events != want {
		s.differs("%s, %s: %d behaviours come out of the day, want %d", x.date, x.trouble, events, want)
	}
	now := s.counts
	fmt.Printf("%-10s  %-17s  %-18s  %-10s  %7d  %7d  %4d  %7d  %7.1f\n", x.date, x.trouble, brief(statuses), brief(asked),
		now.read-before.read, now.loaded-before.loaded, now.quarantined-before.quarantined, events, time.Since(began).Seconds())
}

// bring delivers the files of this night.
func (s *soak) bring(t *testing.T, x *night) {
	for _, d := range x.files {
		switch {
		case x.trouble == late && d == x.file("play"):
			s.missed[x.date+1] = d
		case x.trouble == changed && d == x.file("visit"+more):
		default:
			s.deliver(t, d)
		}
	}
	if d := s.missed[x.date]; d != nil {
		s.deliver(t, d)
		delete(s.missed, x.date)
	}
}

func (s *soak) deliver(t *testing.T, d *delivery) {
	s.month.deliver(t, d, s.logs)
	for date, n := range d.good {
		s.there[date] += n
	}
}

// betweenTries is the pause after a load that found the table locked.
const betweenTries = 3 * time.Second

// A mode is a value of --mode.
type mode string

// steps returns the steps of a load in their order, until the table has the load.
func (s *soak) steps(m mode) []string {
	switch {
	case m == "put":
		return []string{breakpoint.Begun, breakpoint.Batch, breakpoint.Put, breakpoint.Commit, breakpoint.Ledger}
	case s.cluster != nil:
		return []string{breakpoint.Begun, breakpoint.Batch, breakpoint.Segment, breakpoint.Handover, breakpoint.Handed, breakpoint.Commit, breakpoint.Ledger}
	}
	return []string{breakpoint.Begun, breakpoint.Batch, breakpoint.Segment, breakpoint.Commit, breakpoint.Ledger}
}

// step returns a random step.
func (s *soak) step(m mode) stop {
	all := s.steps(m)
	return at(all[s.dice.IntN(len(all))], 1)
}

// killedAt returns random steps at which the loads of a night are killed, in their order. A
// load that continues after a killed one reaches the later steps.
func (s *soak) killedAt(m mode) []string {
	all := append(s.steps(m), breakpoint.Loaded)
	for s.kills > 0 && len(all) > s.kills {
		i := s.dice.IntN(len(all))
		all = slices.Delete(all, i, i+1)
	}
	return all
}

// loading starts the load of a night, and of the night before, for late files.
func (s *soak) loading(t *testing.T, x *night, m mode, until stop) *process {
	args := []string{"--quiet", "--mode", string(m), "--from", (x.date - 1).String(), "--to", x.date.String()}
	return start(t, s.dir, append(until.env(), s.env...), "bulkload", args...)
}

// loaded waits for a load. It runs the load again if the table seemed locked or the error was
// temporary.
func (s *soak) loaded(t *testing.T, x *night, p *process, m mode) (statuses []int) {
	for end := time.Now().Add(deadline); ; {
		r := p.wait(t)
		statuses = append(statuses, r.status)
		s.counts.add(r)
		if r.status != exitNotNow || time.Now().After(end) {
			return statuses
		}
		time.Sleep(betweenTries)
		p = s.loading(t, x, m, nowhere)
	}
}

// reached returns a load that has stopped at a step. It also returns the statuses of earlier
// loads that failed because a killed load still held the table.
func (s *soak) reached(t *testing.T, x *night, m mode, step string) (p *process, refused []int) {
	for end := time.Now().Add(deadline); ; {
		p := s.loading(t, x, m, at(step, 1))
		if testkit.AwaitStop(p.cmd.Process.Pid, p.ended) {
			return p, refused
		}
		r := p.wait(t)
		refused = append(refused, r.status)
		if r.status != exitNotNow || time.Now().After(end) {
			t.Fatalf("%s, %s: a load ended with status %d before it reached the step %s: %s", x.date, x.trouble, r.status, step, r.stderr)
		}
		time.Sleep(betweenTries)
	}
}

// load loads a night with its trouble.
func (s *soak) load(t *testing.T, x *night, m mode) (statuses []int) {
	again := func() { statuses = append(statuses, s.loaded(t, x, s.loading(t, x, m, nowhere), m)...) }
	last := func() int { return statuses[len(statuses)-1] }
	switch x.trouble {
	case killed:
		for _, step := range s.killedAt(m) {
			p, refused := s.reached(t, x, m, step)
			p.crash(t)
			statuses = append(append(statuses, refused...), killedStatus)
			s.killed = true
		}
	case full:
		statuses = s.loadWithoutRoom(t, x, m)
	case deadServer:
		return s.loadAgainstDeadServer(t, x, m)
	}
	again()
	switch x.trouble {
	case empty:
		s.expect(x, "the load", last(), nothing)
	case killed, full: // the load may have been complete before that
		s.expect(x, "the load", last(), 0, nothing)
	default:
		s.expect(x, "the load", last(), 0)
	}
	if x.trouble == changed {
		s.append(t, x, "visit", s.logs)
		r := s.loading(t, x, m, nowhere).wait(t)
		statuses = append(statuses, r.status)
		s.expect(x, "the load of a changed file", r.status, 1)
		if !strings.Contains(r.Error, x.name("visit")) || !strings.Contains(r.Error, "changed after it was loaded") {
			s.differs("%s, %s: the error says %q", x.date, x.trouble, r.Error)
		}
		s.counts.add(r)
		s.month.deliver(t, x.file("visit"), s.logs)
		s.deliver(t, x.file("visit"+more))
		again()
		s.expect(x, "the load of the right file", last(), 0)
	}
	return statuses
}

// loadWithoutRoom loads while the disk is full. It then loads again until the disk is full in the
// middle of the load.
func (s *soak) loadWithoutRoom(t *testing.T, x *night, m mode) (statuses []int) {
	s.fill(t)
	r := s.loading(t, x, m, nowhere).wait(t)
	s.empty(t)
	statuses = append(statuses, r.status)
	s.expect(x, "the load without room", r.status, 1, 75)
	s.counts.add(r)
	p := s.loading(t, x, m, s.step(m))
	p.awaitStop(t)
	s.fill(t)
	p.resume(t)
	r = p.wait(t)
	s.empty(t)
	statuses = append(statuses, r.status)
	s.expect(x, "the load whose room ended", r.status, 0, 1, 75)
	s.counts.add(r)
	return statuses
}

// loadAgainstDeadServer kills a RegionServer in the middle of a load.
func (s *soak) loadAgainstDeadServer(t *testing.T, x *night, m mode) []int {
	servers := s.cluster.RegionServers()
	name := servers[s.dice.IntN(len(servers))].Name
	p := s.loading(t, x, m, s.step(m))
	p.awaitStop(t)
	s.cluster.Kill(t, name)
	p.resume(t)
	statuses := s.loaded(t, x, p, m)
	s.cluster.Start(t, name)
	s.expect(x, "the load", statuses[len(statuses)-1], 0)
	return statuses
}

// ask extracts a night's day, and returns the number of events.
func (s *soak) ask(t *testing.T, x *night) (events int64, statuses []int) {
	out := filepath.Join(s.dir, "day-"+x.date.String())
	args := []string{"--quiet", "--users", "all", "--active", "any", "--types", "play,order,visit,login",
		"--from", x.date.String(), "--to", x.date.String(), "--out", out}
	if x.trouble == killedRead {
		for _, step := range []string{breakpoint.Fetch, breakpoint.Part, breakpoint.Publish, breakpoint.Published} {
			p := start(t, s.dir, append(at(step, 1).env(), s.env...), "extract", append(args, "--overwrite")...)
			p.awaitStop(t)
			p.crash(t)
			statuses = append(statuses, killedStatus)
		}
		args = append(args, "--overwrite")
	}
	r := start(t, s.dir, s.env, "extract", args...).wait(t)
	s.expect(x, "the extract", r.status, 0)
	return r.Events, append(statuses, r.status)
}

// comeLate loads the late files of the last night.
func (s *soak) comeLate(t *testing.T) {
	if len(s.missed) == 0 {
		return
	}
	x := &night{date: s.nights[len(s.nights)-1].date + 1, trouble: late}
	s.bring(t, x)
	s.expect(x, "the load after the last night", slices.Max(s.loaded(t, x, s.loading(t, x, "auto", nowhere), "auto")), 0)
}

// compare compares the table with a table of files into which the same files were loaded at
// once, without troubles. It compares both with the generated records.
func (s *soak) compare(t *testing.T) {
	good, bad := s.sums()
	calmly := filepath.Join(t.TempDir(), "undisturbed")
	job := calmly + ".yaml"
	testkit.WriteFile(t, job, nightJob(s.month.dir, fmt.Sprintf("%q", calmly)))
	span := s.span()
	dates := []string{"--from", span.From.String(), "--to", span.To.String()}
	want := start(t, s.dir, nil, "bulkload", append([]string{"--quiet", "--job", job}, dates...)...).done(t)
	if want.Loaded != good || want.Quarantined != bad {
		s.differs("undisturbed %d records are loaded and %d are bad; made up were %d and %d", want.Loaded, want.Quarantined, good, bad)
	}
	sums, all := s.counts, counts{good + bad, good, bad, want.Cells}
	if sums != all && !s.killed || sums.loaded > all.loaded || sums.cells > all.cells {
		s.differs("the nights' sums of read, loaded, bad and cells are %v, want %v", sums, all)
	}
	ways := []struct {
		address, job string
		env          []string
	}{{calmly, job, nil}, {s.address, filepath.Join(s.dir, "usertrail.yaml"), s.env}}
	var results []map[string]string
	for i, w := range ways {
		v := start(t, s.dir, w.env, "bulkload", "verify", "--quiet", "--job", w.job).wait(t)
		if v.status != 0 || v.Cells != want.Cells || v.Records != good {
			s.differs("%s: verify ends with status %d and finds %d cells of %d records; want 0, %d of %d:\n%s", w.address, v.status, v.Cells, v.Records, want.Cells, good, v.stderr)
		}
		out := filepath.Join(s.dir, fmt.Sprintf("all-%d", i))
		x := start(t, s.dir, w.env, "extract", append([]string{"--quiet", "--job", w.job, "--users", "all", "--active", "any", "--types", "play,order,visit,login", "--out", out}, dates...)...).wait(t)
		if x.status != 0 || x.Events != good {
			s.differs("%s: the extract of everything ends with status %d and brings %d behaviours; want 0 and %d:\n%s", w.address, x.status, x.Events, good, x.stderr)
		}
		results = append(results, (&fixture{}).parts(t, out))
	}
	if !maps.Equal(results[0], results[1]) || len(results[0]) == 0 {
		s.differs("the extracts of everything differ: %v, undisturbed %v", results[1], results[0])
	}
	fmt.Printf("sums: %d read, %d loaded, %d bad; made up %d, %d, %d; %d cells\n", sums.read, sums.loaded, sums.quarantined, all.read, all.loaded, all.quarantined, want.Cells)
}

// brief prints statuses without repetition.
func brief(statuses []int) string {
	var out []string
	for i := 0; i < len(statuses); {
		n := 1
		for i+n < len(statuses) && statuses[i+n] == statuses[i] {
			n++
		}
		text := fmt.Sprint(statuses[i])
		if statuses[i] < 0 {
			text = "killed"
		}
		if n > 1 {
			text += fmt.Sprint("×", n)
		}
		out = append(out, text)
		i += n
	}
	return strings.Join(out, " ")
}

// A disk is a folder that can become full, because it is a small file system.
type disk struct {
	dir  string
	only bool // it is a plain folder, because file systems cannot be mounted here
}

// ballast is the file that fills a disk.
const ballast = "ballast"

// newDisk mounts a disk.
func newDisk(t *testing.T) *disk {
	t.Helper()
	d := &disk{dir: t.TempDir()}
	out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=64m", "usertrail", d.dir).CombinedOutput()
	if err != nil {
		fmt.Printf("no disk will be full: mount: %v: %s", err, out)
		d.only = true
		return d
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", d.dir).CombinedOutput(); err != nil {
			t.Errorf("umount %s: %v: %s", d.dir, err, out)
		}
	})
	return d
}

// fill writes until the disk is full.
func (d *disk) fill(t *testing.T) {
	t.Helper()
	f, err := os.Create(filepath.Join(d.dir, ballast))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for b := make([]byte, 1<<20); err == nil; {
		_, err = f.Write(b)
	}
}

func (d *disk) empty(t *testing.T) {
	t.Helper()
	if err := os.Remove(filepath.Join(d.dir, ballast)); err != nil {
		t.Fatal(err)
	}
}
