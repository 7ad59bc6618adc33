// Package catalog manages the directory that describes a table: the manifest, the ledgers of
// all loads, the bad records and the lock. A table of files has its catalog in its own
// directory. A live table has a separate catalog directory.
//
//	DIR/manifest.json        the content of the table (package manifest)
//	DIR/loads/000001.json    the ledger of load 1
//	DIR/loading.json         the load that is being made
//	DIR/base/000002.json     a copy of the manifest of the table that was rewritten twice
//	DIR/begun.json           files and rolls that may be in the table without a ledger
//	DIR/d/…                  rolls, and the HFiles of a table of files
//	DIR/handover.json        a load whose files are being handed to HBase
//	DIR/retired.json         files that were replaced, and the time until which they stay
//	DIR/forgotten/000001     a catalog whose table is gone, set aside
//	DIR/quarantine/…         bad records, a file for each delivered file
//	DIR/lock                 held while a load runs
//	DIR/plans/ID/…           a load in pieces: the plan, and the report of each piece
//	DIR/pieces/ID/…          rolls of the pieces, and the HFiles of a table of files
//	DIR/convert/…            a conversion to this table: the plan, and the finished parts
//
// A load commits by replacing the manifest, after it has written every file that the manifest
// names. If no manifest names a ledger and loading.json has its number, a killed load left the
// ledger. The next load removes it. A killed first load or conversion leaves no manifest. If
// loading.json names load 1, the directory is a first load or a conversion; otherwise a directory
// with files of a table has lost its manifest.
package catalog

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"sync"
	"syscall"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/precheck"
	"usertrail/internal/table/runlog"
)

// Names in a catalog's directory.
const (
	ManifestName   = manifest.TableName
	TempName       = "tmp" // sorted runs of the load that is running
	lockName       = "lock"
	quarantineName = "quarantine"
	loadsName      = "loads"
	begunName      = "begun.json"
	handoverName   = "handover.json"
	retiredName    = "retired.json"
)

// A Catalog is a directory as one manifest describes it. Its methods may be called by many
// goroutines at once.
type Catalog struct {
	fs     dfs.FS
	dir    string
	layout layout.Layout

	mu sync.Mutex
	m  *manifest.Table

	beginning sync.Mutex
	noted     int // the load that begin wrote into loading.json; 0 is none
}

// Open opens the catalog in dir. If dir has no table, the error wraps table.ErrNoTable. If the
// ledgers do not match the manifest, the error wraps table.ErrDamaged.
func Open(ctx context.Context, fs dfs.FS, dir string) (*Catalog, error) {
	m, err := ReadTable(ctx, fs, dir)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, noTable(ctx, fs, dir)
	}
	if err == nil {
		m, err = checkLedgers(ctx, fs, dir, m)
	}
	if err != nil {
		return nil, fmt.Errorf("open table %s: %w", dir, err)
	}
	return newCatalog(fs, dir, m)
}

