// Package convert copies a table of files into a new table with another layout. It does not
// need the logs. It works in four steps:
//
//	plan    reads the users from the rolls, checks that each fits, and chooses split points by
//	        a sorted sample of them
//	read    reads the files of one load after the other, and decodes cells into records
//	write   gets each new region's records in order from shuffle, and writes cells and a roll
//	found   writes the ledgers with new tallies, and then the manifest
//
// Records keep their column IDs. Loads keep their numbers and delivered files. The next load
// therefore works on the new table as it would have worked on the old one. Merged files stay
// merged: if some files have the same last load, the new table has one file in each region for
// all of them. The conversion reads the old table without its lock, and does not change it.
//
// # Killed at any moment
//
// The new table becomes visible when its manifest is written. When the files of a load are
// done, the conversion records the result (catalog.Workshop). If the same command is run again,
// it continues with the next load. If the old table has changed, it starts from the beginning.
//
// # Memory
//
// Shuffle gets three fifths of Config.Memory, or less if the rest of the program needs more. A
// worker holds the block and the index of the HFile that it reads or writes. It also holds the
// records of one row while they need no more than a fraction of Config.Memory. It sorts larger
// rows on disk.
package convert

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"

	"usertrail/internal/bulkload"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/exit"
	"usertrail/internal/run/outcome"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/segment"
)

var (
	// ErrRequest is wrapped if another attempt will not help: the new layout cannot hold a
	// record, or the table already has this layout.
	ErrRequest = exit.New(exit.Usage, "cannot be converted")
	// ErrDamaged is wrapped if a table does not hold the records and cells in its ledgers.
	ErrDamaged = errors.New("the table does not hold what was loaded; bulkload verify says where")
)

// MinMemory is the smallest Config.Memory, in bytes, that a process can observe.
const MinMemory = segment.MinMemory

// Config configures one conversion. The comment of a field names the default for its zero
// value.
type Config struct {
	FS      dfs.FS
	From    table.StoreOfFiles
	Out     table.StoreOfFiles // no table exists there yet
	Layout  string             // layout of Out
	Regions int                // regions of Out; as many as From has
	Temp    string             // directory, on FS, for sorted runs

	Workers  int   // files read or written at once; 1
	Memory   int64 // bytes; 1 GiB
	Progress progress.Config
	Log      *slog.Logger // discards all messages
}

// A Result describes the new table.
type Result struct {
	Layout  string `json:"layout"`
	Out     string `json:"out"`
	Regions int    `json:"regions"`
	Loads   int    `json:"loads"`
	Records int64  `json:"records"`
	Cells   int64  `json:"cells"`
	Files   int    `json:"files"` // HFiles
	Bytes   int64  `json:"bytes"` // of them
	Read    int64  `json:"bytes_read"`
	Already int    `json:"already"` // number of Files that an unfinished earlier run made
}

// Counted implements outcome.Result.
func (r Result) Counted() outcome.Counts {
	return outcome.Counts{outcome.Records: float64(r.Records), outcome.Cells: float64(r.Cells), outcome.Files: float64(r.Files), outcome.Already: float64(r.Already), outcome.Bytes: float64(r.Bytes)}
}

// A run is one call of Run.
type run struct {
	cfg  Config
	log  *slog.Logger
	shop catalog.Workshop

	from     table.OfFiles
	m        *manifest.Table // manifest of from
	old, new layout.Layout
	origins  manifest.Origins
	ledgers  []*manifest.Load // ledgers of from

	users    *survey // nil until the users have been read
	plan     *manifest.Conversion
	done     []*manifest.Converted
	to       table.OfFiles
	progress *progress.Progress
	result   Result
}

// Run makes the new table. If Run fails, the next call with the same Config continues with the
// files that are done.
func Run(ctx context.Context, cfg Config) (Result, error) {
	r, err := newRun(ctx, cfg)
	if err != nil {
		return Result{Layout: cfg.Layout, Out: cfg.Out.Address()}, err
	}
	defer r.from.Close()
	s, err := r.look(ctx)
	if err != nil {
		return r.result, err
	}
	r.progress = progress.Start(cfg.Progress)
	defer r.progress.Done()
	if s == nothing { // the lock makes the directory: users whom the layout cannot hold are found before
		if err := r.surveyUsers(ctx); err != nil {
			return r.result, err
		}
	}
	lock, err := cfg.Out.Lock(ctx)
	if err != nil {
		return r.result, err
	}
	err = r.locked(ctx)
	bulkload.Unlock(lock, &err)
	return r.result, err
}

func newRun(ctx context.Context, cfg Config) (*run, error) {
	if cfg.Workers <= 0 {
		cfg.Workers = 1
	}
	if cfg.Memory <= 0 {
		cfg.Memory = 1 << 30
	}
	cfg.Workers = segment.Workers(cfg.Memory, cfg.Workers)
	r := &run{cfg: cfg, log: cfg.Log, shop: catalog.Workshop{FS: cfg.FS, Dir: cfg.Out.Address()}}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	l, err := layout.ByName(cfg.Layout)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	r.new, r.result.Layout, r.result.Out = l, l.Name(), cfg.Out.Address()
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// open opens the old table.
func (r *run) open(ctx context.Context) error {
	from, err := r.cfg.From.OpenFiles(ctx)
	if err != nil {
		return err
	}
	r.from, r.m, r.old = from, from.Manifest(), from.Info().Layout
	if err = r.apart(ctx); err == nil && r.old.Name() == r.new.Name() {
		err = fmt.Errorf("%w: %s has the layout %s already", ErrRequest, r.cfg.From.Address(), r.new.Name())
	}
	if err == nil {
		err = from.CheckFiles(ctx)
	}
	if err == nil {
		r.ledgers, err = bulkload.Ledgers(ctx, from, r.cfg.Memory, r.cfg.Log)
		r.origins = manifest.OriginsOf(r.ledgers)
	}
	if err != nil {
		return errors.Join(err, from.Close())
	}
	return nil
}

// locked makes the new table. The caller holds the lock of the new table.
func (r *run) locked(ctx context.Context) error {
	s, err := r.look(ctx)
	if err != nil {
		return err
	}
	if s == finished {
		return r.finish(ctx)
	}
	if err := r.prepare(ctx, s); err != nil {
		return err
	}
	if err := r.convert(ctx); err != nil {
		return err
	}
	return r.found(ctx)
}

// finish ends a conversion whose table is complete. It counts what the table has, and removes the
// workshop.
func (r *run) finish(ctx context.Context) error {
	to, err := r.cfg.Out.OpenFiles(ctx)
	if err != nil {
		return err
	}
	defer to.Close()
	r.count(to.Manifest())
	r.result.Already = r.result.Files
	return r.end(ctx)
}

// end removes the files that only an unfinished conversion needs.
func (r *run) end(ctx context.Context) error {
	if err := r.shop.Tidy(ctx); err != nil {
		return err
	}
	return r.shop.End(ctx)
}

// count sets the counts of the result from the manifest of the new table.
func (r *run) count(m *manifest.Table) {
	r.result.Regions, r.result.Loads, r.result.Files = len(m.Splits)+1, len(m.Loads), len(m.Files)
	for i := range m.Files {
		f := &m.Files[i]
		r.result.Records += f.Records
		r.result.Cells += f.Tally.Cells
		r.result.Bytes += f.Size
	}
}

// there returns an error for an output that the conversion must not change.
func there(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{iofs.ErrExist}, args...)...)
}
