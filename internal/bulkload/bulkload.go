// Package bulkload takes delivered log files into a table, as one function:
//
//	plan       which files are new, and which days go together in a batch
//	read       files are digested, read and parsed by many workers at once;
//	           shuffle sorts the records, bad ones go to quarantine
//	write      each region's cells become one HFile and its roll, which are read
//	           back whole and compared with what went in; or the roll is written,
//	           and the files are read once more to put their cells
//	commit     the law is checked, and the table takes the batch in, all at once
//
// Where many machines are to share the work, Plan cuts it into pieces of delivered
// files, or of ranges of large ones, RunPiece does one as Run does a batch, but for the
// commit, and Commit gives the table what all of them made.
//
// Beside Run stand Replay, of corrected records; Import, of a table of files into
// HBase; and what is asked before: PreCheck, DryRun, and the Fit of a new table.
//
// # Killed at any moment
//
// A batch is in the table whole or not at all, or, while it is handed to HBase,
// finished by whoever comes next. The same command finds in the table's ledgers
// which files are in, and goes on with the next batch; what the killed one left
// is swept. Batches depend on the delivered files alone, so the
// table comes out the same.
//
// # Memory
//
// Shuffle has three fifths of Config.Memory, or less if the program would not fit next
// to it. Each worker also holds two chunks of a file, and the block and index of the
// HFile that it writes. All writers together hold records of rows in a sixteenth; the
// cells of a larger row are sorted in runs next to those of shuffle. Where a job compares
// records by key fields, the records of one user are held in an eighth; a user with more
// ends the load by an error. A replay sorts the quarantine file in a quarter of shuffle's
// memory, and holds the offset of each record. An import counts the records of one row
// together; a row with more than fit ends it by an error.
package bulkload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"usertrail/internal/behaviour"
	"usertrail/internal/breakpoint"
	"usertrail/internal/dfs"
	"usertrail/internal/job"
	"usertrail/internal/layout"
	"usertrail/internal/manifest"
	"usertrail/internal/muster"
	"usertrail/internal/progress"
	"usertrail/internal/table"
)

var (
	// ErrRequest is wrapped where the command line asks for what cannot be.
	ErrRequest = errors.New("wrong request")
	// ErrTooBad is wrapped where a file has more bad records than the job
	// allows. Nothing of that file is loaded; other files are.
	ErrTooBad = errors.New("more bad records than the job allows")
	// ErrChanged is wrapped where a file is not what was loaded under its name.
	ErrChanged = errors.New("changed after it was loaded")
	// ErrNothing is wrapped where there was nothing to do.
	ErrNothing = errors.New("nothing to do")
)

// MinMemory is the least Config.Memory, in bytes, that a process keeps to.
const MinMemory = muster.MinMemory

// Config is one load. Zero fields take the defaults written beside them.
type Config struct {
	FS    dfs.FS
	Job   *job.Job
	Store table.Store
	Span  behaviour.Span
	Types []string // all behaviours of the job
	Mode  Mode     // Auto

	Workers  int    // 1
	Memory   int64  // bytes; 1 GiB
	Temp     string // directory, on FS, for sorted runs
	Batch    int64  // bytes of delivered files that are about loaded and committed together; as suits the table
	Progress progress.Config
	Log      *slog.Logger // nothing is said
	// Unsettled returns, by Path, why some of the delivered files may still be written. The load
	// calls it when it holds the table's lock, and leaves those files out. Nil asks nothing.
	Unsettled func(files []job.Input) (map[string]error, error)
}

// A Mode is how cells get into the table.
type Mode string

// The modes.
const (
	Auto  Mode = "auto"  // by what the table takes, and by size where it takes both
	HFile Mode = "hfile" // as sorted files, which appear all at once
	Put   Mode = "put"   // one by one, straight from the workers
)

// A Result is what a load did. The counts are those of the files that were
// taken in; Failed are the others.
type Result struct {
	manifest.Counts
	Cells    int64 `json:"cells"`
	Files    int   `json:"files"`           // delivered files that were taken in
	Already  int   `json:"already"`         // delivered files that were in before
	Missing  int   `json:"missing"`         // days and behaviours without a file
	Older    int64 `json:"older,omitempty"` // of the skipped records, those of days that were dropped
	Bytes    int64 `json:"bytes"`           // of the delivered files
	HFiles   int   `json:"hfiles"`
	Loads    int   `json:"loads"`
	Finished int   `json:"finished,omitempty"` // of them, those that a killed load had all but done
	Choice
	table.Held

	Failed []Failed `json:"failed,omitempty"`
	// Days counts the days of a load of several, and Calendar tells what became of each.
	Days     *DayCounts `json:"days,omitempty"`
	Calendar []DayLine  `json:"-"`
}

// Failed is a file of which nothing was loaded.
type Failed struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

// load is one call of Run.
type load struct {
	cfg    Config
	job    *job.Job
	layout layout.Layout
	kinds  []int // asked, in order of behaviour ID
	log    *slog.Logger

	target    table.Loader
	stager    table.Stager      // target, where HFiles are loaded
	putter    table.Putter      // target, where cells are put
	handsOver bool              // HFiles are handed to HBase
	isNew     bool              // the table is not there yet
	schema    *behaviour.Schema // of the table, with what the job adds
	kindMap   []mapped          // by the job's kinds
	unique    []job.Unique      // by the table's kinds
	ledgers   *ledgers
	plans     []*manifest.Plan // that are not committed
	// unledgered says of a replay that one which was killed may have left records.
	unledgered bool
	// replayMemory is what a replay takes of the memory for sorting, in bytes.
	replayMemory int64
	// olderFiles are those of result.Already that had no record of a day which was not dropped.
	olderFiles int
	result     Result
	failed     []error
	leftOut    []manifest.LeftOut
	unsettled  map[string]error // by Path: why delivered files may still be written
}