// ReadTable reads the manifest of the table in dir. If it is damaged, the error wraps
// manifest.ErrDamaged and has the next step.
func ReadTable(ctx context.Context, fs dfs.FS, dir string) (*manifest.Table, error) {
	m := new(manifest.Table)
	err := read(ctx, fs, dfs.Join(dir, ManifestName), m)
	if err == nil {
		err = m.Validate()
	}
	switch {
	case errors.Is(err, manifest.ErrDamaged):
		err = fmt.Errorf("%w: put %s back from a copy of the table, or let bulkload rebuild make it again", err, ManifestName)
	case errors.Is(err, dfs.ErrNotDir), errors.Is(err, syscall.ELOOP) && isLoop(ctx, fs, dir):
		err = noDirectory(err)
	case errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ELOOP), errors.Is(err, dfs.ErrSpecial):
		err = fmt.Errorf("%w: move it away, then let bulkload rebuild make the file again", err)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// isLoop reports whether a directory cannot be found because of a link to itself.
func isLoop(ctx context.Context, fs dfs.FS, dir string) bool {
	_, err := fs.Stat(ctx, dir)
	return errors.Is(err, syscall.ELOOP)
}

// noDirectory adds the next step to the error of something else in the place of the directory of a table, or of a directory above it. It
// returns any other error as it is.
func noDirectory(err error) error {
	switch {
	case errors.Is(err, dfs.ErrNotDir):
		return fmt.Errorf("%w: a table is a directory: correct the name of the table", err)
	case errors.Is(err, syscall.ELOOP):
		return fmt.Errorf("%w: %w: a table is a directory, and a link to itself is in its place: correct the name of the table, or remove the link", table.ErrUnfit, err)
	}
	return err
}

// noTable returns the error for a directory that has no manifest. A conversion to it may be
// unfinished.
func noTable(ctx context.Context, fs dfs.FS, dir string) error {
	if err := CheckBare(ctx, fs, dir); err != nil && !errors.Is(err, iofs.ErrExist) {
		return err
	}
	c, err := Workshop{fs, dir}.Plan(ctx)
	if err != nil {
		return err
	}
	if c != nil {
		return fmt.Errorf("%w: %s is not finished: a bulkload convert makes it from %s, or was killed: wait for bulkload convert --to %s, or run it again", table.ErrUnfit, dir, c.From, c.Layout)
	}
	return fmt.Errorf("%w: %s holds no %s: correct the name of the table, or load first", table.ErrNoTable, dir, ManifestName)
}

// New returns a catalog for dir, which has no load yet. The catalog owns m.
func New(fs dfs.FS, dir string, m *manifest.Table) (*Catalog, error) {
	m.Files, m.Loads = []manifest.File{}, []manifest.LoadRef{}
	m.SetVersion()
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("make table %s: %w", dir, err)
	}
	return newCatalog(fs, dir, m)
}

func newCatalog(fs dfs.FS, dir string, m *manifest.Table) (*Catalog, error) {
	l, err := layout.ByName(m.Layout)
	if err != nil {
		return nil, fmt.Errorf("open table %s: %w: %w; a release that knows it made the table", dir, table.ErrUnfit, err)
	}
	return &Catalog{fs: fs, dir: dir, layout: l, m: m}, nil
}

// Dir returns the catalog's directory.
func (c *Catalog) Dir() string { return c.dir }

// Layout returns the table's key design.
func (c *Catalog) Layout() layout.Layout { return c.layout }

// Manifest returns the manifest as it was when the catalog was opened, or after the catalog's
// last commit or change. The caller must not change it.
func (c *Catalog) Manifest() *manifest.Table {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.m
}

func (c *Catalog) set(m *manifest.Table) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.m = m
}

// Extend merges a job's schema into the table's schema. The next load writes the merged schema
// to the manifest.
func (c *Catalog) Extend(s *behaviour.Schema) error {
	m := *c.Manifest()
	merged, err := m.Schema.Merge(s)
	if err != nil {
		return fmt.Errorf("table %s: %w", c.dir, err)
	}
	m.SetSchema(merged)
	c.set(&m)
	return nil
}

// SetAlone records whether loads wrote all cells of the table. The next load writes it to the
// manifest.
func (c *Catalog) SetAlone(alone bool) {
	m := *c.Manifest()
	m.Alone = alone
	c.set(&m)
}

// SetCluster records the ID of the HBase cluster that has the table. The next load writes it to
// the manifest.
func (c *Catalog) SetCluster(id string) {
	m := *c.Manifest()
	m.Cluster = id
	c.set(&m)
}

// Version returns a string that changes when a load commits or days are dropped. A merge of
// files does not change it, because readers see the same rows.
func (c *Catalog) Version() string { return c.Manifest().State() }

// VersionNow reads the manifest and returns the version of the directory now. If no manifest
// exists, it returns the version of a table without loads.
func (c *Catalog) VersionNow(ctx context.Context) (string, error) {
	m, err := ReadTable(ctx, c.fs, c.dir)
	if errors.Is(err, iofs.ErrNotExist) {
		m, err = new(manifest.Table), nil
	}
	if err != nil {
		return "", err
	}
	return m.State(), nil
}

// NextLoad returns the number of the next load.
func (c *Catalog) NextLoad() int { return c.Manifest().Next() }

// Commit adds a load's ledger and files to the table.
func (c *Catalog) Commit(ctx context.Context, load *manifest.Load, files []manifest.File) error {
	return c.CommitAs(ctx, load, c.With(load, files))
}

