package hbase

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"usertrail/internal/store/hbase/hbasetest"
	"usertrail/internal/store/hbase/wire"
)

// snapshotNames returns the names of all snapshots of table t.
func snapshotNames(t *testing.T, c *Client) string {
	t.Helper()
	all, err := c.Snapshots(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range all {
		if s.Table.String() != "t" || s.Type != wire.SnapshotFlush || time.Since(time.UnixMilli(int64(s.Created))).Abs() > time.Hour {
			t.Errorf("snapshot %+v, want one of t, flushed just now", s)
		}
		names = append(names, s.Name)
	}
	return strings.Join(names, " ")
}

// eachMaster runs a test with a master that takes snapshots by procedures, and with an older one.
func eachMaster(t *testing.T, test func(*testing.T, hbasetest.Config)) {
	for name, cfg := range map[string]hbasetest.Config{"procedure": {}, "old": {OldSnapshots: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, cfg) })
		})
	}
}

func TestASnapshotIsTakenListedAndDeleted(t *testing.T) {
	eachMaster(t, func(t *testing.T, cfg hbasetest.Config) {
		f := filled(t, cfg, 10, 5)
		c := dial(t, f)
		for _, name := range []string{"b", "a"} {
			if err := c.Snapshot(t.Context(), "t", name, SnapshotOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		asks, asksNot := "getProcedureResult", "IsSnapshotDone"
		if cfg.OldSnapshots {
			asks, asksNot = asksNot, asks
		}
		if calls := f.Counts().Calls; calls[asks] < 4 || calls[asksNot] > 0 {
			t.Errorf("asked %v whether two snapshots are done: they are not at first", calls)
		}
		if got := snapshotNames(t, c); got != "a b" {
			t.Errorf("there are %q", got)
		}
		if err := c.Snapshot(t.Context(), "t", "a", SnapshotOptions{}); !errors.Is(err, ErrSnapshotExists) || errors.Is(err, ErrUnavailable) {
			t.Errorf("taken again: %v", err)
		}
		if err := c.DeleteSnapshot(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if err := c.DeleteSnapshot(t.Context(), "a"); !errors.Is(err, ErrNoSnapshot) {
			t.Errorf("deleted again: %v", err)
		}
		if got := snapshotNames(t, c); got != "b" {
			t.Errorf("there are %q", got)
		}
		if err := c.Snapshot(t.Context(), "absent", "c", SnapshotOptions{}); !errors.Is(err, ErrNoTable) {
			t.Errorf("of a missing table: %v", err)
		}
		for _, name := range []string{"", "-a", ".a", "a/b", "a b", "a:b", "zookeeper"} {
			if err := c.Snapshot(t.Context(), "t", name, SnapshotOptions{}); err == nil {
				t.Errorf("the name %q was taken", name)
			}
		}
	})
}

func TestASnapshotIsTakenAsItIsToBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, filled(t, hbasetest.Config{}, 10))
		if err := c.Snapshot(t.Context(), "t", "s", SnapshotOptions{SkipFlush: true, TTL: 90 * time.Minute}); err != nil {
			t.Fatal(err)
		}
		all, err := c.Snapshots(t.Context())
		if err != nil || len(all) != 1 || all[0].Type != wire.SnapshotSkipFlush || all[0].TTL != 5400 {
			t.Errorf("%+v, %v; want one of 5400 seconds, not flushed", all, err)
		}
	})
}

// TestTheMasterSaysWhenASnapshotWasTaken checks that a client whose clock is wrong does not make
// a snapshot that is older than its TTL at once.
func TestTheMasterSaysWhenASnapshotWasTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, ahead := range []time.Duration{25 * time.Hour, -25 * time.Hour} {
			f := filled(t, hbasetest.Config{}, 10)
			f.SetMasterAhead(ahead)
			c := dial(t, f)
			began := time.Now().Add(ahead).Truncate(time.Millisecond)
			if err := c.Snapshot(t.Context(), "t", "s", SnapshotOptions{TTL: 24 * time.Hour}); err != nil {
				t.Fatal(err)
			}
			all, err := c.Snapshots(t.Context())
			if err != nil || len(all) != 1 {
				t.Fatalf("there are %+v, %v; want one", all, err)
			}
			if since := time.UnixMilli(int64(all[0].Created)).Sub(began); since < 0 || since > time.Hour {
				t.Errorf("the master's clock is %s ahead: the snapshot is %s younger than the call, want 0 to 1h", ahead, since)
			}
		}
	})
}