func newLoad(cfg Config) (*load, error) {
	if cfg.Workers <= 0 {
		cfg.Workers = 1
	}
	if cfg.Memory <= 0 {
		cfg.Memory = 1 << 30
	}
	l := &load{cfg: cfg, job: cfg.Job, log: cfg.Log}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	if cfg.Span.From > cfg.Span.To {
		return nil, fmt.Errorf("%w: --from %s comes after --to %s", ErrRequest, cfg.Span.From, cfg.Span.To)
	}
	var err error
	l.layout, err = layout.ByName(cmp.Or(cfg.Job.Layout, layout.Default))
	if err != nil {
		return nil, err
	}
	if l.kinds, err = cfg.Job.Schema.Select(cfg.Types); err != nil {
		return nil, fmt.Errorf("%w: --types: the job has %w", ErrRequest, err)
	}
	return l, nil
}

// Run loads. The result says what was done also when there is an error; what it
// says was loaded, is.
func Run(ctx context.Context, cfg Config) (r Result, err error) {
	defer func() { r.Held = table.HeldBy(cfg.Store) }()
	l, err := newLoad(cfg)
	if err != nil {
		return Result{}, err
	}
	if _, err := l.find(ctx); err != nil {
		return l.result, err
	}
	lock, err := cfg.Store.Lock(ctx)
	if err != nil {
		return l.result, err
	}
	defer unlock(lock, &err)
	found, err := l.findWhole(ctx)
	if err != nil {
		return l.result, err
	}
	if err := l.open(ctx, found); err != nil {
		return l.result, err
	}
	breakpoint.Reach(breakpoint.Opened)
	if err := l.recover(ctx); err != nil {
		return l.result, err
	}
	inputs, err := l.prepare(ctx, found)
	if err != nil {
		return l.result, err
	}
	days := l.newCalendar(found, inputs)
	defer func() { days.tell(&r) }()
	if err := l.endPlans(ctx); err != nil {
		return l.result, err
	}
	if len(inputs) == 0 {
		if len(l.failed) > 0 {
			return l.result, joined(l.failed)
		}
		return l.result, l.nothing()
	}
	if inputs, err = l.preCheck(ctx, inputs); err != nil {
		return l.result, joined(append([]error{err}, l.failed...))
	}
	if len(inputs) > 0 {
		if err := l.loadAll(ctx, inputs); err != nil {
			return l.result, joined(append([]error{err}, l.failed...))
		}
		l.lookForDeletes(ctx)
	}
	if err := joined(l.failed); err != nil {
		return l.result, err
	}
	return l.result, l.allOlder()
}

// lookForDeletes warns if deletes of other clients hide what was loaded, as far as a sample
// shows it.
func (l *load) lookForDeletes(ctx context.Context) {
	t, ok := l.target.(interface {
		HiddenSample(ctx context.Context) (cells int64, row []byte, err error)
	})
	if !ok {
		return
	}
	cells, row, err := t.HiddenSample(ctx)
	switch {
	case err != nil:
		l.log.Info("could not look for deletes that hide what was loaded", "error", err)
	case cells > 0:
		l.log.Warn("deletes of another client hide what was loaded, and no reader sees it: bulkload verify counts it, docs/hbase.md says what a delete does to later loads", "cells", cells, "row", fmt.Sprintf("%q", row))
	}
}

// recover finishes what killed loads had all but done, which counts as done here,
// and clears up after them.
func (l *load) recover(ctx context.Context) error {
	finished, err := l.target.Recover(ctx)
	if err != nil {
		return err
	}
	for _, ledger := range finished {
		l.count(ledger)
		l.result.Finished++
		l.log.Warn("finished a load that was killed", "load", ledger.Number, "files", len(ledger.Inputs))
	}
	return nil
}

// prepare says which files are to be loaded, and how.
func (l *load) prepare(ctx context.Context, found job.Found) ([]*input, error) {
	if err := l.extend(); err != nil {
		return nil, err
	}
	if err := l.learn(ctx); err != nil {
		return nil, err
	}
	inputs, err := l.choose(ctx, found)
	if err != nil {
		return nil, err
	}
	for _, in := range inputs {
		l.result.Bytes += in.Size
	}
	return inputs, l.settleMode(ctx, l.result.Bytes)
}

// nothing is the error of a load without a file to read, unless it finished another.
func (l *load) nothing() error {
	if l.result.Finished > 0 {
		return nil
	}
	if l.result.Already > 0 && l.olderFiles == l.result.Already {
		return l.skippedAll()
	}
	if l.result.Already > 0 {
		return fmt.Errorf("%w: all %d files of %s were loaded before", ErrNothing, l.result.Already, l.cfg.Span)
	}
	return fmt.Errorf("%w: no file for %s below %s", ErrNothing, l.cfg.Span, l.job.Pattern.Root)
}

// loadAll loads batch after batch.
func (l *load) loadAll(ctx context.Context, inputs []*input) error {
	p := progress.Start(l.cfg.Progress)
	defer p.Done()
	s, err := l.sorter()
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	p.Step("loading", progress.Bytes, l.result.Bytes*l.passes())
	for _, b := range batches(inputs, l.batchBytes()) {
		if err := l.loadBatch(ctx, b, s, p); err != nil {
			return err
		}
		if err := s.Reset(ctx); err != nil {
			return err
		}
	}
	return nil
}
