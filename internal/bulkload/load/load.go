// Package load loads delivered log files into a table. Run does a load in four steps:
//
//	plan       finds the new files, and groups their days into batches
//	read       digests, reads and parses the files with many workers; shuffle sorts
//	           the records; bad records go to quarantine
//	write      writes the cells of each region as one HFile and its roll, reads both
//	           back whole and compares them with the records; or writes the roll, and
//	           reads the files once more to put their cells
//	commit     checks the conservation law; the table takes the batch in, all at once
//
// To share the work among many machines, Plan cuts a load into pieces of delivered files, or
// of ranges of large files. RunPiece does one piece as Run does a batch, without the commit.
// Commit publishes the files of all pieces.
//
// Replay loads corrected records. Import loads a table of files into HBase. PreCheck, DryRun
// and Fit examine a load or a new table beforehand.
//
// # Killed at any moment
//
// A batch is in the table whole or not at all. If a load is killed while it hands a batch to
// HBase, the next load finishes the batch. The same command reads in the table's ledgers which
// files are loaded, removes the files that the killed load left, and continues with the next
// batch. Batches depend only on the delivered files, so the table is the same.
//
// # Memory
//
// Shuffle gets three fifths of Config.Memory, or less if the program would not fit otherwise.
// Each worker also holds two chunks of a file, and the block and the index of the HFile that it
// writes. Puts without an answer are held in a sixteenth, in at most 48 MiB. All writers together
// hold records of rows in a sixteenth. The cells of a larger row are
// sorted in runs on disk, next to the runs of shuffle. If a job compares records by key fields,
// the records of one user are held in an eighth. A user with more ends the load with an error. A
// replay sorts the quarantine file in a quarter of shuffle's memory, and holds the offset of each
// record. An import counts the records of one row together. A row that does not fit ends the
// import with an error.
package load

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// Config describes one load. The comments give the defaults of zero fields.
type Config struct {
	FS    dfs.FS
	Job   *job.Job
	Store table.Store
	Span  behaviour.Span
	Types []string      // all behaviours of the job
	Mode  bulkload.Mode // Auto

	Workers  int    // 1
	Memory   int64  // bytes; 1 GiB
	Temp     string // directory, on FS, for sorted runs
	Batch    int64  // about how many bytes of delivered files are committed together; by default as suits the table
	Progress progress.Config
	Log      *slog.Logger // no log
	// Unsettled, if not nil, returns the files that may still be written, with the reason, by
	// Path. The load calls it when it holds the table's lock, and leaves these files out.
	Unsettled func(files []job.Input) (map[string]error, error)
}

// load is one call of Run.
type load struct {
	cfg    Config
	job    *job.Job
	layout layout.Layout
	kinds  []int // requested behaviours, in order of behaviour ID
	log    *slog.Logger

	target    table.Loader
	stager    table.Stager      // target, if HFiles are loaded
	putter    table.Putter      // target, if cells are put
	handsOver bool              // HFiles are handed to HBase
	isNew     bool              // the table does not exist yet
	schema    *behaviour.Schema // of the table, with what the job adds
	kindMap   []mapped          // by the job's kinds
	unique    []job.Unique      // by the table's kinds
	ledgers   *ledger.Index
	plans     []*manifest.Plan // that are not committed
	// unledgered says that a killed replay may have left records.
	unledgered bool
	// replayMemory is the memory of a replay in bytes. It is taken from the memory for sorting.
	replayMemory int64
	// olderFiles counts the files of result.Already whose records are all of dropped days.
	olderFiles int
	result     bulkload.Result
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
		return nil, fmt.Errorf("%w: --from %s comes after --to %s", bulkload.ErrRequest, cfg.Span.From, cfg.Span.To)
	}
	var err error
	l.layout, err = layout.ByName(cmp.Or(cfg.Job.Layout, layout.Default))
	if err != nil {
		return nil, err
	}
	if l.kinds, err = cfg.Job.Schema.Select(cfg.Types); err != nil {
		return nil, fmt.Errorf("%w: --types: the job has %w", bulkload.ErrRequest, err)
	}
	return l, nil
}

// Run does a load. The result is also valid if Run returns an error. Every file that the result
// counts as loaded is loaded.
func Run(ctx context.Context, cfg Config) (r bulkload.Result, err error) {
	defer func() { r.Held = table.StoreHeld(cfg.Store) }()
	l, err := newLoad(cfg)
	if err != nil {
		return bulkload.Result{}, err
	}
	if _, err := l.find(ctx); err != nil {
		return l.result, err
	}
	lock, err := cfg.Store.Lock(ctx)
	if err != nil {
		return l.result, err
	}
	defer bulkload.Unlock(lock, &err)
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
			return l.result, bulkload.Joined(l.failed)
		}
		return l.result, l.nothing()
	}
	if inputs, err = l.preCheck(ctx, inputs); err != nil {
		return l.result, bulkload.Joined(append([]error{err}, l.failed...))
	}
	if len(inputs) > 0 {
		if err := l.loadAll(ctx, inputs); err != nil {
			return l.result, bulkload.Joined(append([]error{err}, l.failed...))
		}
		l.lookForDeletes(ctx)
	}
	if err := bulkload.Joined(l.failed); err != nil {
		return l.result, err
	}
	return l.result, l.allOlder()
}

// lookForDeletes checks a sample of the loaded cells, and warns if deletes of other clients hide
// some of them.
func (l *load) lookForDeletes(ctx context.Context) {
	t, ok := table.As[table.HidingSampled](l.target)
	if !ok {
		return
	}
	cells, row, err := t.HiddenSample(ctx)
	switch {
	case err != nil:
		l.log.Info("could not look for deletes that hide what was loaded", "error", err)
	case cells > 0:
		l.log.Warn("deletes of another client hide what was loaded, and no reader sees it: bulkload verify counts it, docs/explanation/hbase.md says what a delete does to later loads", "cells", cells, "row", fmt.Sprintf("%q", row))
	}
}

// recover finishes loads that were killed while the table took them in, and removes the files of
// other killed loads. The result counts the finished loads.
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
	return l.warnOfLost(ctx)
}

// warnOfLost warns of files that a killed load brought in part, if HFiles of it are gone.
func (l *load) warnOfLost(ctx context.Context) error {
	t, ok := table.As[table.Losing](l.target)
	if !ok {
		return nil
	}
	lost, err := t.Lost(ctx)
	if len(lost) > 0 {
		l.log.Warn("HFiles of a killed load are gone, and other HFiles of it are in the table: load its files again; until then extracts end with 75", "files", strings.Join(lost, ", "))
	}
	return err
}

// prepare returns the files to load, and chooses the mode.
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

// nothing returns the error of a load without a file to read. It returns nil if the load finished
// another load.
func (l *load) nothing() error {
	if l.result.Finished > 0 {
		return nil
	}
	if l.result.Already > 0 && l.olderFiles == l.result.Already {
		return l.skippedAll()
	}
	if l.result.Already > 0 {
		return fmt.Errorf("%w: all %d files of %s were loaded before", bulkload.ErrNothing, l.result.Already, l.cfg.Span)
	}
	return fmt.Errorf("%w: no file for %s below %s", bulkload.ErrNothing, l.cfg.Span, l.job.Pattern.Root)
}

// loadAll loads one batch after the other.
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
