// Package clustertest lends tests a real HDFS, ZooKeeper and HBase, which
// scripts/cluster brings up: three DataNodes, three RegionServers, each daemon a
// process that a test may kill or freeze, and YARN for who asks for it.
//
// All test binaries of a checkout share one, in .cache/cluster: the cluster of `make
// cluster`, if it is up, and else one that the first test brings up. It stays up for the
// next run. Tests of several processes work in it at once, each in tables and directories
// of its own. A test that harms daemons has it alone. In a run that covers everything
// (testkit.All) such tests have a second one, in .cache/cluster-harm, so that the others
// need not wait.
//
// $USERTRAIL_CLUSTER names another: the run directory of one cluster that is up, for all
// tests (a relative path begins at the checkout), or "none", which skips the tests that
// ask for one.
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
	// upLimit includes fetching the jars on a fresh machine.
	upLimit = 20 * time.Minute
	// healLimit bounds the start of daemons and the assignment of their regions.
	healLimit = 10 * time.Minute
	// callLimit is for one request of a test.
	callLimit = 5 * time.Minute
)

// A Cluster is one that is up. Its methods may be called concurrently.
type Cluster struct {
	dir    string // its run directory
	script string
	own    bool // it is one of the checkout's, which the first test brings up

	net                                   string
	datanodes, replication, regionServers int

	lending sync.Mutex
	claim   claim

	mu     sync.Mutex
	harmed bool // a test did something to a daemon since it was last well
}

// lent are the process's clusters, by their directories, once a test has asked for them.
var lent struct {
	sync.Mutex
	clusters map[string]*Cluster
}

// atOnce is how many parallel tests of a package wait for servers at the same time.
const atOnce = 8

// Main runs the tests of a package most of which use the cluster, and ends the process.
// Such tests wait more than they work, so more of them run at once than there are
// processors, unless the flag -parallel returns how many.
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

// Get gives t a cluster with all daemons up and healthy. Tests of other processes may
// use it at the same time. It fails t where there is none to be had, and skips it only if
// $USERTRAIL_CLUSTER is "none".
func Get(t testing.TB) *Cluster {
	t.Helper()
	return keep(t, lend(t, false))
}

// Alone is Get for a test that may harm daemons: no other process uses the cluster until
// its end. Inside a process such a test does not call t.Parallel.
func Alone(t testing.TB) *Cluster {
	t.Helper()
	return keep(t, lend(t, true))
}

// AloneFor is Alone for as long as f takes. What t makes of the cluster in f stays until
// t's end.
func AloneFor(t testing.TB, f func(c *Cluster)) {
	t.Helper()
	c := lend(t, true)
	defer c.giveBack(t)
	f(c)
}

// keep has t give the cluster back at its end, when it has dropped what it makes there.
func keep(t testing.TB, c *Cluster) *Cluster {
	t.Cleanup(func() { c.giveBack(t) })
	return c
}

func lend(t testing.TB, alone bool) *Cluster {
	t.Helper()
	dir := os.Getenv("USERTRAIL_CLUSTER")
	if dir == "none" {
		t.Skip("USERTRAIL_CLUSTER=none")
	}
	c, err := find(dir, alone)
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
		t.Fatalf("cluster: %v", errors.Join(err, c.claim.giveBack()))
	}
	return c
}

// giveBack ends a test's use, and mends first what nobody else may find harmed.
func (c *Cluster) giveBack(t testing.TB) {
	t.Helper()
	c.lending.Lock()
	defer c.lending.Unlock()
	ctx, cancel := limited(t, healLimit)
	defer cancel()
	if err := errors.Join(c.heal(ctx), c.claim.giveBack()); err != nil {
		t.Errorf("cluster: %v", err)
	}
}

// limited is a context for work that t must see done even when it is cleaning up.
func limited(t testing.TB, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(t.Context()), limit)
}

// find returns the cluster of dir. If dir is "", it is the checkout's, and in a run that
// covers everything a second one for a test that is alone.
func find(dir string, alone bool) (*Cluster, error) {
	root, err := repository()
	if err != nil {
		return nil, err
	}
	own := dir == ""
	switch {
	case own && alone && testkit.All():
		dir = ".cache/cluster-harm"
	case own:
		dir = ".cache/cluster"
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	lent.Lock()
	defer lent.Unlock()
	if c := lent.clusters[dir]; c != nil {
		return c, nil
	}
	c := &Cluster{dir: dir, script: filepath.Join(root, "scripts", "cluster"), own: own, claim: claimOn(dir), harmed: true}
	if own {
		err = os.MkdirAll(dir, 0o777)
	} else {
		err = c.load()
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

// ready reports whether the cluster may be used: one of the checkout's where it is whole, which it is
// made if nobody else uses it, and another as it is, since heal mends it.
func (c *Cluster) ready(alone bool) (bool, error) {
	if !c.own {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
	defer cancel()
	if _, err := c.run(ctx, "whole"); err == nil {
		return true, c.load()
	}
	if !alone {
		return false, nil
	}
	return true, c.provide()
}

// provide brings the checkout's cluster up. What others left there may be beyond mending,
// and then gives way to a new one.
func (c *Cluster) provide() error {
	if c.up() == nil {
		return nil
	}
	if err := c.down(); err != nil {
		return err
	}
	return c.up()
}

// repository is the folder above the test that has go.mod.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("no go.mod in or above %s", dir)
		}
	}
}

// up brings the cluster up and waits until it is well.
func (c *Cluster) up() error {
	ctx, cancel := context.WithTimeout(context.Background(), upLimit)
	defer cancel()
	if _, err := c.run(ctx, "up"); err != nil {
		return err
	}
	if err := c.load(); err != nil {
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

// load reads the settings that the cluster was brought up with.
func (c *Cluster) load() error {
	path := filepath.Join(c.dir, "env")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("$USERTRAIL_CLUSTER: no cluster is up in %s: CLUSTER_DIR=%[1]s scripts/cluster up", c.dir)
	}
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch key {
		case "net":
			c.net = value
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

// NameNode is its host and port.
func (c *Cluster) NameNode() string { return c.net + ".0.1:8020" }

// ZooKeeper is its host and port.
func (c *Cluster) ZooKeeper() string { return c.net + ".0.1:2181" }

// ConfDir holds core-site.xml, hdfs-site.xml and hbase-site.xml.
func (c *Cluster) ConfDir() string { return filepath.Join(c.dir, "conf") }
