// Package snapshot reads a table of HBase from a snapshot. It reads the HFiles in their
// place in HBase's file system and calls no server.
//
//	ROOT/.hbase-snapshot/NAME/.snapshotinfo     whose it is, and since when
//	ROOT/.hbase-snapshot/NAME/data.manifest     the schema; of each region the files
//	ROOT/data/NAMESPACE/TABLE/REGION/FAMILY/FILE
//	ROOT/archive/data/…                         where compactions move files that
//	                                            a snapshot still needs
//
// The package merges a region's files in the order of package cell. If cells are equal,
// the cell that was written last counts. The sequence number of a cell shows when it was
// written. Cells of a bulk-loaded file have the sequence number of the file. Then the package
// applies deletes and leaves out cells that have outlived the family's TTL or their own TTL. It
// returns as many versions of each column as the family keeps, the newest first. A scan for all
// versions returns the same.
//
// The package refuses data that only a RegionServer can read: large values in files of
// their own, cells with permissions or labels, encrypted files.
package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"sync"
	"time"

	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/table"
)

var (
	// ErrNone is wrapped if there is no snapshot of that name.
	ErrNone = errors.New("no such snapshot")
	// ErrGone is wrapped if a file of the snapshot does not exist: the snapshot was
	// removed meanwhile.
	ErrGone = errors.New("file is gone; was the snapshot removed meanwhile?")
)

const (
	// readAhead is the most that one read of a file requests, leastAhead the least of many
	// files, and allAhead is about what all files of a region ask for together.
	readAhead  = 1 << 20
	leastAhead = 128 << 10
	allAhead   = 8 << 20

	// keepRegions is the number of regions that stay open without a reader: the next piece
	// of an extract is most often of the same region.
	keepRegions = 8

	layoutVersion = 2 // of snapshots; 1 was a directory for each region
)

// Config names a snapshot and has the meaning of its cells.
type Config struct {
	FS   dfs.FS
	Root string // the directory of HBase's files
	Name string
	// Table is whose snapshot it must be, with the namespace unless that is
	// "default".
	Table string
	// Info describes the table. Without a Version it gets the snapshot's own.
	Info table.Info
	Now  time.Time // what TTLs are counted to
}

// A Table is a snapshot of a table. It never changes.
type Table struct {
	fs      dfs.FS
	root    string
	info    table.Info
	name    wire.TableName
	family  family
	regions []*region

	mu   sync.Mutex
	idle []*region // open and not read, the longest first
}

// Open reads the description of a snapshot. It fails with ErrNone if the snapshot does
// not exist. It fails with table.ErrUnfit if the snapshot is of another table, may not
// be read, or has data that cannot be read from files.
func Open(ctx context.Context, c Config) (*Table, error) {
	t, err := open(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", c.Name, explain(err))
	}
	return t, nil
}

func open(ctx context.Context, c Config) (*Table, error) {
	dir := dfs.Join(c.Root, ".hbase-snapshot", c.Name)
	b, err := dfs.ReadFile(ctx, c.FS, dfs.Join(dir, ".snapshotinfo"))
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	if err != nil {
		return nil, err
	}
	info, err := wire.DecodeSnapshotInfo(b)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", dir, err)
	case info.Table != wire.ParseTableName(c.Table):
		return nil, fmt.Errorf("%w: it is of table %s, not of %s", table.ErrUnfit, info.Table, c.Table)
	case info.Layout != layoutVersion:
		return nil, fmt.Errorf("%w: its layout is version %d, not %d; take another with a newer HBase", table.ErrUnfit, info.Layout, layoutVersion)
	}
	if b, err = dfs.ReadFile(ctx, c.FS, dfs.Join(dir, "data.manifest")); err != nil {
		return nil, err
	}
	m, err := wire.DecodeSnapshotManifest(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if c.Info.Version == "" {
		c.Info.Version = fmt.Sprintf("snapshot %s of %d", c.Name, info.Created)
	}
	t := &Table{fs: c.FS, root: c.Root, info: c.Info, name: m.Table.Name}
	if t.family, err = familyOf(&m.Table, c.Info.Family, c.Now); err == nil {
		t.regions, err = regionsOf(m, c.Info.Family)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", table.ErrUnfit, err)
	}
	return t, nil
}

