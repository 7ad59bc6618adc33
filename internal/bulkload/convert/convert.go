// Package convert makes another table of a table of files, in another layout, without
// the logs:
//
//	plan    the rolls say who the users are: whether they fit, and where to cut
//	read    the files of one load after the other: cells become records again
//	write   shuffle brings each new region's records in order; they become cells and a roll
//	found   the ledgers with new tallies, and at last the manifest
//
// Records keep their column IDs and loads their numbers and delivered files, so the next
// night goes into the new table as it would have gone into the old one. Files that were
// merged stay merged: what was made of files whose last rows one load brought is one file
// a region. The other table is only read, without its lock.
//
// # Killed at any moment
//
// Nothing of the new table can be seen before its manifest is there. What came of a load's
// files is written down when they are done (catalog.Workshop), so the same again goes on
// with the next, or begins anew where the other table has changed.
//
// # Memory
//
// Shuffle has three fifths of Config.Memory, or less if the program would not fit next to
// that. A worker holds the block and the index of the HFile that it reads or writes, and
// the records of one row as long as they take a fraction of Config.Memory: larger rows are
// sorted on disk.
package convert

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"

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
	// ErrRequest is wrapped where another try will not help: the layout cannot hold a
	// record, or is the table's already.
	ErrRequest = exit.New(exit.Usage, "cannot be converted")
	// ErrDamaged is wrapped where a table does not hold what its ledgers say.
	ErrDamaged = errors.New("the table does not hold what was loaded; bulkload verify says where")
)

// MinMemory is the least Config.Memory, in bytes, that a process keeps to.
const MinMemory = segment.MinMemory

// Config is one conversion. Zero fields take the defaults written beside them.
type Config struct {
	FS      dfs.FS
	From    table.Store
	Out     table.Store // where no table is
	Layout  string      // that of Out
	Regions int         // of Out; as many as From has
	Temp    string      // directory, on FS, for sorted runs

	Workers  int   // files read or written at once; 1
	Memory   int64 // bytes; 1 GiB
	Progress progress.Config
	Log      *slog.Logger // nothing is said
}

// A Result is the table that was made.
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
	Already int    `json:"already"` // of the files, those that an unfinished run before had made
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

	from     table.Cataloged
	m        *manifest.Table // that of from
	old, new layout.Layout
	origins  manifest.Origins
	ledgers  []*manifest.Load // of from

	plan     *manifest.Conversion
	done     []*manifest.Converted
	to       table.Founded
	progress *progress.Progress
	result   Result
}

// Run makes the table. Where it fails, what is done stays done for the same call again.
func Run(ctx context.Context, cfg Config) (Result, error) {
	r, err := newRun(ctx, cfg)
	if err != nil {
		return Result{Layout: cfg.Layout, Out: cfg.Out.Address()}, err
	}
	defer r.from.Close()
	if _, err := r.look(ctx); err != nil {
		return r.result, err
	}
	lock, err := cfg.Out.Lock(ctx)
	if err != nil {
		return r.result, err
	}
	err = r.locked(ctx)
	return r.result, errors.Join(err, lock.Unlock())
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

// open opens the table that is to be converted.
func (r *run) open(ctx context.Context) error {
	t, err := r.cfg.From.Open(ctx)
	if err != nil {
		return err
	}
	from, ok := table.As[table.Cataloged](t)
	if !ok || from.Manifest().Address != "" {
		return errors.Join(fmt.Errorf("%w: %s is not a table of files", table.ErrUnfit, r.cfg.From.Address()), t.Close())
	}
	r.from, r.m, r.old = from, from.Manifest(), from.Info().Layout
	if err = r.apart(ctx); err == nil && r.old.Name() == r.new.Name() {
		err = fmt.Errorf("%w: %s has the layout %s already", ErrRequest, r.cfg.From.Address(), r.new.Name())
	}
	if err == nil {
		r.ledgers, err = from.Ledgers(ctx)
		r.origins = manifest.OriginsOf(r.ledgers)
	}
	if err != nil {
		return errors.Join(err, t.Close())
	}
	return nil
}

// locked makes the table with its lock held.
func (r *run) locked(ctx context.Context) error {
	s, err := r.look(ctx)
	if err != nil {
		return err
	}
	if s == finished {
		return r.tell(ctx)
	}
	r.progress = progress.Start(r.cfg.Progress)
	defer r.progress.Done()
	if err := r.prepare(ctx, s); err != nil {
		return err
	}
	if err := r.convert(ctx); err != nil {
		return err
	}
	return r.found(ctx)
}

// tell ends a conversion of which only the workshop is left.
func (r *run) tell(ctx context.Context) error {
	t, err := r.cfg.Out.Open(ctx)
	if err != nil {
		return err
	}
	defer t.Close()
	to, ok := table.As[table.Cataloged](t)
	if !ok {
		return fmt.Errorf("%w: %s is not a table of files", table.ErrUnfit, r.cfg.Out.Address())
	}
	if r.done, err = r.shop.Done(ctx); err != nil {
		return err
	}
	r.count(to.Manifest())
	r.result.Already = r.result.Files
	return r.end(ctx)
}

// end removes what only a conversion that is not finished needs.
func (r *run) end(ctx context.Context) error {
	if err := r.shop.Tidy(ctx); err != nil {
		return err
	}
	return r.shop.End(ctx, r.done)
}

// count says what is in the table that was made.
func (r *run) count(m *manifest.Table) {
	r.result.Regions, r.result.Loads, r.result.Files = len(m.Splits)+1, len(m.Loads), len(m.Files)
	for i := range m.Files {
		f := &m.Files[i]
		r.result.Records += f.Records
		r.result.Cells += f.Tally.Cells
		r.result.Bytes += f.Size
	}
}

// there is the error of an output that must not be touched.
func there(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{iofs.ErrExist}, args...)...)
}
