package bulkload

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/behaviour"
	"usertrail/internal/manifest"
	"usertrail/internal/progress"
	"usertrail/internal/shuffle"
	"usertrail/internal/split"
)

// loadBatch reads, writes and commits one batch.
func (l *load) loadBatch(ctx context.Context, inputs []*input, s *shuffle.Sorter, p *progress.Progress) error {
	began := time.Now()
	regions, err := l.target.Regions(ctx)
	if err != nil {
		return err
	}
	b := &batch{load: l, inputs: inputs, sorter: s, points: pointsOf(regions), progress: p, records: p.Counter("records")}
	for i, in := range inputs {
		in.index = i
	}
	defer b.abort()
	at := p.Worker("load")
	defer at.End()
	at.At("reading %d files", len(inputs))
	if err := b.read(ctx); err != nil {
		return err
	}
	if err := b.judge(ctx); err != nil {
		return err
	}
	at.At("sorting what %d files brought", len(inputs))
	if err := s.Finish(ctx); err != nil {
		return err
	}
	for _, in := range inputs {
		if !in.dropped() {
			in.counts.Loaded = 0 // until they are; else the law would prove nothing
		}
	}
	var files []manifest.File
	days := newDays()
	at.At("writing %d regions", len(regions))
	if b.putter != nil {
		at.At("putting cells into %d regions", len(regions))
		files, err = b.put(ctx, len(regions), days)
	} else {
		files, err = b.write(ctx, len(regions), days)
	}
	if err != nil {
		return err
	}
	at.At("committing load %d: the table takes %d files in", l.target.NextLoad(), len(files))
	if err := b.commit(ctx, files, days); err != nil {
		return err
	}
	l.log.Info("loaded", "files", len(inputs), "hfiles", hfiles(files), "took", time.Since(began).Round(time.Millisecond))
	return nil
}

func pointsOf(regions []split.Region) split.Points {
	var p split.Points
	for _, r := range regions[1:] {
		p = append(p, r.Start)
	}
	return p
}

// judge decides, file by file, what is to be loaded now that all is known of it:
// nothing of a file that broke off, has too many bad records, or has the bytes
// of another that is in.
func (b *batch) judge(ctx context.Context) error {
	for _, in := range b.inputs {
		if in.replay != nil {
			b.judged(in)
			continue
		}
		c := &in.counts
		if in.err == nil && b.job.MaxBad.Exceeded(c.Read, c.Quarantined) {
			in.err = fmt.Errorf("%s: %w: %d of %d, allowed are %s; see %s",
				in.Path, ErrTooBad, c.Quarantined, c.Read, b.job.MaxBad, b.cfg.Store.Quarantine(in.Rel))
			if err := in.bad.commit(); err != nil {
				return err
			}
		}
		if in.err == nil {
			if err := b.unchanged(ctx, in); err != nil {
				return err
			}
		}
		if !b.judged(in) {
			continue
		}
		holds := content{in.sha, b.behaviour(in)}
		if same := b.ledgers.bySHA[holds]; same != "" && same != in.Rel {
			in.sameAs = same
			c.Duplicate, c.Loaded = c.Loaded, 0
		} else {
			b.ledgers.bySHA[holds] = in.Rel
		}
	}
	return nil
}

// judged says whether in may be loaded, and remembers it if it may not.
func (b *batch) judged(in *input) bool {
	if in.err == nil {
		return true
	}
	b.failed = append(b.failed, in.err)
	b.result.Failed = append(b.result.Failed, Failed{in.Path, in.err.Error()})
	return false
}

// unchanged makes sure that a file of which a part was loaded before is still
// the same, and that it did not grow while it was read.
func (b *batch) unchanged(ctx context.Context, in *input) error {
	info, err := b.cfg.FS.Stat(ctx, in.Path)
	if err != nil {
		return err
	}
	if info.Size != in.Size || !info.Modified.Equal(in.Modified) {
		in.err = fmt.Errorf("%s: it was written to while it was read: load it when it is whole", in.Path)
	}
	return nil
}

