// Package clustertest provides a real HDFS, ZooKeeper and HBase to tests. scripts/cluster
// starts them. The cluster has three DataNodes and three RegionServers, or two of each in make test. Each daemon is a
// process that a test may kill or freeze. YARN is started for tests that need it.
//
// All test binaries of a checkout share one cluster, in .cache/cluster. It is the cluster of
// `make cluster`, if it is up. Otherwise the first test starts it. It stays up for the next
// run. Tests of several processes use it at the same time, each in its own tables and
// directories. A test that disturbs daemons has exclusive use. In a run that covers everything
// (testkit.All) such tests use a second cluster, in .cache/cluster-alone, so that the others
// need not wait.
//
// $USERTRAIL_CLUSTER names another cluster for all tests: the run directory of a cluster that
// is up (a relative path begins at the checkout). "none" skips the tests that need a cluster.
//
// Secure provides another cluster, with Kerberos and TLS, in .cache/cluster-secure. It has one
// DataNode and two RegionServers. SecureAlone provides the same cluster to a test that disturbs
// its daemons. $USERTRAIL_SECURE_CLUSTER names another one, or none.
package clustertest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"usertrail/internal/test/testkit"
)

const (
	// upLimit includes the download of the jars on a fresh machine.
	upLimit = 20 * time.Minute
	// healLimit bounds the start of daemons and the assignment of their regions.
	healLimit = 10 * time.Minute
	// callLimit is the limit for one request of a test.
	callLimit = 5 * time.Minute
	// checkLimit is the limit for one check of all daemons. A check reads from every region. If a server is
	// gone, a check may hang, and the next check may not.
	checkLimit = 2 * time.Minute
)

// A Cluster is a cluster that is up. Its methods may be called concurrently.
type Cluster struct {
	dir      string // its run directory
	script   string
	own      bool     // it belongs to the checkout, so the first test starts it
	settings []string // variables of the environment in which it is started
	secured  bool

	hbase, net                            string
	datanodes, replication, regionServers int

	lending sync.Mutex
	claim   claim

	mu        sync.Mutex
	disturbed bool // a test disturbed a daemon since the cluster was last healthy

	sharing sync.Mutex
	shared  map[string]bool // names of the tables of Shared that exist
}

// lent holds the clusters that tests of this process have requested, by directory.
var lent struct {
	sync.Mutex
	clusters map[string]*Cluster
}

// atOnce is the number of parallel tests of a package that wait for servers at the same time.
const atOnce = 8

// Main runs the tests of a package that mostly use the cluster, and ends the process. Such
// tests wait more than they compute, so more of them run at once than there are processors,
// unless the flag -parallel sets their number.
func Main(m *testing.M) {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		if err := flag.Set("test.parallel", strconv.Itoa(atOnce)); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// Get returns a cluster with all daemons up and healthy. Tests of other processes may use it
// at the same time. Get fails t if there is no cluster. It skips t only if $USERTRAIL_CLUSTER
// is "none".
func Get(t testing.TB) *Cluster {
	t.Helper()
	return keep(t, lend(t, false))
}

// Alone is Get for a test that may disturb daemons: no other process uses the cluster until the
// test's end. Such a test must not call t.Parallel.
func Alone(t testing.TB) *Cluster {
	t.Helper()
	return keep(t, lend(t, true))
}

// AloneFor is Alone for the duration of f. Tables and directories that t creates in f remain
// until t's end.
func AloneFor(t testing.TB, f func(c *Cluster)) {
	t.Helper()
	c := lend(t, true)
	defer c.release(t)
	f(c)
}

// keep ends t's use of the cluster at t's end, after t has dropped its tables.
func keep(t testing.TB, c *Cluster) *Cluster {
	t.Cleanup(func() { c.release(t) })
	return c
}

func lend(t testing.TB, alone bool) *Cluster {
	t.Helper()
	return plain.lend(t, alone)
}

// A kind is a kind of cluster.
type kind struct {
	variable string   // of the environment, which names another cluster or "none"
	folder   string   // of the checkout's cluster
	alone    string   // of the cluster of tests with exclusive use, in a run that covers everything
	settings []string // see Cluster.settings
	secured  bool
}

var plain = kind{variable: "USERTRAIL_CLUSTER", folder: ".cache/cluster", alone: ".cache/cluster-alone"}

// skip skips t if its cluster is "none".
func (k kind) skip(t testing.TB) {
	t.Helper()
	if os.Getenv(k.variable) == "none" {
		t.Skip(k.variable + "=none")
	}
}

func (k kind) lend(t testing.TB, alone bool) *Cluster {
	t.Helper()
	k.skip(t)
	c, err := k.find(os.Getenv(k.variable), alone)
	if err != nil {
		t.Fatalf("cluster: %v", err)
	}
	c.lending.Lock()
	defer c.lending.Unlock()
	if err := c.claim.take(alone, c.ready); err != nil {
		t.Fatalf("cluster: %v", err)
	}
	ctx, cancel := limited(t, healLimit)
	defer cancel()
	if err := c.heal(ctx); err != nil {
		t.Fatalf("cluster: %v", errors.Join(err, c.claim.release()))
	}
	return c
}

// release ends a test's use. Before that it repairs the daemons that the test disturbed.
func (c *Cluster) release(t testing.TB) {
	t.Helper()
	c.lending.Lock()
	defer c.lending.Unlock()
	ctx, cancel := limited(t, healLimit)
	defer cancel()
	if err := errors.Join(c.heal(ctx), c.claim.release()); err != nil {
		t.Errorf("cluster: %v", err)
	}
}

// limited returns a context for work that t must complete even while it cleans up.
func limited(t testing.TB, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(t.Context()), limit)
}