// With returns the manifest with a load's ledger and files added.
func (c *Catalog) With(load *manifest.Load, files []manifest.File) *manifest.Table {
	m := *c.Manifest()
	ref := manifest.RefOf(load, ledgerOf(load.Number))
	m.Files = append(slices.Clip(m.Files), files...)
	m.Loads = append(slices.Clip(m.Loads), ref)
	m.SetVersion()
	return &m
}

func ledgerOf(load int) string { return fmt.Sprintf("%s/%06d.json", loadsName, load) }

// CommitAs writes a load's ledger and then replaces the manifest by m. The load must be the
// last load of m.
func (c *Catalog) CommitAs(ctx context.Context, load *manifest.Load, m *manifest.Table) error {
	return c.commit(ctx, load, m, m.Of(load.Number))
}

// commit is CommitAs with the manifest for the ledger.
func (c *Catalog) commit(ctx context.Context, load *manifest.Load, m, own *manifest.Table) error {
	if err := m.CheckDropped(); err != nil {
		return fmt.Errorf("commit load %d: %w", load.Number, err)
	}
	breakpoint.Reach(breakpoint.Commit)
	if err := c.begin(ctx, load.Number); err != nil {
		return err
	}
	if load.Plan != "" {
		if err := c.setPlan(ctx, load.Number, load.Plan); err != nil {
			return err
		}
	}
	load.Table, load.Previous = own, ""
	if n := len(m.Loads); n > 1 {
		load.Previous = m.Loads[n-2].SHA256
	}
	if err := c.writeLedger(ctx, &m.Loads[len(m.Loads)-1], load); err != nil {
		return err
	}
	breakpoint.Reach(breakpoint.Ledger)
	if err := manifest.Write(ctx, c.fs, dfs.Join(c.dir, ManifestName), m); err != nil {
		return fmt.Errorf("commit load %d: %w", load.Number, unwritable(err))
	}
	c.set(m)
	endLoading(ctx, c.fs, c.dir)
	breakpoint.Reach(breakpoint.Loaded)
	return nil
}

// Rewrite adds a load whose files have all cells of files of earlier loads, and cells that the load added to
// their records. by has the new files by the names of the HFiles that they replace. These stay for keepFor.
func (c *Catalog) Rewrite(ctx context.Context, load *manifest.Load, by map[string]manifest.File, keepFor time.Duration) error {
	m := c.With(load, nil)
	m.Files, load.Replaced = slices.Clone(m.Files), nil
	var made []manifest.File
	for i := range m.Files {
		if f, ok := by[m.Files[i].Name]; ok {
			load.Replaced, made = append(load.Replaced, m.Files[i].Name), append(made, f)
			m.Files[i] = f
		}
	}
	if len(made) > 0 {
		if err := c.retire(ctx, m, keepFor); err != nil {
			return err
		}
	}
	own := m.Of(load.Number)
	own.Files = append(own.Files, made...)
	return c.commit(ctx, load, m, own)
}

// Sweep removes the remains of a killed load: unfinished files, sorted runs, and ledgers that
// the manifest does not name, and the workshop of a conversion that has made the table. It also removes a file of folder unless the manifest or Left
// names it, or it is retired and still kept.
func (c *Catalog) Sweep(ctx context.Context, folder string) error {
	r, err := c.retired(ctx)
	if err != nil {
		return err
	}
	return unwritable(c.sweep(ctx, folder, r, r.kept(time.Now(), c.Manifest())))
}

// sweep is Sweep with the list of retired files before and after. It removes files before it replaces the
// list, so that a retired file which exists is always in the list. Then the list fits the manifest, and no replacement is under way.
func (c *Catalog) sweep(ctx context.Context, folder string, before, kept retired) error {
	if err := sweepPending(ctx, c.fs, c.dir); err != nil {
		return err
	}
	if err := c.fs.Remove(ctx, dfs.Join(c.dir, TempName)); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	if err := c.keepBase(ctx); err != nil { // without it, Rebuild needs the files that go now
		return err
	}
	m := c.Manifest()
	var files []string
	for _, f := range m.Files {
		files = append(files, f.Name, f.Roll)
	}
	left, err := c.Left(ctx)
	if err != nil {
		return err
	}
	for _, r := range left.Rolls {
		files = append(files, r.Roll)
	}
	files = append(files, kept.names()...)
	if err := c.SweepLedgers(ctx); err != nil {
		return err
	}
	if err := (Workshop{c.fs, c.dir}).End(ctx); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	if err := c.sweepOthers(ctx, folder, files); err != nil {
		return err
	}
	if err := c.sweepPieces(ctx, files); err != nil {
		return err
	}
	if err := c.fitRetired(ctx, before, kept); err != nil {
		return err
	}
	return c.endReplacing(ctx)
}

