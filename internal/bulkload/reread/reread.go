// Package reread reads loaded files again, and adds the values of fields that the files were loaded without to the
// records that the table has.
//
//	choose   the files of which the ledgers show fields that no load read, and the HFiles that can have their
//	         records
//	parse    parses the files; shuffle sorts their records by HFile, row and column ID
//	judge    refuses files that the job does not read as a load must, and leaves out fields without a value on a day
//	collect  reads the records of these HFiles into the same order, so that a record and its values meet
//	join     adds the values to the records; rewrite replaces each HFile by one that also has the new cells, and
//	         reads it back
//	commit   adds the load to the table, all at once
//
// In a table in HBase, a region takes the place of an HFile, and the new cells are put. A killed reread leaves some of its cells
// in the table. The next reread puts them again.
//
// A value is added only to a record that the table has: with the same user, date, behaviour, column ID and time, and
// without a value of the field. The ledgers do not decide which records there are. Jobs may have skipped records,
// replays may have corrected them, and other jobs may have read their users and times in another way.
//
// A field is read only for the days of a behaviour on which the load had no value of it. A file is read once for these days of a field. If
// no record of a day has a value, the day stays unread for a job that reads the field by other settings. If the table has a record of it that lacks a value, and that the job does not read, the
// ledger counts the record, and a later reread reads the file again.
//
// # Layouts in which fields share a cell
//
// A layout.Widening has a cell for each field, so the values are new cells. In other layouts the record is encoded again with its
// values. Its new cells replace the old ones. The tallies of the load are the difference, so the sum of all loads is still
// the tally of the table.
//
// # Why HFiles are replaced
//
// All cells of a record are in one HFile of a table of files. Readers depend on it: they read one HFile after the other,
// and take every record that they meet for another event. An HFile of the new cells alone would break this.
//
// # Memory
//
// As in package batch. The records and the values of a row meet in the sorter, so a row of any size needs no more.
package reread

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/batch"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/bulkload/target"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/run/progress"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/table/precheck"
	"usertrail/internal/table/shuffle"
)

// Config describes one reread.
type Config struct {
	bulkload.Resources
	Job     *job.Job
	Span    behaviour.Span
	Types   []string      // all behaviours of the job
	KeepFor time.Duration // how long replaced HFiles stay; 0 is until the next load
}

// Run reads the loaded files of the dates again. The result is also valid if Run returns an error.
func Run(ctx context.Context, cfg Config) (r bulkload.Result, err error) {
	defer func() { r.Held = table.StoreHeld(cfg.Store) }()
	cfg.Resources = cfg.WithDefaults()
	search, err := delivered.NewSearch(cfg.FS, cfg.Job, cfg.Span, cfg.Types)
	if err != nil {
		return r, err
	}
	found, err := cfg.Job.Find(ctx, cfg.FS, cfg.Span, search.Kinds)
	if err != nil {
		return r, err
	}
	lock, err := cfg.Store.Lock(ctx)
	if err != nil {
		return r, err
	}
	defer bulkload.Unlock(lock, &err)
	x := &reread{cfg: &cfg, search: search, result: bulkload.Result{Missing: len(found.Missing), Reread: new(bulkload.Reread)}}
	err = x.run(ctx, &found)
	x.result.Failed = x.failures.Files
	return x.result, err
}

// A reread is one call of Run.
type reread struct {
	cfg    *Config
	search *delivered.Search
	to     *target.Table
	files  table.OfFiles
	widens layout.Widening // the layout, nil if several fields share a cell
	known  *ledger.Index

	points   split.Points // of the regions
	inputs   []*input
	byNumber map[uint32]int // indexes of inputs
	fields   [][]bool       // of the table, by kind: those that are read of some file; nil if there are none
	places   []*place
	largest  atomic.Int64   // bytes of the largest item
	dates    behaviour.Span // of the records that may get values
	result   bulkload.Result
	failures bulkload.Failures

	batch    *batch.Config
	sorter   *shuffle.Sorter
	progress *progress.Progress
}

// holds records the size of the largest item of a worker.
func (x *reread) holds(bytes int) {
	n := int64(bytes)
	for had := x.largest.Load(); had < n && !x.largest.CompareAndSwap(had, n); had = x.largest.Load() {
	}
}

// An input is a file that is read again.
type input struct {
	*batch.Input
	loaded   *manifest.Input // the file in a load
	fields   lacking
	names    map[string][]string // of the fields, by behaviour
	loads    []int               // that added its records
	replayed []int64             // offsets of its records that replays added, in order
	places   map[int][]*place    // that can have its records, by region
	begun    bool                // a killed reread may have put some of its values
	given    []*manifest.Input   // rereads of the file that are in the table
	noValue  *manifest.NoValue   // the days without a value of fields of names, of which other days have one
	counts   counts
}