// dropped says whether in's records are not to be loaded.
func (in *input) dropped() bool { return in.err != nil || in.sameAs != "" }

// span holds the dates of all of the batch's records.
func (b *batch) span() behaviour.Span {
	s := noDates
	for _, p := range b.parsers {
		s.From, s.To = min(s.From, p.dates.From), max(s.To, p.dates.To)
	}
	return s
}

// write writes the files of all regions, writers of them at once, and adds what is
// in them to all.
func (b *batch) write(ctx context.Context, regions int, all *days) ([]manifest.File, error) {
	written := make([]*regionFile, regions)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(b.cfg.writers())
	for r := range regions {
		g.Go(func() (err error) {
			written[r], err = b.writeRegion(ctx, r)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var files []manifest.File
	for _, w := range written {
		w.settle(all)
		if w.file.Records > 0 {
			files = append(files, w.file)
		}
	}
	return files, nil
}

// writers is how many regions are written at once: one more than there are
// workers, since each waits in turn until its file is on stable storage.
func (c *Config) writers() int { return c.Workers + 1 }

// commit checks the law and makes the batch part of the table.
func (b *batch) commit(ctx context.Context, files []manifest.File, d *days) error {
	ledger := &manifest.Load{Version: manifest.Version, Number: b.target.NextLoad(), Job: b.job.Digest(), Days: d.list(b.schema), Regions: d.cut(b.points)}
	var sum manifest.Counts
	for _, in := range b.inputs {
		if in.err != nil {
			continue
		}
		if err := in.counts.Check(); err != nil {
			return fmt.Errorf("%s: %w", in.Path, err)
		}
		sum.Add(in.counts)
		ledger.Inputs = append(ledger.Inputs, b.ledger(in))
	}
	if err := sum.Check(); err != nil {
		return err
	}
	if len(ledger.Inputs) == 0 {
		return nil
	}
	if err := b.commitBad(); err != nil {
		return err
	}
	if err := b.target.TakeIn(ctx, ledger, files); err != nil {
		return err
	}
	for i := range ledger.Inputs {
		b.ledgers.add(&ledger.Inputs[i])
	}
	b.count(ledger)
	b.countOlder()
	b.result.HFiles += hfiles(files)
	return nil
}

// hfiles is how many of a load's files are more than a roll.
func hfiles(files []manifest.File) int {
	n := 0
	for _, f := range files {
		if f.Name != "" {
			n++
		}
	}
	return n
}

// commitBad makes the quarantine visible. Each file waits for stable storage, so
// many do at once.
func (b *batch) commitBad() error {
	var g errgroup.Group
	g.SetLimit(16)
	for _, in := range b.inputs {
		if in.err == nil {
			g.Go(in.bad.commit)
		}
	}
	return g.Wait()
}

// count adds a committed load to the result.
func (l *load) count(ledger *manifest.Load) {
	r := &l.result
	for i := range ledger.Inputs {
		r.Counts.Add(ledger.Inputs[i].Counts)
	}
	r.Files += len(ledger.Inputs)
	r.Loads++
	for _, d := range ledger.Days {
		r.Cells += d.Tally.Cells
	}
}

// ledger is what the table remembers of in.
func (b *batch) ledger(in *input) manifest.Input {
	out := manifest.Input{
		Path: in.Rel, Behaviour: b.behaviour(in), Number: in.number, Size: in.Size, Modified: in.Modified,
		SHA256: in.sha, Part: in.part, SameAs: in.sameAs, Counts: in.counts,
	}
	if in.replay != nil {
		slices.Sort(in.offsets)
		out.Offsets = append([]int64{}, in.offsets...)
	}
	return out
}

// abort throws away what bad records are not to be seen.
func (b *batch) abort() {
	for _, in := range b.inputs {
		in.bad.abort()
	}
}
