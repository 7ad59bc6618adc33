package faults_test

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 64
	exitNotNow = 75
)

const (
	// patience is the --retry-for of commands that wait in vain. It leaves a busy machine enough
	// time for the first failure.
	patience = 10 * time.Second
	// impatience is the time after which a command must have ignored its --retry-for. It is
	// less than the default of --retry-for.
	impatience = 4 * time.Minute
)

// A complaint is a command line and the message that it must print.
type complaint struct {
	name    string
	program string
	env     []string
	flags   []string
	status  int
	says    []string
}

// start starts the command in a fixture's folder.
func (x complaint) start(t *testing.T, h *fixture) *process {
	t.Helper()
	retry := patience
	if x.status != exitNotNow {
		retry = impatience / 2 // a server that responds late must not hide what is wrong
	}
	args := []string{"--retry-for", retry.String(), "--quiet", "--from", span.From.String(), "--to", span.From.String()}
	if x.program == "extract" {
		args = append(args, "--users", filepath.Join(testkit.Home(), "users"), "--types", "play", "--plan", "get", "--overwrite")
	}
	p := start(t, h.dir, x.env, x.program, append(args, x.flags...)...)
	p.limit = impatience
	return p
}

// check waits for the command's end and checks its message.
func (x complaint) check(t *testing.T, p *process) {
	t.Helper()
	r := p.wait(t)
	if r.status != x.status || r.Status == nil || *r.Status != x.status {
		t.Errorf("%s ended with status %d, want %d: %s", x.program, r.status, x.status, r.stderr)
	}
	if lines := strings.Count(strings.TrimSpace(r.stderr), "\n"); x.status != exitDone && lines > 0 {
		t.Errorf("%s says it in %d lines, want one:\n%s", x.program, lines+1, r.stderr)
	}
	for _, s := range x.says {
		if !strings.Contains(r.stderr, s) || !strings.Contains(r.Error, s) {
			t.Errorf("%s says %q, want it to say %q", x.program, r.stderr, s)
		}
	}
	t.Logf("%s%s", r.stderr, r.Error)
}

// both returns a complaint of bulkload and one of extract.
func both(name string, flags []string, status int, says ...string) []complaint {
	return []complaint{
		{name + ", bulkload", "bulkload", nil, flags, status, says},
		{name + ", extract", "extract", nil, flags, status, says},
	}
}

// whole are the flags of a user who may not read the table's description in HBase, but may
// read or write its rows.
var whole = []string{"--job", "whole.yaml", "--retry-for", "1m"}

func as(user string) []string { return []string{"HADOOP_USER_NAME=" + user} }

// jobs writes job files that differ from the fixture's in their table.
func (h *fixture) jobs(t *testing.T, tables map[string]string) {
	t.Helper()
	for name, about := range tables {
		h.write(t, name, fmt.Sprintf("logs: {path: %q, zone: Asia/Shanghai}\ntable: {%s}\n%s", filepath.Join(testkit.Home(), "logs/{date}/{behaviour}.csv.gz"), about, testkit.SampleBehaviours))
	}
}

