package batch

import (
	"context"
	"slices"
	"time"

	"github.com/dustin/go-humanize/english"
	"golang.org/x/sync/errgroup"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/quarantine"
	"usertrail/internal/bulkload/target"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/progress"
	"usertrail/internal/table/shuffle"
)

// Load groups inputs into batches of about limit bytes, loads one after the other, and commits each. It adds
// the loads to r, and the loaded files to cfg.Known. bytes is the size of all inputs, for the progress.
func Load(ctx context.Context, cfg *Config, inputs []*Input, limit, bytes int64, r *bulkload.Result) error {
	p := progress.Start(cfg.Progress)
	defer p.Done()
	s, err := NewSorter(cfg)
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	p.Step("loading", progress.Bytes, bytes*cfg.To.Passes())
	for _, inputs := range group(inputs, limit) {
		if err := loadOne(ctx, cfg, inputs, s, p, r); err != nil {
			return err
		}
		if err := s.Reset(ctx); err != nil {
			return err
		}
	}
	return nil
}

// group groups inputs as delivered.Batches groups their files.
func group(inputs []*Input, limit int64) [][]*Input {
	files, of := make([]*delivered.File, len(inputs)), map[*delivered.File]*Input{}
	for i, in := range inputs {
		files[i] = &in.File
		of[&in.File] = in
	}
	var out [][]*Input
	for _, files := range delivered.Batches(files, limit) {
		b := make([]*Input, len(files))
		for i, f := range files {
			b[i] = of[f]
		}
		out = append(out, b)
	}
	return out
}

// loadOne reads, writes and commits one batch.
func loadOne(ctx context.Context, cfg *Config, inputs []*Input, s *shuffle.Sorter, p *progress.Progress, r *bulkload.Result) error {
	began := time.Now()
	b, err := New(ctx, cfg, &loadOwner{cfg}, inputs, s, p)
	if err != nil {
		return err
	}
	defer b.Abort()
	done, err := b.Work(ctx)
	if err != nil {
		return err
	}
	if cfg.Reserved > 0 {
		if err := s.Close(ctx); err != nil { // the ledger of corrected records needs its memory
			return err
		}
	}
	at := p.Worker("load")
	defer at.End()
	at.At("committing load %d: the table takes %s in", cfg.To.NextLoad(), english.Plural(len(done.Files), "file", ""))
	if err := b.commit(ctx, done, r); err != nil {
		return err
	}
	cfg.Log.Info("loaded", "files", len(inputs), "hfiles", bulkload.HFiles(done.Files), "took", time.Since(began).Round(time.Millisecond))
	return nil
}

// commit checks that the counts add up, and makes the batch part of the table.
func (b *Batch) commit(ctx context.Context, done Done, r *bulkload.Result) error {
	cfg := b.cfg
	load := &manifest.Load{Version: manifest.Version, Number: b.owner.Number(), Job: cfg.Job.Digest(), Days: done.Days, NoValue: done.NoValue, Regions: done.Regions}
	unread := cfg.To.Unread()
	for _, in := range b.inputs {
		if in.err == nil {
			entry := b.entry(in)
			entry.Unread = unread
			load.Inputs = append(load.Inputs, entry)
			load.Apart = load.Apart || in.Extends()
		}
	}
	for i := range done.Files {
		done.Files[i].Apart = load.Apart
	}
	if err := bulkload.CheckLaw(load.Inputs); err != nil {
		return err
	}
	if len(load.Inputs) == 0 {
		return nil
	}
	if err := b.CommitBad(); err != nil {
		return err
	}
	if err := quarantine.Remove(ctx, cfg.FS, cfg.Log, b.clean(), cfg.Store.Quarantine); err != nil {
		return err
	}
	cfg.To.CountOlder(load, r, cfg.Log)
	target.WarnOfCopies(load, cfg.Log)
	target.WarnOfSkipped(load, cfg.Log)
	if !slices.ContainsFunc(load.Inputs, needsLedger) {
		r.AddInputs(load.Inputs)
		return nil
	}
	if err := cfg.To.TakeIn(ctx, load, done.Files); err != nil {
		return err
	}
	for i := range load.Inputs {
		cfg.Known.Add(&load.Inputs[i])
	}
	r.AddLoad(load)
	r.HFiles += bulkload.HFiles(done.Files)
	return nil
}

// needsLedger reports whether the ledger of a load has to list an input. It needs no corrected records that the
// job skips all.
func needsLedger(in manifest.Input) bool {
	return in.Offsets == nil || in.Skipped < in.Read
}

// CommitBad makes the quarantine files of the good inputs visible. Many commit at the same time, because
// each waits for stable storage.
func (b *Batch) CommitBad() error {
	var g errgroup.Group
	g.SetLimit(16)
	for _, in := range b.inputs {
		if in.err == nil {
			g.Go(func() error { return in.bad.Commit(in.digest()) })
		}
	}
	return g.Wait()
}

// clean returns the paths of files that have no bad records and of which no earlier load added
// records.
func (b *Batch) clean() []string {
	var out []string
	for _, in := range b.inputs {
		if in.err == nil && in.corrected == nil && !in.Again() && in.counts.Quarantined == 0 {
			out = append(out, in.Rel)
		}
	}
	return out
}
