// Package load loads delivered log files into a table. Run does a load in these steps:
//
//	find      finds the delivered files of the requested days
//	open      locks and opens the table, and finishes or removes killed loads
//	choose    drops the files that were loaded before, and chooses between HFiles and puts
//	check     runs all pre-checks
//	load      package batch loads one batch of days after the other
//
// Days loads each day by itself. DryRun, PreCheck and Fresh examine a load beforehand.
//
// # Killed at any moment
//
// A batch is in the table whole or not at all. If a load is killed while it hands a batch to
// HBase, the next load finishes the batch. The same command reads in the table's ledgers which
// files are loaded, removes the files that the killed load left, and continues with the next
// batch. Batches depend only on the delivered files, so the table is the same.
package load

import (
	"context"
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/batch"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/fit"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/bulkload/target"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// Config describes one load. The comments give the defaults of zero fields.
type Config struct {
	bulkload.Resources
	Job   *job.Job
	Span  behaviour.Span
	Types []string      // all behaviours of the job
	Mode  bulkload.Mode // Auto
	Batch int64         // approximate number of bytes of delivered files that are committed together; by default as suits the table
	// Sample is the approximate number of bytes of text that PreCheck and DryRun parse; DefaultSample. If it
	// is negative, they parse no text.
	Sample int64
	// Unsettled, if not nil, returns the files that may still be written, with the reason, by
	// Path. The load calls it when it holds the table's lock, and leaves these files out.
	Unsettled func(files []job.Input) (map[string]error, error)

	oneOfDays bool // Days warns once of files whose path names no behaviour of the job
}

// A Load is a load up to its first record. The caller calls
//
//	Find       lists the files; the caller may do it before it takes the table's lock
//	Open       opens the table and chooses the files that are loaded
//	PreCheck   drops files that cannot be loaded
//
// If a method returns an error, the load cannot continue. Result and Failures are valid at any time.
type Load struct {
	Result   bulkload.Result // Failed is not set
	Failures bulkload.Failures
	LeftOut  []manifest.LeftOut
	Search   *delivered.Search
	To       *target.Table     // set by Open
	Known    *ledger.Index     // set by Open
	Files    []*delivered.File // to load; set by Open

	cfg    Config
	by     manifest.Selection // of the job
	layout layout.Layout      // of the job
	found  *delivered.Found
	// Of the files of Result.Already, the records of older are all of dropped days, and no record of elsewhere is of the dates.
	older, elsewhere int
}

// New returns a Load. It returns an error if cfg is invalid.
func New(cfg Config) (*Load, error) {
	cfg.Resources = cfg.WithDefaults()
	cfg.Job = cfg.Within(cfg.Job)
	search, err := delivered.NewSearch(cfg.FS, cfg.Job, cfg.Span, cfg.Types)
	if err != nil {
		return nil, err
	}
	search.Unsettled = cfg.Unsettled
	l, err := layout.ByName(cfg.Job.Layout)
	if err != nil {
		return nil, err
	}
	return &Load{
		cfg: cfg, by: delivered.SelectionOf(cfg.Job), Search: search, layout: l, Result: bulkload.Result{Values: bulkload.NewNoValues(cfg.Job)},
	}, nil
}

// Outcome returns the result with the failed files.
func (l *Load) Outcome() bulkload.Result {
	r := l.Result
	r.Failed = l.Failures.Files
	return r
}

// Find lists the requested files.
func (l *Load) Find(ctx context.Context) error {
	found, err := l.Search.Find(ctx)
	l.note(found)
	return err
}

// findWhole is like Find, and also finds the files that may still be written, and the files whose path names no behaviour of the job.
func (l *Load) findWhole(ctx context.Context) error {
	found, err := l.Search.FindWhole(ctx)
	l.note(found)
	if err == nil {
		l.Result.UnmappedFiles, err = found.Unmapped(ctx)
	}
	return err
}

// note records the files that were found.
func (l *Load) note(found *delivered.Found) {
	l.Failures, l.LeftOut = bulkload.Failures{}, nil
	if found == nil {
		return
	}
	l.found, l.Result.Missing, l.Result.NoFile = found, len(found.Missing), l.cfg.Job.FirstMissing(found.Missing, bulkload.Shown)
	for _, f := range found.Refused {
		l.addLeftOut(f.Path, f.Rel, nil, f.Err)
	}
}

// Open finds the files again, opens the table, and chooses the files that are loaded and the mode. The
// caller holds the table's lock.
func (l *Load) Open(ctx context.Context) error {
	if err := l.findWhole(ctx); err != nil {
		return err
	}
	if err := l.openTable(ctx); err != nil {
		return err
	}
	breakpoint.Reach(breakpoint.Opened)
	if err := l.To.FinishKilled(ctx, &l.Result, l.cfg.Log); err != nil {
		return err
	}
	return l.choose(ctx)
}

// openTable opens the table. If there is none, it prepares a new one.
func (l *Load) openTable(ctx context.Context) (err error) {
	l.To, err = target.OpenOrNew(ctx, l.cfg.Store, target.PlanOf(l.cfg.Job, func(ctx context.Context) (split.Points, error) {
		return fit.Splits(ctx, l.cfg.FS, l.cfg.Job, l.layout, l.found.Inputs)
	}))
	return err
}

// Run does a load. The result is also valid if Run returns an error. Every file that the result
// counts as loaded is loaded.
func Run(ctx context.Context, cfg Config) (r bulkload.Result, err error) {
	defer func() { r.Held = table.StoreHeld(cfg.Store) }()
	l, err := New(cfg)
	if err != nil {
		return bulkload.Result{}, err
	}
	if err := l.Find(ctx); err != nil {
		return l.Outcome(), err
	}
	lock, err := cfg.Store.Lock(ctx)
	if err != nil {
		return l.Outcome(), err
	}
	defer bulkload.Unlock(lock, &err)
	if err := l.Open(ctx); err != nil {
		return l.Outcome(), err
	}
	l.WarnNotRead()
	inputs := map[string]*batch.Input{} // by Rel
	for _, f := range l.Files {
		inputs[f.Rel] = batch.NewInput(f)
	}
	days := newCalendar(l, inputs)
	defer func() { days.addTo(&r) }()
	err = l.run(ctx, inputs)
	l.Result.SetNoValue(l.cfg.Log)
	return l.Outcome(), err
}

// run loads the files of an opened load.
func (l *Load) run(ctx context.Context, inputs map[string]*batch.Input) error {
	if err := l.To.EndPlans(ctx, l.Known); err != nil {
		return err
	}
	if len(l.Files) == 0 {
		if len(l.Failures.Files) > 0 {
			return l.Failures.Err(nil)
		}
		return l.Nothing(ctx)
	}
	if err := l.PreCheck(ctx); err != nil {
		return l.Failures.Err(err)
	}
	if len(l.Files) > 0 {
		if err := l.loadAll(ctx, inputs); err != nil {
			return l.Failures.Err(err)
		}
		l.To.WarnOfDeletes(ctx, l.cfg.Log)
	}
	if err := l.Failures.Err(nil); err != nil {
		return err
	}
	l.Result.WarnOutside(l.cfg.Span, l.cfg.Log)
	return l.To.AllOlder(ctx, &l.Result, l.cfg.Span)
}

// loadAll loads the files that passed the pre-check.
func (l *Load) loadAll(ctx context.Context, inputs map[string]*batch.Input) error {
	var todo []*batch.Input
	for _, f := range l.Files {
		todo = append(todo, inputs[f.Rel])
	}
	var columns record.SkipColumns
	cfg := &batch.Config{Resources: l.cfg.Resources, Job: l.cfg.Job, To: l.To, Known: l.Known, Failures: &l.Failures, SkipColumns: &columns}
	err := batch.Load(ctx, cfg, todo, l.batchBytes(), l.Result.Bytes, &l.Result)
	bulkload.WarnAbsentOfSkip(l.cfg.Log, l.cfg.Job, &columns, true)
	return err
}

// batchBytes returns the approximate size of a batch in bytes of delivered files.
func (l *Load) batchBytes() int64 {
	if l.To == nil { // of a pre-check without a table
		return new(target.Table).BatchBytes(l.cfg.Batch)
	}
	return l.To.BatchBytes(l.cfg.Batch)
}

// Nothing returns the error of a load without a file to read. It returns nil if the load finished
// another load.
func (l *Load) Nothing(ctx context.Context) error {
	if l.Result.Finished > 0 {
		return nil
	}
	if l.Result.Already > 0 && l.older == l.Result.Already {
		return l.To.SkippedAll(ctx, 0, l.cfg.Span)
	}
	if l.Result.Already > 0 {
		return l.To.LoadedBefore(ctx, target.LoadedBeforeError{
			Files: l.Result.Already - l.older - l.elsewhere, Older: l.older, Elsewhere: l.elsewhere, Span: l.cfg.Span,
		})
	}
	return noFile(&l.cfg)
}

// WarnNotRead logs the fields and the records of loaded files that a load does not read again, the folders of the logs that
// it does not read, logs whose path names no behaviour of the job, and logs that may be in the table in another compression.
func (l *Load) WarnNotRead() {
	l.Result.NotRead.Warn(l.cfg.Log)
	if l.found != nil {
		bulkload.WarnWritten(l.cfg.Log, l.found.Written, l.cfg.Job.Pattern.Root)
		if !l.cfg.oneOfDays {
			bulkload.WarnUnmapped(l.cfg.Log, &l.Result.UnmappedFiles)
		}
		l.warnOfTwins()
	}
}

// noFile returns the error of a load whose days have no file.
func noFile(cfg *Config) error {
	return fmt.Errorf("%w: no file for %s below %s", bulkload.ErrNothing, cfg.Span, cfg.Job.Pattern.Root)
}