// TestWhatIsWrongIsSaid runs commands that cannot succeed. It leaves the servers unchanged.
func TestWhatIsWrongIsSaid(t *testing.T) {
	c := clustertest.Get(t)
	h := newFixture(t, c, "files")
	off := c.Create(t, "d")
	c.Admin(t, "disable", off)
	zk := c.ZooKeeper()
	h.jobs(t, map[string]string{
		"missing.yaml": fmt.Sprintf("path: %q, catalog: c", h.address()+"x"),
		"off.yaml":     fmt.Sprintf("path: \"hbase://%s/%s\", catalog: c", zk, off),
		"family.yaml":  fmt.Sprintf("path: %q, catalog: c, family: e", h.address()),
		"whole.yaml":   fmt.Sprintf("path: %q, catalog: c, family: d", h.address()),
	})
	host, _, err := net.SplitHostPort(zk)
	if err != nil {
		t.Fatal(err)
	}
	nobody := "hbase://" + host + ":1/t"
	var all []complaint
	all = append(all, both("no table", []string{"--job", "missing.yaml"}, exitUsage, h.table+"x", "no such table", "bulkload create-table")...)
	all = append(all, both("disabled", []string{"--job", "off.yaml"}, exitUsage, "disabled", "enable '"+off+"'")...)
	all = append(all, both("no family", []string{"--job", "family.yaml"}, exitUsage, h.table, `"e"; there is d`, "family: …")...)
	all = append(all, both("not an address", []string{"--table", "hbase://" + zk, "--job", "usertrail.yaml"}, exitUsage, "names no table", "write hbase://zk1,zk2:2181/namespace:table")...)
	all = append(all, both("a date there is not, before a server is asked", []string{"--table", nobody, "--job", "usertrail.yaml", "--to", "2014-09-31"}, exitUsage, "--to", "2014-09-31", "30 days")...)
	denied := func(right string) []string {
		return []string{"permission denied", "as user bob", "grant 'bob', '" + right + "', '" + h.table + "'", "wrong user"}
	}
	all = append(all,
		complaint{"may not read", "extract", as("bob"), whole, exitUsage, denied("R")},
		complaint{"may not write", "bulkload", as("bob"), whole, exitUsage, denied("RW")},
		complaint{"may not see the family", "bulkload", as("bob"), nil, exitUsage, []string{h.table, "as user bob", "table: {family: …, catalog: …}"}},
	)
	all = append(all, both("nobody listens", []string{"--table", nobody, "--job", "usertrail.yaml"}, exitNotNow, nobody, "ZooKeeper", "refused", "is the address right")...)
	all = append(all, both("not ZooKeeper", []string{"--table", "hbase://" + c.NameNode() + "/t", "--job", "usertrail.yaml"}, exitNotNow, c.NameNode(), "ZooKeeper", "is the address right")...)
	all = append(all, both("another znode", []string{"--table", h.address() + "?parent=/nothere", "--job", "usertrail.yaml"}, exitNotNow, zk, "/nothere", "zookeeper.znode.parent")...)
	// Commands that retry run at the same time, while the other commands are checked.
	trying := make([]*process, len(all))
	for i, x := range all {
		if x.status == exitNotNow {
			trying[i] = x.start(t, h)
		}
	}
	for i, x := range all {
		t.Run(x.name, func(t *testing.T) {
			p := trying[i]
			if p == nil {
				p = x.start(t, h)
			}
			x.check(t, p)
		})
	}
}

// TestWhoMayReadAndWriteNeedsNoMore loads and extracts as users with the least permissions.
func TestWhoMayReadAndWriteNeedsNoMore(t *testing.T) {
	c := clustertest.Get(t)
	h := newFixture(t, c, "files")
	h.jobs(t, map[string]string{"whole.yaml": fmt.Sprintf("path: %q, catalog: c, family: d", h.address())})
	c.Admin(t, "grant", "ann", "RW", h.table)
	c.Admin(t, "grant", "eve", "R", h.table)
	for _, x := range []complaint{
		{"", "bulkload", as("ann"), whole, exitDone, nil},
		{"", "extract", as("eve"), whole, exitDone, nil},
	} {
		// ZooKeeper informs the RegionServers of permissions with some delay.
		end := time.Now().Add(deadline)
		r := x.start(t, h).wait(t)
		for r.status == exitUsage && time.Now().Before(end) {
			r = x.start(t, h).wait(t)
		}
		if r.status != exitDone || r.Loaded+r.Events == 0 {
			t.Errorf("%s by %s ended with status %d, want 0: %+v", x.program, x.env, r.status, r)
		}
	}
}

// TestWhoIsAwayIsSaid stops servers and runs commands that need them.
func TestWhoIsAwayIsSaid(t *testing.T) {
	testkit.OnlyAll(t, "TestWhatIsWrongIsSaid, for servers that nobody started")
	for _, x := range []struct {
		name  string
		fault func(*testing.T, *clustertest.Cluster)
		says  []string
	}{
		{"the master", func(t *testing.T, c *clustertest.Cluster) { c.Kill(t, "master") }, []string{"master"}},
		{"all RegionServers", func(t *testing.T, c *clustertest.Cluster) {
			for _, d := range c.RegionServers() {
				c.Kill(t, d.Name)
			}
		}, []string{"hbase:meta", "refused"}},
		// RegionServers end themselves if they have no contact with ZooKeeper for long.
		{"ZooKeeper, frozen", func(t *testing.T, c *clustertest.Cluster) { c.Freeze(t, "zk") }, []string{"ZooKeeper", "does not respond"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := clustertest.Alone(t)
			h := newFixture(t, c, "files")
			x.fault(t, c)
			all := both("", nil, exitNotNow, append(x.says, h.address())...)
			var trying []*process
			for _, w := range all {
				trying = append(trying, w.start(t, h))
			}
			for i, w := range all {
				w.check(t, trying[i])
			}
		})
	}
}
