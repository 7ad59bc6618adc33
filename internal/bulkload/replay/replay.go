// Package replay loads corrected records.
//
//	folder      the quarantine files of a folder, one after the other
//	corrected   the quarantine file, whose records are sorted by delivered file and offset
//	history     the entries of these files and their copies in the ledgers
//	file        a delivered file of these records; it proves that the records are records of the
//	            loaded bytes, and passes them to package batch in place of the delivered file
//	held        the records that the table has by their column IDs
//	left        the records that are neither loaded nor duplicates
//
// # Memory
//
// A replay sorts the quarantine file in a quarter of Resources.SortMemory, and holds the offset of each
// record.
package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/batch"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/bulkload/quarantine"
	"usertrail/internal/bulkload/target"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// Config describes a replay.
type Config struct {
	bulkload.Resources
	Job  *job.Job
	Mode bulkload.Mode // Auto
	// Remove removes lines from the quarantine file: of records that are in the table, and of records that
	// are bad again and are now in another quarantine file.
	Remove bool
}

// Run loads the corrected records of the quarantine file called name. A record keeps the column ID of its
// line in the delivered file. A record that was replayed before is a duplicate. Records that are
// still bad go to another quarantine file. The result is also valid if Run returns an error.
func Run(ctx context.Context, cfg Config, name string) (bulkload.Result, error) {
	r, left, err := run(ctx, cfg, name)
	return r, bulkload.Joined([]error{err, left.err(&r)})
}

// run does the same as Run. Its error is not of the records that it left.
func run(ctx context.Context, cfg Config, name string) (r bulkload.Result, l left, err error) {
	cfg.Resources = cfg.WithDefaults()
	from, err := openCorrected(ctx, &cfg.Resources, name)
	if err != nil {
		return r, l, err
	}
	defer from.close(ctx)
	if from.records == 0 {
		return r, l, empty(ctx, cfg.FS, name)
	}
	lock, err := cfg.Store.Lock(ctx)
	if err != nil {
		return r, l, err
	}
	defer bulkload.Unlock(lock, &err)
	p := &replay{cfg: &cfg, from: from}
	err = p.run(ctx)
	if errors.Is(err, job.ErrNoInput) && !from.edited {
		err = &goneError{err}
	}
	p.result.Failed = p.failures.Files
	return p.result, p.left, err
}

// empty returns the error of a quarantine file without records. It names the file of the records that an earlier
// replay found bad again.
func empty(ctx context.Context, fs dfs.FS, name string) error {
	again := quarantine.AgainOf(name)
	if info, err := fs.Stat(ctx, again); err == nil && info.Size > 0 {
		return fmt.Errorf("%w: %s holds no records; records that are still bad are in %s", bulkload.ErrNothing, name, again)
	}
	return fmt.Errorf("%w: %s holds no records", bulkload.ErrNothing, name)
}

// A replay is one call of Run.
type replay struct {
	cfg      *Config
	from     *corrected
	to       *target.Table
	known    *ledger.Index
	files    []*file // the delivered files of the records
	held     held
	result   bulkload.Result
	left     left
	failures bulkload.Failures
}

func (p *replay) run(ctx context.Context) error {
	if err := p.open(ctx); err != nil {
		return err
	}
	files, err := p.find(ctx)
	if err != nil {
		return err
	}
	p.files = files
	p.held = held{to: p.to, files: files}
	inputs := make([]*batch.Input, len(files))
	for i, f := range files {
		if err := f.prove(ctx); err != nil {
			return err
		}
		inputs[i] = batch.NewCorrected(&f.File, f.sha, f)
	}
	if err := p.checkChanged(ctx, files); err != nil {
		return err
	}
	unledgered, err := hasUnledgered(ctx, p.to)
	if err != nil {
		return err
	}
	if p.result.Choice, err = p.to.SetMode(ctx, p.cfg.Mode, p.result.Bytes); err != nil {
		return err
	}
	return p.load(ctx, inputs, unledgered)
}