func (x *reread) run(ctx context.Context, found *job.Found) error {
	if err := x.open(ctx); err != nil {
		return err
	}
	bulkload.WarnWritten(x.cfg.Log, found.Written, x.cfg.Job.Pattern.Root)
	for _, f := range delivered.RefusedOf(found, x.cfg.Job.Pattern.Root) {
		x.failures.Add(f.Path, f.Err)
	}
	if err := x.choose(found.Inputs); err != nil {
		return err
	}
	gone, err := x.goneOf(found.Inputs)
	if err != nil {
		return err
	}
	if len(x.inputs) == 0 {
		return x.nothing(len(found.Inputs), gone)
	}
	x.warnOfGone(gone)
	x.progress = progress.Start(x.cfg.Progress)
	defer x.progress.Done()
	x.batch = &batch.Config{Resources: x.cfg.Resources, Job: x.lenient()}
	if x.sorter, err = batch.NewSorter(x.batch); err != nil {
		return err
	}
	defer x.sorter.Close(ctx)
	if err := x.sorter.SetParts(max(len(x.places), 1)); err != nil {
		return err
	}
	if err := x.parse(ctx); err != nil {
		return err
	}
	var done []*adder
	if slices.ContainsFunc(x.inputs, (*input).remains) {
		if done, err = x.add(ctx); err != nil {
			return err
		}
	}
	err = x.commit(ctx, done)
	if err == nil {
		x.to.WarnOfDeletes(ctx, x.cfg.Log)
		x.warnOfKeys()
	}
	return x.failures.Err(err)
}

// add adds the values of the parsed files to the records of the table.
func (x *reread) add(ctx context.Context) ([]*adder, error) {
	if err := x.collect(ctx); err != nil {
		return nil, err
	}
	if err := x.sorter.Finish(ctx); err != nil {
		return nil, err
	}
	breakpoint.Reach(breakpoint.Batch)
	if x.files == nil {
		return x.putAll(ctx)
	}
	return x.rewriteAll(ctx)
}

// open opens the table, which must exist, finishes killed loads and fits the job to the table.
func (x *reread) open(ctx context.Context) (err error) {
	if x.to, err = target.Open(ctx, x.cfg.Store); err != nil {
		return err
	}
	breakpoint.Reach(breakpoint.Opened)
	if err := x.to.FinishKilled(ctx, &x.result, x.cfg.Log); err != nil {
		return err
	}
	if err := x.to.Fit(x.cfg.Job); err != nil {
		return err
	}
	x.widens, _ = x.to.Layout.(layout.Widening)
	mode := bulkload.Put
	if files, ok := x.to.Loader.(table.OfFiles); ok {
		x.files, mode = files, bulkload.HFile
	}
	if x.result.Choice, err = x.to.SetMode(ctx, mode, 0); err != nil {
		return err
	}
	regions, err := x.to.Regions(ctx)
	if err != nil {
		return err
	}
	x.points = split.PointsOf(regions)
	x.known, err = x.to.Learn(ctx, &x.cfg.Resources)
	return err
}

// nothing returns the error of a reread without a file to read. It returns nil if the reread finished another load and no file or
// folder was refused. files is the number of files of the dates, and gone is what goneOf has returned.
func (x *reread) nothing(files int, gone []string) error {
	switch {
	case x.result.Finished > 0 || len(x.failures.Files) > 0:
		x.warnOfGone(gone)
		return x.failures.Err(nil)
	case len(gone) > 0:
		return fmt.Errorf("%w: logs of %s that were loaded without a field of the job are gone or have other names: %s, such as %s: "+putBack,
			job.ErrNoInput, x.cfg.Span, english.Plural(len(gone), "log", ""), gone[0])
	case files == 0:
		return fmt.Errorf("%w: no file for %s below %s", bulkload.ErrNothing, x.cfg.Span, x.cfg.Job.Pattern.Root)
	}
	return fmt.Errorf("%w: no loaded file of %s lacks a field of the job, or has a day on which a field has no value: %s of these dates", bulkload.ErrNothing, x.cfg.Span, english.Plural(files, "file has been found", "files have been found"))
}

// room returns an error if there is not enough space for the new HFiles. They need about as much as those that they
// replace.
func (x *reread) room(ctx context.Context) error {
	var need int64
	for _, p := range x.places {
		if p.values {
			need += p.file.Size + p.file.RollSize
		}
	}
	return precheck.Demand(ctx, x.cfg.FS, x.cfg.Store.Address(), need, "make room, or read fewer dates again at once")
}

// kindsWith returns the kinds that have fields to read.
func kindsWith(fields [][]bool) (kinds []int) {
	for k := range fields {
		if slices.Contains(fields[k], true) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}