// find returns the cluster of dir. If dir is "", it is the cluster of the checkout. In a run
// that covers everything, a test with exclusive use gets the second cluster.
func (k kind) find(dir string, alone bool) (*Cluster, error) {
	root, err := testkit.FindRepository()
	if err != nil {
		return nil, err
	}
	own := dir == ""
	switch {
	case own && alone && testkit.All():
		dir = k.alone
	case own:
		dir = k.folder
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	lent.Lock()
	defer lent.Unlock()
	if c := lent.clusters[dir]; c != nil {
		return c, nil
	}
	c := &Cluster{
		dir: dir, script: filepath.Join(root, "scripts", "cluster"), own: own, settings: k.settings, secured: k.secured,
		claim: claimOn(dir), disturbed: true,
	}
	if own {
		err = os.MkdirAll(dir, 0o777)
	} else {
		err = c.load(k.variable)
	}
	if err != nil {
		return nil, err
	}
	if lent.clusters == nil {
		lent.clusters = map[string]*Cluster{}
	}
	lent.clusters[dir] = c
	return c, nil
}

// ready reports whether the cluster may be used. A cluster of the checkout must be healthy;
// if no other process uses it, ready makes it so. Another cluster is used as it is, and heal
// repairs it.
func (c *Cluster) ready(alone bool) (bool, error) {
	if !c.own {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
	defer cancel()
	if _, err := c.run(ctx, "whole"); err == nil {
		return true, c.load("")
	}
	if !alone {
		return false, nil
	}
	return true, c.provide()
}

// provide starts the checkout's cluster. If the remains of an earlier one cannot be repaired,
// it replaces them by a new cluster.
func (c *Cluster) provide() error {
	if c.up() == nil {
		return nil
	}
	if err := c.down(); err != nil {
		return err
	}
	return c.up()
}

// up starts the cluster and waits until it is healthy.
func (c *Cluster) up() error {
	ctx, cancel := context.WithTimeout(context.Background(), upLimit)
	defer cancel()
	if _, err := c.run(ctx, "up"); err != nil {
		return err
	}
	if err := c.load(""); err != nil {
		return err
	}
	ctx, cancel = context.WithTimeout(context.Background(), healLimit)
	defer cancel()
	return c.heal(ctx)
}

func (c *Cluster) down() error {
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
	defer cancel()
	_, err := c.run(ctx, "down")
	return err
}

// load reads the settings that the cluster was started with. variable is the variable that
// names the cluster, if there is one.
func (c *Cluster) load(variable string) error {
	path := filepath.Join(c.dir, "env")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("$%s: no cluster is up in %s: CLUSTER_DIR=%[2]s %[3]s", variable, c.dir, strings.Join(append(c.settings, "scripts/cluster up"), " "))
	}
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch key {
		case "net":
			c.net = value
		case "release":
			c.hbase = value
		case "datanodes":
			c.datanodes, err = strconv.Atoi(value)
		case "replication":
			c.replication, err = strconv.Atoi(value)
		case "regionservers":
			c.regionServers, err = strconv.Atoi(value)
		}
		if err != nil {
			return fmt.Errorf("%s: %s: %w", path, key, err)
		}
	}
	return nil
}

// HBase returns the release of HBase, such as 2.6.
func (c *Cluster) HBase() string { return c.hbase }

// NameNode returns the host and port of the NameNode.
func (c *Cluster) NameNode() string { return c.net + ".0.1:8020" }

// ZooKeeper returns the host and port of ZooKeeper.
func (c *Cluster) ZooKeeper() string { return c.net + ".0.1:2181" }

// ConfDir returns the directory of core-site.xml, hdfs-site.xml and hbase-site.xml.
func (c *Cluster) ConfDir() string { return filepath.Join(c.dir, "conf") }
