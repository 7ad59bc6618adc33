package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/split"
	"usertrail/internal/store/hbase"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/table"
	"usertrail/internal/table/snapshot"
)

const (
	// snapshotPrefix begins the names of the snapshots that extracts take:
	// usertrail-extract-NAMESPACE-TABLE-TIME-NUMBER. The time is in ms. The number is arbitrary,
	// so that two extracts at the same time have different names.
	snapshotPrefix = "usertrail-extract-"
	// snapshotAge is longer than any extract runs. An older snapshot was left by a killed
	// extract. It is also the snapshot's TTL.
	snapshotAge = 24 * time.Hour
	// dropLimit limits the time that the end of an extract waits for the drop of its
	// snapshot.
	dropLimit = time.Minute
)

// Snapshot returns a snapshot of a table that the store opened or made. It reads HBase's files. If
// name is not empty, it reads the snapshot of that name and never drops it. It returns
// snapshot.ErrNone if there is none. If name is empty, it takes a snapshot, which has all puts up
// to now. The Close of the returned table drops it. The snapshot has the committed state with which
// the table was opened. If the state has changed, the error is the error of table.Unchanged.
func (s *Store) Snapshot(ctx context.Context, of table.Table, name string) (table.Table, error) {
	root, err := s.home()
	if err != nil {
		return nil, err
	}
	c := snapshot.Config{FS: s.fs, Root: root, Name: name, Table: s.address.Table, Info: of.Info(), Now: time.Now()}
	c.Info.Narrow = false // files are read whole
	if name != "" {
		c.Info.Version = "" // the table's version includes later loads
		t, err := snapshot.Open(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", s.address, err)
		}
		return t, nil
	}
	if err := table.Unchanged(ctx, of); err != nil {
		return nil, err
	}
	c.Name = fmt.Sprintf("%s%d-%08x", s.snapshotsOfTable(), c.Now.UnixMilli(), rand.Uint32())
	drop := func() error { return s.dropSnapshot(ctx, c.Name) }
	how := hbase.SnapshotOptions{SkipFlush: s.readOnly, TTL: snapshotAge}
	if err := s.client.Snapshot(ctx, s.address.Table, c.Name, how); err != nil {
		err = s.explainSnapshot(err)
		if ctx.Err() != nil || errors.Is(err, table.ErrUnreachable) {
			err = errors.Join(err, drop()) // the snapshot may exist despite the error
		}
		return nil, err
	}
	err = table.SameState(ctx, of)
	if err == nil {
		err = s.dropLeft(ctx, c.Name)
	}
	if err != nil {
		return nil, errors.Join(err, drop())
	}
	t, err := snapshot.Open(ctx, c)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("table %s: %w", s.address, err), drop())
	}
	live, _ := of.(*Table)
	return &taken{Table: t, of: live, drop: drop}, nil
}

// snapshotsOfTable returns the prefix of the names of the snapshots that extracts take of the table.
func (s *Store) snapshotsOfTable() string {
	t := wire.ParseTableName(s.address.Table)
	return snapshotPrefix + t.Namespace + "-" + t.Qualifier + "-"
}

// dropLeft drops the snapshots that killed extracts of the table left. It compares their times with
// the time of the snapshot called ours. The master's clock set both, so the clock of this machine does
// not matter. A user who cannot see a snapshot may not drop it either.
func (s *Store) dropLeft(ctx context.Context, ours string) error {
	all, err := s.client.Snapshots(ctx)
	if errors.Is(err, hbase.ErrPermission) {
		return nil
	}
	if err != nil {
		return s.address.explain(err)
	}
	for _, x := range all {
		if x.Name == ours {
			return s.dropOld(ctx, all, time.UnixMilli(int64(x.Created)))
		}
	}
	return nil
}

// dropOld drops the snapshots among all that extracts of the table took more than snapshotAge
// before now.
func (s *Store) dropOld(ctx context.Context, all []wire.Snapshot, now time.Time) error {
	for _, x := range all {
		old := time.UnixMilli(int64(x.Created)).Before(now.Add(-snapshotAge))
		if !old || x.Table != wire.ParseTableName(s.address.Table) || !strings.HasPrefix(x.Name, s.snapshotsOfTable()) {
			continue
		}
		err := s.client.DeleteSnapshot(ctx, x.Name)
		if err != nil && !errors.Is(err, hbase.ErrNoSnapshot) && !errors.Is(err, hbase.ErrPermission) {
			return s.address.explain(err)
		}
	}
	return nil
}

// dropSnapshot drops a snapshot, even if ctx has ended.
func (s *Store) dropSnapshot(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), dropLimit, errDrop)
	defer cancel()
	if err := s.client.DeleteSnapshot(ctx, name); err != nil && !errors.Is(err, hbase.ErrNoSnapshot) {
		return fmt.Errorf("table %s: drop snapshot %s: %w", s.address, name, err)
	}
	return nil
}

var errDrop = fmt.Errorf("it took more than %s", dropLimit)

// explainSnapshot is explain for the errors of taking a snapshot.
func (s *Store) explainSnapshot(err error) error {
	switch {
	case errors.Is(err, hbase.ErrPermission):
		return fmt.Errorf("table %s: %w: %w; %s; or read another user's snapshot: --snapshot NAME; or read through the servers: --plan auto",
			s.address, table.ErrUnfit, err, granting(err, "A", "'"+s.address.Table+"'"))
	case strings.Contains(err.Error(), "hbase.snapshot.enabled"):
		return fmt.Errorf("table %s: %w: HBase has snapshots disabled: %w; or read through the servers: --plan auto", s.address, table.ErrUnfit, err)
	}
	return s.address.explain(err)
}

// taken is a snapshot that Snapshot took.
type taken struct {
	*snapshot.Table
	of   *Table // nil if it is not known
	drop func() error
}

// Users implements table.Table. The snapshot has all rows of the loads that were committed when the
// table was opened, so the rolls of the table name its users.
func (t *taken) Users(ctx context.Context, r split.Region, span behaviour.Span) (table.Users, error) {
	if t.of != nil {
		if q, ok := t.of.query(r, span); ok {
			return t.of.rolls.Users(ctx, q)
		}
	}
	return t.Table.Users(ctx, r, span)
}

// Close implements table.Table.
func (t *taken) Close() error { return errors.Join(t.Table.Close(), t.drop()) }