// explain adds the next step to an error, and the status: whether another attempt may help.
func explain(err error) error {
	is := func(targets ...error) bool {
		return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
	}
	switch {
	case err == nil || is(table.ErrUnfit):
		return err
	case is(iofs.ErrPermission):
		return fmt.Errorf("%w: %w; let HBase's files be read by that user (docs/explanation/hbase.md says how), name another user with $HADOOP_USER_NAME, or read through the servers: --plan auto", table.ErrUnfit, err)
	case is(hfile.ErrUnsupported, errOwnRights, errLabels, errMOB):
		return fmt.Errorf("%w: %w; read it through the servers: --plan auto", table.ErrUnfit, err)
	}
	return err
}

// Info implements table.Table.
func (t *Table) Info() table.Info { return t.info }

// Regions implements table.Table. It returns the regions at the moment of the snapshot.
func (t *Table) Regions(context.Context) ([]split.Region, error) {
	out := make([]split.Region, len(t.regions))
	for i, r := range t.regions {
		out[i] = r.Region
	}
	return out, nil
}

// Read implements table.Table: a row is visited once.
func (t *Table) Read(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
	if q.Ranges == nil {
		q.Ranges = table.RowRanges(q.Rows)
	}
	for _, r := range t.among(q.Bounds) {
		if err := t.readRegion(ctx, r, q, emit); err != nil {
			return explain(err)
		}
	}
	return nil
}

func (t *Table) readRegion(ctx context.Context, r *region, q table.Query, emit func(*cell.Cell) error) error {
	within := overlap(q.Bounds, r.Region)
	m, err := t.begin(ctx, r, within, &q)
	if err != nil {
		return err
	}
	defer t.release(r)
	for asked := range q.Ranges {
		g := overlap(asked, within)
		if len(g.End) > 0 && bytes.Compare(g.Start, g.End) >= 0 {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := m.seek(g.Start, g.End); err != nil {
			return err
		}
		for {
			c, err := m.next(ctx)
			if err != nil {
				return err
			}
			if c == nil {
				break
			}
			if err := emit(c); err != nil {
				return err
			}
			if q.Exist {
				m.leaveRow()
			}
		}
	}
	return nil
}

// choiceOf returns the choice for the cells that q requests.
func (t *Table) choiceOf(q *table.Query) choice {
	if q.Exist {
		return choice{}
	}
	c := choice{columns: q.Columns}
	c.rows, c.perRow = q.First(t.info.Layout)
	return c
}

// begin merges the files of a region that can have requested cells within a part of the
// region. The caller must call release afterwards.
func (t *Table) begin(ctx context.Context, r *region, within split.Region, q *table.Query) (*merge, error) {
	t.hold(r)
	all, err := r.open(ctx, t.fs, t.root, t.name, t.info.Family)
	if err != nil {
		t.release(r)
		return nil, err
	}
	var files []*file
	for _, f := range all {
		if f.meets(within.Start, within.End) && f.hasTimes(q.Times) {
			files = append(files, f)
		}
	}
	return newMerge(files, t.family, t.choiceOf(q)), nil
}

// hold keeps a region's files open until it is released.
func (t *Table) hold(r *region) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.users == 0 {
		t.idle = slices.DeleteFunc(t.idle, func(o *region) bool { return o == r })
	}
	r.users++
}

func (t *Table) release(r *region) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.users--; r.users > 0 {
		return
	}
	if t.idle = append(t.idle, r); len(t.idle) > keepRegions {
		// A failing Close loses nothing: the file was only read.
		_ = t.idle[0].close()
		t.idle = t.idle[1:]
	}
}

// among returns the regions that overlap a range.
func (t *Table) among(g split.Region) []*region {
	first, found := slices.BinarySearchFunc(t.regions, g.Start, func(r *region, key []byte) int { return bytes.Compare(r.Start, key) })
	if !found {
		first--
	}
	last := len(t.regions)
	if len(g.End) > 0 {
		last, _ = slices.BinarySearchFunc(t.regions, g.End, func(r *region, key []byte) int { return bytes.Compare(r.Start, key) })
	}
	return t.regions[first:max(first, last)]
}

// overlap returns the intersection of two ranges.
func overlap(a, b split.Region) split.Region {
	if bytes.Compare(b.Start, a.Start) > 0 {
		a.Start = b.Start
	}
	if len(a.End) == 0 || len(b.End) > 0 && bytes.Compare(b.End, a.End) < 0 {
		a.End = b.End
	}
	return a
}

// Close implements table.Table. No reads may be under way.
func (t *Table) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.idle = nil
	var errs []error
	for _, r := range t.regions {
		errs = append(errs, r.close())
	}
	return errors.Join(errs...)
}
