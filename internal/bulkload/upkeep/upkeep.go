// Package upkeep replaces files of a table of files:
//
//	Compact   merges the many small files of daily loads into a few files for each month
//	Drop      removes the days before a date
//	Undrop    restores the days that were dropped last, while their files are kept
//
// Compact and Drop read files that the manifest names, write new files next to them, read the
// new files back, and then replace the manifest. Undrop writes no HFile; it only replaces the
// manifest. The table's lock keeps loads from running meanwhile. Extracts may run. They
// continue with the manifest that they opened. The files that it names are retired. They are
// removed by the first sweep after Config.KeepFor has passed.
//
// # Killed at any moment
//
// The next run that holds the lock removes files that no manifest names. Compact commits month
// by month, so the same command continues with the next month. Drop commits once, or twice if
// it needs the room of the first commit.
//
// # Memory
//
// The inputs get three fifths of Config.Memory, or less if the rest of the program needs more.
// Each worker merges as many files at once as its share has room for their blocks. It merges
// the other files in later passes. A worker holds the block and the index of the HFile that it
// writes. It also holds the data of one row that the roll needs, up to a fraction of
// Config.Memory. It sorts the data of larger rows on disk.
package upkeep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"usertrail/internal/bulkload"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/exit"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/precheck"
	"usertrail/internal/table/segment"
	"usertrail/internal/tally"
)

var (
	// ErrNothing is wrapped if there was nothing to do.
	ErrNothing = exit.New(exit.Nothing, "nothing to do")
	// ErrDamaged is wrapped if a table does not hold the cells in its ledgers.
	ErrDamaged = errors.New("the table does not hold what was loaded; bulkload verify says where")
)

const (
	// MinMemory is the smallest Config.Memory, in bytes, that a process can observe.
	MinMemory = segment.MinMemory
	// DefaultKeepFor is longer than an extract runs.
	DefaultKeepFor = 24 * time.Hour
)

// Config configures one call. The comment of a field names the default for its zero value.
type Config struct {
	FS    dfs.FS
	Store table.StoreOfFiles
	// KeepFor is how long replaced files are kept. By default the next sweep removes them.
	KeepFor time.Duration
	All     bool // Drop may remove every day

	FileSize int64 // bytes; files as large as this are left alone; 16 GiB
	Workers  int   // files written at once; 1
	Memory   int64 // bytes; 1 GiB
	Progress progress.Config
	Log      *slog.Logger // discards all messages
}

// A run is one call.
type run struct {
	cfg      Config
	table    table.OfFiles
	log      *slog.Logger
	progress *progress.Progress
}

func newRun(cfg Config) *run {
	if cfg.Workers <= 0 {
		cfg.Workers = 1
	}
	if cfg.Memory <= 0 {
		cfg.Memory = 1 << 30
	}
	cfg.Workers = segment.Workers(cfg.Memory, cfg.Workers)
	if cfg.FileSize <= 0 {
		cfg.FileSize = 16 << 30
	}
	r := &run{cfg: cfg, log: cfg.Log}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	return r
}

// open opens the table.
func (r *run) open(ctx context.Context) (err error) {
	r.table, err = r.cfg.Store.OpenFiles(ctx)
	return err
}

// locked calls do with the table's lock held. It removes remains before and after do. If no
// table exists, it makes none.
func (r *run) locked(ctx context.Context, do func() error) error {
	return r.held(ctx, func() error {
		if _, err := r.table.Recover(ctx); err != nil {
			return err
		}
		return do()
	})
}

// held is locked, but removes remains only after do has succeeded.
func (r *run) held(ctx context.Context, do func() error) (err error) {
	if err := r.open(ctx); err != nil {
		return err
	}
	if err := r.table.Close(); err != nil {
		return err
	}
	lock, err := r.cfg.Store.Lock(ctx)
	if err != nil {
		return err
	}
	defer bulkload.Unlock(lock, &err)
	if err := r.open(ctx); err != nil {
		return err
	}
	defer r.table.Close()
	r.progress = progress.Start(r.cfg.Progress)
	defer r.progress.Done()
	if err := do(); err != nil {
		return err
	}
	_, err = r.table.Recover(ctx)
	return err
}

// whole returns an error if the files of a table do not have the cells that its ledgers list.
// If a run replaced such files, the missing cells would be lost permanently.
func whole(m *manifest.Table) error {
	var files, gone tally.Tally
	for i := range m.Files {
		files.Add(m.Files[i].Tally)
	}
	for _, d := range m.Dropped {
		gone.Add(d.Tally)
	}
	if want := m.Total().Since(gone); files != want {
		return fmt.Errorf("%w: its files hold %s, and its ledgers have %s", ErrDamaged, files, want)
	}
	return nil
}

// room returns an error if the base cannot be written, or if there is not enough space for need more bytes of HFiles and rolls, and
// for the manifest. If cfg.KeepFor is 0, room first removes the retired files of earlier calls.
func (r *run) room(ctx context.Context, need int64, advice string) error {
	if err := catalog.CheckBaseWritable(ctx, r.cfg.FS, r.cfg.Store.Address()); err != nil {
		return err
	}
	records, err := r.records(ctx)
	if err != nil {
		return err
	}
	demand := func(advice string) error {
		return precheck.Demand(ctx, r.cfg.FS, r.cfg.Store.Address(), need+records, advice)
	}
	if r.cfg.KeepFor > 0 {
		return demand("make room; or write --keep-for 0s while no extract runs, so that files which were replaced before are removed first; or " + advice)
	}
	err = demand(advice)
	if !errors.Is(err, precheck.ErrNoRoom) {
		return err
	}
	if err := r.table.ForgetRetired(ctx); err != nil {
		return err
	}
	return demand("files which were replaced before are gone: make room, or " + advice)
}

// roomForRecords returns an error if the base cannot be written, or if there is not enough space for the manifest. It removes
// nothing.
func (r *run) roomForRecords(ctx context.Context) error {
	if err := catalog.CheckBaseWritable(ctx, r.cfg.FS, r.cfg.Store.Address()); err != nil {
		return err
	}
	need, err := r.records(ctx)
	if err != nil {
		return err
	}
	return precheck.Demand(ctx, r.cfg.FS, r.cfg.Store.Address(), need, "make room")
}

// records returns the approximate number of bytes of the new manifest, which is written next to
// the old one, and of the list of retired files if there is one. The copy in base uses the room
// of the old manifest.
func (r *run) records(ctx context.Context) (int64, error) {
	info, err := r.cfg.FS.Stat(ctx, dfs.Join(r.cfg.Store.Address(), catalog.ManifestName))
	if r.cfg.KeepFor > 0 {
		return 2 * info.Size, err
	}
	return info.Size, err
}

// next returns a copy of the table's manifest with its own list of files, which the caller may
// change.
func (r *run) next() *manifest.Table {
	m := *r.table.Manifest()
	m.Files = append([]manifest.File{}, m.Files...)
	m.Rewritten++
	return &m
}

// replaced puts each new file at the position of the first of its inputs. If the new file is
// empty, replaced only removes the inputs.
func replaced(files []manifest.File, done []rewritten) []manifest.File {
	by, first := map[string]*manifest.File{}, map[string]bool{}
	for i := range done {
		for j, in := range done[i].inputs {
			by[in.Name], first[in.Name] = &done[i].file, j == 0
		}
	}
	out := []manifest.File{}
	for _, f := range files {
		made, ok := by[f.Name]
		switch {
		case !ok:
			out = append(out, f)
		case first[f.Name] && made.Records > 0:
			out = append(out, *made)
		}
	}
	return out
}