// open opens the table, which must exist, and finishes killed loads.
func (p *replay) open(ctx context.Context) (err error) {
	store := p.cfg.Store
	p.to, err = target.OpenOrNew(ctx, store, target.PlanOf(p.cfg.Job, func(context.Context) (split.Points, error) { return nil, nil }))
	if err != nil {
		return err
	}
	if err := p.to.FinishKilled(ctx, &p.result, p.cfg.Log); err != nil {
		return err
	}
	if p.to.NextLoad() == 1 {
		return fmt.Errorf("%w: %s has no loads: load the log of these records first; max_bad of the job allows its bad records", table.ErrNoTable, store.Address())
	}
	if err := p.to.Fit(p.cfg.Job); err != nil {
		return err
	}
	p.known, err = p.to.Learn(ctx, &p.cfg.Resources)
	return err
}

// find returns each delivered file that has records in the quarantine file, and sorts the records.
func (p *replay) find(ctx context.Context) ([]*file, error) {
	known, err := p.history()
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(p.from.paths, known.matches) {
		return nil, p.from.ofOtherJob(p.from.paths[0], true)
	}
	byBytes := map[identity]*file{}
	byName := map[string]*file{}
	var out []*file
	for _, name := range p.from.paths {
		of, err := known.identify(name)
		if err != nil {
			return nil, err
		}
		f := byBytes[of]
		if f == nil {
			if f, err = p.file(known, name, len(out)); err != nil {
				return nil, err
			}
			byBytes[of] = f
			out = append(out, f)
		} else if known.oldest(name).Path != f.Rel {
			return nil, fmt.Errorf("%w: %s has lines of %s and %s, which have the same bytes and are of other days or behaviours: put the lines of each path into a file of its own, and replay one after the other",
				bulkload.ErrRequest, p.from.name, f.names[0], name)
		}
		f.names = append(f.names, name)
		byName[name] = f
	}
	p.result.Bytes = p.from.bytes
	return out, p.from.sort(ctx, byName, len(out))
}

// file returns the delivered file whose quarantined records have the path name. The oldest file of the same bytes and
// behaviour stands for all of them. part is its part in the sorter.
func (p *replay) file(known *history, name string, part int) (*file, error) {
	old := known.oldest(name)
	in, _ := known.input(old)
	f := &file{
		File: delivered.File{Input: in, Number: old.Number},
		fs:   p.cfg.FS, job: p.cfg.Job, known: p.known, from: p.from, held: &p.held, part: part, sha: old.SHA256, paths: []string{old.Path},
	}
	f.remember(known)
	return f, nil
}

// load loads the records, and notes which records are neither loaded nor duplicates.
func (p *replay) load(ctx context.Context, inputs []*batch.Input, unledgered bool) error {
	cfg := &batch.Config{
		Resources: p.cfg.Resources, Job: p.cfg.Job, To: p.to, Known: p.known, Failures: &p.failures, Reserved: p.from.memory(), Unledgered: unledgered,
	}
	if err := batch.Load(ctx, cfg, inputs, p.to.BatchBytes(0), p.result.Bytes, &p.result); err != nil {
		return err
	}
	p.noteLeft(inputs)
	err := p.failures.Err(nil)
	if p.cfg.Remove {
		err = errors.Join(err, p.remove(ctx, inputs))
	}
	return err
}

// hasUnledgered reports whether a killed replay may have left records in the table. A load
// records the numbers of its delivered files in advance. A replay has no such numbers.
func hasUnledgered(ctx context.Context, to *target.Table) (bool, error) {
	from, ok := table.As[table.LeftBehind](to.Loader)
	if !ok {
		return false, nil
	}
	left, err := from.Left(ctx)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(left.Rolls, func(r manifest.Rolled) bool { return len(r.Inputs) == 0 }), nil
}
