// Package clustertest lends tests a real HDFS, ZooKeeper and HBase, which
// scripts/cluster brings up: three DataNodes, three RegionServers, each daemon a
// process that a test may kill or freeze, and YARN for who asks for it.
//
// $USERTRAIL_CLUSTER says which: the run directory of a cluster that is up (a
// relative path begins at the checkout), or "none", which skips the tests that ask
// for one. Without it there is one cluster for all test binaries of this checkout,
// in .cache/cluster-test. The first test that asks brings it up; it stays up for
// the next run until CLUSTER_DIR names it to `scripts/cluster down`, as `make test`
// does at its end.
//
// Tests of several processes use the cluster at once, each in tables and directories of
// its own. One that harms daemons, or that others would disturb, asks for it by Alone: it
// has the cluster when the tests of all other processes have given it back, and they wait
// until it ends. Inside a process it does not call t.Parallel.
package clustertest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// upLimit includes fetching the jars on a fresh machine.
	upLimit = 15 * time.Minute
	// healLimit is for daemons to start and regions to be assigned anew.
	healLimit = 5 * time.Minute
	// callLimit is for one request of a test.
	callLimit = 2 * time.Minute
)

// A Cluster is one that is up. Its methods may be called concurrently.
type Cluster struct {
	dir    string // its run directory
	script string
	own    bool // it is the checkout's, which the first test brings up

	net                                   string
	datanodes, replication, regionServers int

	admin admin
	claim claim

	since time.Time // when it was brought up

	mu     sync.Mutex
	harmed bool // a test did something to a daemon since it was last well
}

// lent is the process's cluster, once a test has asked for it.
var lent struct {
	sync.Mutex
	tried bool
	c     *Cluster
	err   error
}

// Get gives t the cluster with all daemons up and healthy. Tests of other processes may
// use it at the same time. It fails t where there is none to be had, and skips it only if
// $USERTRAIL_CLUSTER is "none".
func Get(t testing.TB) *Cluster {
	t.Helper()
	return lend(t, false)
}

// Alone is Get for a test during which no other process uses the cluster. A test that
// shares it by Get already cannot have it alone.
func Alone(t testing.TB) *Cluster {
	t.Helper()
	return lend(t, true)
}

func lend(t testing.TB, alone bool) *Cluster {
	t.Helper()
	dir := os.Getenv("USERTRAIL_CLUSTER")
	if dir == "none" {
		t.Skip("USERTRAIL_CLUSTER=none")
	}
	lent.Lock()
	defer lent.Unlock()
	if !lent.tried {
		lent.tried = true
		lent.c, lent.err = open(dir)
	}
	if lent.err != nil {
		t.Fatalf("cluster: %v", lent.err)
	}
	c := lent.c
	if err := c.claim.take(alone, c.ready); err != nil {
		t.Fatalf("cluster: %v", err)
	}
	// What the test makes it drops later, so before this.
	t.Cleanup(func() {
		if err := c.giveBack(t); err != nil {
			t.Errorf("cluster: %v", err)
		}
	})
	ctx, cancel := limited(t, healLimit)
	defer cancel()
	if err := c.heal(ctx); err != nil {
		t.Fatalf("cluster: %v", err)
	}
	return c
}

// giveBack ends a test's use, and mends first what nobody else may find harmed.
func (c *Cluster) giveBack(t testing.TB) error {
	lent.Lock()
	defer lent.Unlock()
	var err error
	if c.isHarmed() {
		ctx, cancel := limited(t, healLimit)
		defer cancel()
		err = c.heal(ctx)
	}
	return errors.Join(err, c.claim.giveBack())
}

// limited is a context for work that t must see done even when it is cleaning up.
func limited(t testing.TB, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(t.Context()), limit)
}

// open finds the cluster that is up in dir, or the checkout's where dir is "".
func open(dir string) (*Cluster, error) {
	root, err := repository()
	if err != nil {
		return nil, err
	}
	c := &Cluster{script: filepath.Join(root, "scripts", "cluster"), harmed: true}
	switch {
	case dir == "":
		c.own, c.dir = true, filepath.Join(root, ".cache", "cluster-test")
		err = os.MkdirAll(c.dir, 0o777)
	case filepath.IsAbs(dir):
		c.dir = dir
	default:
		c.dir = filepath.Join(root, dir)
	}
	if err == nil && !c.own {
		err = c.load()
	}
	c.claim = claimOn(c.dir)
	return c, err
}

// ready says whether the cluster may be used: the checkout's where it is whole, which it is
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
	c.admin.close()
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
	defer cancel()
	_, err := c.run(ctx, "down")
	return err
}

// load reads the settings that the cluster was brought up with. One that was brought up
// since the last time is another cluster.
func (c *Cluster) load() error {
	path := filepath.Join(c.dir, "env")
	if info, err := os.Stat(path); err == nil && !info.ModTime().Equal(c.since) {
		c.since = info.ModTime()
		c.admin.close()
	}
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
