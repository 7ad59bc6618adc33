// Package replay loads corrected records.
//
//	corrected   the quarantine file, whose records are sorted by delivered file and offset
//	file        a delivered file of these records; it proves that the records are records of the
//	            loaded bytes, and gives them to package batch in place of the delivered file
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
	"usertrail/internal/bulkload/target"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
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
func Run(ctx context.Context, cfg Config, name string) (r bulkload.Result, err error) {
	cfg.Resources = cfg.WithDefaults()
	from, err := openCorrected(ctx, &cfg.Resources, name)
	if err != nil {
		return r, err
	}
	defer from.close(ctx)
	if from.records == 0 {
		return r, fmt.Errorf("%w: %s holds no records", bulkload.ErrNothing, name)
	}
	lock, err := cfg.Store.Lock(ctx)
	if err != nil {
		return r, err
	}
	defer bulkload.Unlock(lock, &err)
	p := &replay{cfg: &cfg, from: from}
	err = p.run(ctx)
	p.result.Failed = p.failures.Files
	return p.result, err
}

// RunAll replays the quarantine files of a folder, one after the other, and adds their results. A file in which no
// record was corrected is only counted. A file that fails does not stop the others, unless every file would fail.
func RunAll(ctx context.Context, cfg Config, folder string, files []string) (bulkload.Result, error) {
	var sum bulkload.Result
	var failed []error
	done := 0
	for _, name := range files {
		r, err := Run(ctx, cfg, name)
		switch {
		case errors.Is(err, ErrUnchanged):
			sum.Unchanged++
			continue
		case errors.Is(err, bulkload.ErrNothing):
			continue
		}
		sum.Add(r)
		done++
		if err != nil {
			failed = append(failed, err)
		}
		if bulkload.StopsAll(err) {
			break
		}
	}
	switch {
	case done > 0:
		return sum, bulkload.Joined(failed)
	case sum.Unchanged > 0:
		return sum, fmt.Errorf("%w: %s: %w: in %d of %d files no record is corrected: correct the text in \"raw\", or the job, and replay them again",
			bulkload.ErrTooBad, folder, ErrUnchanged, sum.Unchanged, len(files))
	}
	return sum, fmt.Errorf("%w: %s holds no bad records", bulkload.ErrNothing, folder)
}

// A replay is one call of Run.
type replay struct {
	cfg      *Config
	from     *corrected
	to       *target.Table
	known    *ledger.Index
	files    []*file // the delivered files of the records
	result   bulkload.Result
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
		return fmt.Errorf("%w: %s", table.ErrNoTable, store.Address())
	}
	if err := p.to.Fit(p.cfg.Job); err != nil {
		return err
	}
	p.known, err = p.to.Learn(ctx)
	return err
}

// find returns each delivered file that has records in the quarantine file, and sorts the records.
func (p *replay) find(ctx context.Context) ([]*file, error) {
	byPath := map[string]*file{} // of the original
	byName := map[string]*file{}
	var out []*file
	for _, name := range p.from.paths {
		path := p.original(name)
		f := byPath[path]
		if f == nil {
			var err error
			if f, err = p.file(path, len(out)); err != nil {
				return nil, err
			}
			byPath[path] = f
			out = append(out, f)
		}
		if !slices.Contains(f.names, name) {
			f.names = append(f.names, name)
		}
		byName[name] = f
	}
	p.result.Bytes = p.from.bytes
	return out, p.from.sort(ctx, byName, len(out))
}

// original returns the path of the first file that has the same bytes as the file at path. A
// bad record of both files is loaded once.
func (p *replay) original(path string) string {
	if copies := p.copiesOf(path); len(copies) > 0 {
		return copies[0].Path
	}
	return path
}

// copiesOf returns the files with the bytes of the file at path whose records loads brought, the oldest
// first.
func (p *replay) copiesOf(path string) []ledger.Copy {
	known := p.known.File(path)
	if known == nil {
		return nil
	}
	return p.known.Copies(p.known.ContentOf(known))
}

// file returns the delivered file at path, as the ledgers know it. part is its part in the sorter.
func (p *replay) file(path string, part int) (*file, error) {
	old := p.known.File(path)
	if old == nil {
		return nil, fmt.Errorf("%w: %s is not in the table: load it before its bad records are replayed", bulkload.ErrRequest, path)
	}
	full := p.cfg.Job.Pattern.Root + "/" + path
	date, kind, ok := p.cfg.Job.Pattern.Match(full)
	if !ok {
		return nil, fmt.Errorf("%w: %s is none of the job's files", bulkload.ErrRequest, path)
	}
	f := &file{
		File: delivered.File{
			Input:  job.Input{Path: full, Rel: path, Date: date, Kind: kind, Size: old.Size, Modified: old.Modified},
			Number: old.Number,
		},
		fs: p.cfg.FS, job: p.cfg.Job, known: p.known, from: p.from, part: part, sha: old.SHA256, names: []string{path},
	}
	for _, c := range p.copiesOf(path) {
		if !slices.Contains(f.names, c.Path) {
			f.names = append(f.names, c.Path)
		}
	}
	for _, name := range f.names {
		for _, k := range p.known.Inputs(name) {
			if !slices.Contains(f.numbers, k.Number) {
				f.numbers = append(f.numbers, k.Number)
			}
			if len(k.Offsets) > 0 {
				f.done = append(f.done, k.Offsets)
			}
		}
	}
	f.reads = earlierReads(p.known, p.known.ContentOf(old), f.TextsBy(p.cfg.Job))
	return f, nil
}

// load loads the records. The records that are still bad make it fail.
func (p *replay) load(ctx context.Context, inputs []*batch.Input, unledgered bool) error {
	cfg := &batch.Config{
		Resources: p.cfg.Resources, Job: p.cfg.Job, To: p.to, Known: p.known, Failures: &p.failures, Reserved: p.from.memory(), Unledgered: unledgered,
	}
	if err := batch.Load(ctx, cfg, inputs, p.to.BatchBytes(0), p.result.Bytes, &p.result); err != nil {
		return err
	}
	err := p.failures.Err(nil)
	if err == nil && p.result.Quarantined > 0 {
		err = p.stillBad(inputs)
	}
	if p.cfg.Remove {
		err = errors.Join(err, p.remove(ctx, inputs))
	}
	return err
}

// stillBad returns the error of records that are bad again. It names their quarantine files.
func (p *replay) stillBad(inputs []*batch.Input) error {
	var names []string
	for _, in := range inputs {
		if in.Bad().Count() > 0 {
			names = append(names, in.Bad().Name())
		}
	}
	return fmt.Errorf("%w: %d of %d are still bad; see %s", bulkload.ErrTooBad, p.result.Quarantined, p.result.Read, bulkload.Few(names))
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