// SweepLedgers removes the ledgers that the manifest does not name. Callers run it before they
// finish a killed load, because the killed process may have written the ledger.
func (c *Catalog) SweepLedgers(ctx context.Context) error {
	var known []string
	for _, l := range c.Manifest().Loads {
		known = append(known, l.Name)
	}
	return c.sweepOthers(ctx, loadsName, known)
}

// sweepOthers removes the files of a folder of the catalog that are not in known, if their names are names of files that runs
// write. The names in known are relative to the catalog's directory.
func (c *Catalog) sweepOthers(ctx context.Context, folder string, known []string) error {
	list, err := c.fs.List(ctx, dfs.Join(c.dir, folder))
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sweep: %w", unlistable(folder, err))
	}
	keep := map[string]bool{}
	for _, name := range known {
		keep[name] = true
	}
	for _, f := range list {
		if name := folder + "/" + dfs.Base(f.Name); keep[name] || !isOurs(name, f.Dir) {
			continue
		}
		if err := c.fs.Remove(ctx, f.Name); err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
	}
	return nil
}

// Lock locks the catalog in dir against other loads. It makes dir if dir does not exist. If
// another load runs, the error wraps dfs.ErrLocked. Lock first calls CheckNew and returns its
// error before it writes anything.
//
// Lock removes unfinished files, so that a process that has lost the lock cannot finish them.
// Callers must read the manifest after Lock. The manifest does not change until Unlock.
func Lock(ctx context.Context, fs dfs.FS, dir string) (dfs.Lock, error) {
	if err := CheckNew(ctx, fs, dir); err != nil {
		return nil, err
	}
	if err := fs.Mkdir(ctx, dir); err != nil {
		return nil, fmt.Errorf("make table %s: %w", dir, noDirectory(unwritable(err)))
	}
	l, err := lockRun(ctx, fs, dir)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", dir, unwritable(err))
	}
	err = sweepPending(ctx, fs, dir)
	if err == nil {
		err = beginTable(ctx, fs, dir)
	}
	if err != nil {
		return nil, errors.Join(err, l.Unlock())
	}
	return l, nil
}

// lockRun locks the table, and opens the entry of this run in the run log.
func lockRun(ctx context.Context, fs dfs.FS, dir string) (dfs.Lock, error) {
	l, err := fs.Lock(ctx, dfs.Join(dir, lockName))
	if err != nil {
		return nil, err
	}
	runlog.FromContext(ctx).Begin(ctx, fs, dir)
	breakpoint.Reach(breakpoint.Begun)
	return l, nil
}

// unwritable wraps the error of a table that cannot be written with table.ErrUnfit, as
// pre-checks do. A retry does not help.
func unwritable(err error) error {
	if errors.Is(err, table.ErrUnfit) {
		return err // it has a next step
	}
	return precheck.Unwritable(err)
}

// read reads a JSON file of the catalog into v. If this user may not read the file, the
// error wraps table.ErrUnfit.
func read(ctx context.Context, fs dfs.FS, name string, v manifest.Versioned) error {
	return table.Unreadable(manifest.Read(ctx, fs, name, v))
}

// sweepPending removes unfinished files. It keeps the unfinished files of pieces, because their
// workers do not hold the lock.
func sweepPending(ctx context.Context, fs dfs.FS, dir string) error {
	if err := fs.Sweep(ctx, dir, Plans(dir), dfs.Join(dir, piecesName)); err != nil {
		return fmt.Errorf("sweep %s: %w", dir, unwritable(err))
	}
	return nil
}