func TestASnapshotThatFailsIsTakenAgain(t *testing.T) {
	eachMaster(t, func(t *testing.T, cfg hbasetest.Config) {
		f := filled(t, cfg, 10)
		c := dial(t, f)
		f.FailSnapshots(2)
		if err := c.Snapshot(t.Context(), "t", "s", SnapshotOptions{}); err != nil {
			t.Fatal(err)
		}
		if n := f.Counts().Calls["Snapshot"]; n != 3 {
			t.Errorf("asked for %d times, want 3", n)
		}
		hopeless := dial(t, f, func(cfg *Config) { cfg.OpTimeout, cfg.CallTimeout = time.Second, time.Second })
		f.FailSnapshots(1000)
		err := hopeless.Snapshot(t.Context(), "t", "s2", SnapshotOptions{})
		if !errors.Is(err, ErrUnavailable) || !strings.Contains(fmt.Sprint(err), "s2, table t: gave up") || !strings.Contains(fmt.Sprint(err), "a region moved") {
			t.Errorf("one that fails each time: %v", err)
		}
	})
}

// TestASnapshotWhoseResponseIsLost checks that another snapshot of the same name does not count
// as success.
func TestASnapshotWhoseResponseIsLost(t *testing.T) {
	eachMaster(t, func(t *testing.T, cfg hbasetest.Config) {
		f := filled(t, cfg, 10)
		c := dial(t, f, func(cfg *Config) { cfg.CallTimeout = 500 * time.Millisecond })
		f.SetHooks(hbasetest.Hooks{Call: func(call hbasetest.Call) hbasetest.Fault {
			switch {
			case call.Method == "DeleteSnapshot" && call.N == 1:
				return hbasetest.Fault{Close: true}
			case call.Method == "Snapshot" && (call.N == 1 || call.N == 3):
				return hbasetest.Fault{Drop: true}
			}
			return hbasetest.Fault{}
		}})
		done := make(chan error, 1)
		go func() { done <- c.Snapshot(t.Context(), "t", "s", SnapshotOptions{}) }()
		for !f.FinishSnapshot("s") {
			time.Sleep(time.Millisecond)
		}
		if err := <-done; err != nil {
			t.Errorf("the response was lost, the snapshot exists: %v", err)
		}
		if n := f.Counts().Calls["Snapshot"]; n != 2 {
			t.Errorf("asked for %d times, want 2", n)
		}
		if err := c.Snapshot(t.Context(), "t", "s", SnapshotOptions{}); !errors.Is(err, ErrSnapshotExists) {
			t.Errorf("the response was lost, an older snapshot exists: %v", err)
		}
		if err := c.DeleteSnapshot(t.Context(), "s"); err != nil {
			t.Errorf("the response to deleting was lost: %v", err)
		}
	})
}

func TestStatusNamesServersAndRegions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{Servers: 3}, 10, 5)
		c := dial(t, f)
		f.Kill(2)
		f.Move("t", []byte(rowName(7)), -1)
		s, err := c.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if s.Version == "" || s.Master.Addr() != f.MasterAddr() || len(s.Live) != 2 || s.Live[1].Addr() != f.Addr(1) || len(s.Dead) != 1 || s.Dead[0].Addr() != f.Addr(2) {
			t.Errorf("status %+v", s)
		}
		if len(s.InTransition) != 1 || string(s.InTransition[0].Region.Start) != rowName(5) || s.InTransition[0].State != "OPENING" {
			t.Errorf("in transition %+v, want the region from row 5 on", s.InTransition)
		}
	})
}

// TestAllowedWherePermissionsAreNotChecked uses the fake, which does not support the call,
// like an old server.
func TestAllowedWherePermissionsAreNotChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{}, 1)
		c := dial(t, f)
		if ok, err := c.Allowed(t.Context(), "t", "", wire.PermitRead, wire.PermitAdmin); !ok || err != nil {
			t.Errorf("a server without the call: %v, %v", ok, err)
		}
		if n := f.Counts().Calls["HasUserPermissions"]; n != 1 {
			t.Errorf("asked %d times", n)
		}
		f.SetHooks(once("HasUserPermissions", 2, hbasetest.Fault{Exception: &wire.ServerError{
			Class: pkg + "DoNotRetryIOException", DoNotRetry: true,
			Message: "java.lang.UnsupportedOperationException: " + pkg + "security.access.AccessController is not loaded",
		}}))
		if ok, err := c.Allowed(t.Context(), "t", "f", wire.PermitWrite); !ok || err != nil {
			t.Errorf("without the coprocessor: %v, %v", ok, err)
		}
		f.SetHooks(always("HasUserPermissions", hbasetest.Fault{Exception: exception("security.AccessDeniedException")}))
		if ok, err := c.Allowed(t.Context(), "t", "f", wire.PermitWrite); ok || !errors.Is(err, ErrPermission) {
			t.Errorf("not even to ask: %v, %v", ok, err)
		}
	})
}
