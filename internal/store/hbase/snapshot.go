package hbase

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"usertrail/internal/store/hbase/rpc"
	"usertrail/internal/store/hbase/wire"
)

// SnapshotOptions are the options of a snapshot. The zero value has HBase's defaults.
type SnapshotOptions struct {
	// SkipFlush leaves out the cells in memory. A READONLY table has no cells in memory,
	// and a snapshot of it is only possible with SkipFlush.
	SkipFlush bool
	// TTL is the time for which the master keeps the snapshot, in whole seconds; 0 sets
	// no limit.
	TTL time.Duration
}

// Snapshot takes a snapshot of a table and returns when it is complete. Unless
// o.SkipFlush is set, the snapshot has the cells in memory too. If the snapshot fails,
// such as when a region moves meanwhile, Snapshot takes it again within Config.OpTimeout.
// After that the error has the server's text. If a snapshot of that name exists, the
// error satisfies ErrSnapshotExists. If ctx ends, the master may still complete the
// snapshot.
func (c *Client) Snapshot(ctx context.Context, tableName, name string, o SnapshotOptions) error {
	if err := wire.CheckSnapshotName(name); err != nil {
		return fmt.Errorf("hbase: snapshot of table %s: %w", tableName, err)
	}
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	if _, err := c.tableState(ctx, tableName); err != nil {
		return err
	}
	s := snapshotting{c: c, retryState: retryState{what: "take snapshot " + name, table: tableName}}
	// The master sets the time, because it counts the TTL by its own clock.
	s.want = wire.Snapshot{Name: name, Table: wire.ParseTableName(tableName), Type: wire.SnapshotFlush, TTL: uint64(o.TTL / time.Second)}
	if o.SkipFlush {
		s.want.Type = wire.SnapshotSkipFlush
	}
	if s.before, err = s.exists(ctx); err != nil && !errors.Is(err, ErrPermission) {
		return err
	}
	for {
		began := time.Now()
		failed, err := s.once(ctx)
		if failed == nil {
			return err
		}
		if err := s.retryState.pauseAfter(ctx, c, time.Since(began), verdict{remedy: pause, err: failed}); err != nil {
			return err
		}
	}
}

// snapshotFailure returns the exception of a snapshot that failed and may succeed the
// next time. It returns nil for success and for other failures.
func snapshotFailure(err error) error {
	e, ok := errors.AsType[*rpc.ServerError](err)
	if !ok || errors.Is(err, ErrSnapshotExists) || !strings.HasPrefix(e.Class, "org.apache.hadoop.hbase.snapshot.") {
		return nil
	}
	return e
}

// A snapshotting is one call of Snapshot.
type snapshotting struct {
	c          *Client
	want       wire.Snapshot
	retryState retryState
	before     bool // a snapshot of the name existed before the first attempt
	lost       int  // responses, of all attempts
}

// once takes the snapshot and waits for it. failed is the error of a snapshot that may succeed
// the next time.
func (s *snapshotting) once(ctx context.Context) (failed, err error) {
	e := retryState{what: s.retryState.what, table: s.retryState.table, lost: s.lost}
	request := &wire.SnapshotRequest{Snapshot: s.want, Nonce: 1 + rand.Uint64N(math.MaxUint64)}
	var begun wire.SnapshotBegun
	err = s.c.callKnown(ctx, &e, s.c.masterServer, "Snapshot", request, func(r *rpc.Response) error {
		var err error
		begun, err = wire.DecodeSnapshotBegun(r.Param)
		return err
	})
	s.lost = e.lost
	if s.lost > 0 && !s.before && errors.Is(err, ErrSnapshotExists) {
		return nil, s.claim(ctx, err)
	}
	if err == nil {
		failed, err = s.wait(ctx, begun)
	}
	if failed == nil {
		failed = snapshotFailure(err)
	}
	return failed, err
}

// wait returns when the snapshot is done. The master may end it after begun.Limit.
func (s *snapshotting) wait(ctx context.Context, begun wire.SnapshotBegun) (failed, err error) {
	limit := max(time.Duration(begun.Limit)*time.Millisecond, s.c.cfg.OpTimeout)
	if begun.Procedure == 0 {
		return nil, s.poll(ctx, limit)
	}
	e := retryState{what: s.retryState.what, table: s.retryState.table}
	exception, err := s.c.waitProcedure(ctx, &e, begun.Procedure, limit)
	if exception == nil {
		return nil, err
	}
	v := judge(exception)
	if v.remedy == giveUp || v.remedy == ask {
		return nil, e.refused(s.c, v)
	}
	return exception, nil
}

// claim returns nil if the existing snapshot is the one that an attempt without an
// response took. If it is a snapshot of another table, claim returns taken.
func (s *snapshotting) claim(ctx context.Context, taken error) error {
	ours, err := s.exists(ctx)
	if err != nil || ours {
		return err
	}
	return taken
}

// exists reports whether the user sees a complete snapshot with the name and the table
// that are wanted.
func (s *snapshotting) exists(ctx context.Context) (bool, error) {
	all, err := s.c.snapshots(ctx)
	return slices.ContainsFunc(all, func(x wire.Snapshot) bool { return x.Name == s.want.Name && x.Table == s.want.Table }), err
}

// poll asks a master without procedures for snapshots until the snapshot is done or limit has
// passed.
func (s *snapshotting) poll(ctx context.Context, limit time.Duration) error {
	began := time.Now()
	for n := 1; ; n++ {
		var done bool
		e := retryState{what: s.retryState.what, table: s.retryState.table}
		err := s.c.callKnown(ctx, &e, s.c.masterServer, "IsSnapshotDone", &wire.SnapshotRequest{Snapshot: s.want}, func(r *rpc.Response) error {
			var err error
			done, err = wire.DecodeSnapshotDone(r.Param)
			return err
		})
		if err != nil || done {
			return err
		}
		if spent := time.Since(began); spent > limit {
			e.attempts, e.spent = n, spent
			return e.gaveUp(verdict{remedy: pause, err: errors.New("the snapshot is still being taken")})
		}
		if err := pollPause(ctx, n); err != nil {
			return err
		}
	}
}

// DeleteSnapshot deletes a snapshot. It fails with ErrNoSnapshot if there is none,
// unless an attempt whose response was lost has deleted it.
func (c *Client) DeleteSnapshot(ctx context.Context, name string) error {
	e := retryState{what: "delete snapshot " + name}
	err := c.callMaster(ctx, &e, "DeleteSnapshot", &wire.SnapshotRequest{Snapshot: wire.Snapshot{Name: name, Type: wire.SnapshotFlush}},
		func(*rpc.Response) error { return nil })
	if e.lost > 0 && errors.Is(err, ErrNoSnapshot) {
		return nil
	}
	return err
}

// Snapshots returns all complete snapshots that the client's user may see, in no
// promised order.
func (c *Client) Snapshots(ctx context.Context) ([]wire.Snapshot, error) {
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return c.snapshots(ctx)
}

func (c *Client) snapshots(ctx context.Context) ([]wire.Snapshot, error) {
	var all []wire.Snapshot
	e := retryState{what: "list snapshots"}
	err := c.callKnown(ctx, &e, c.masterServer, "GetCompletedSnapshots", wire.Raw(nil), func(r *rpc.Response) error {
		var err error
		all, err = wire.DecodeSnapshots(r.Param)
		return err
	})
	return all, err
}
