package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/bulkload/quarantine"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/run/progress"
	"usertrail/internal/split"
	"usertrail/internal/table/segment"
	"usertrail/internal/table/shuffle"
)

// loadBatch reads, writes and commits one batch.
func (l *load) loadBatch(ctx context.Context, inputs []*input, s *shuffle.Sorter, p *progress.Progress) error {
	began := time.Now()
	b, err := l.newBatch(ctx, inputs, s, p)
	if err != nil {
		return err
	}
	defer b.abort()
	done, err := b.work(ctx)
	if err != nil {
		return err
	}
	if l.replayMemory > 0 {
		if err := s.Close(ctx); err != nil { // the ledger of a replay needs its memory
			return err
		}
	}
	at := p.Worker("load")
	defer at.End()
	at.At("committing load %d: the table takes %d files in", l.target.NextLoad(), len(done.files))
	if err := b.commit(ctx, done); err != nil {
		return err
	}
	l.log.Info("loaded", "files", len(inputs), "hfiles", hfiles(done.files), "took", time.Since(began).Round(time.Millisecond))
	return nil
}

func (l *load) newBatch(ctx context.Context, inputs []*input, s *shuffle.Sorter, p *progress.Progress) (*batch, error) {
	regions, err := l.target.Regions(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.SetParts(l.part(len(regions))); err != nil { // the regions may have changed since the last batch
		return nil, err
	}
	for i, in := range inputs {
		in.index = i
	}
	return &batch{load: l, inputs: inputs, sorter: s, points: pointsOf(regions), progress: p, records: p.Counter("records")}, nil
}

// worked is the outcome of the good files of a batch. The table does not have them yet, except cells
// that were put.
type worked struct {
	files   []manifest.File
	tallies *segment.Tallies
}

// work reads the files, judges each, and writes or puts the good ones. It is a load without the
// commit. A piece of a plan does the same.
func (b *batch) work(ctx context.Context) (worked, error) {
	done := worked{tallies: segment.NewTallies()}
	at := b.progress.Worker("load")
	defer at.End()
	at.At("reading %d files", len(b.inputs))
	if err := b.read(ctx); err != nil {
		return done, err
	}
	b.buffers = nil // writing needs the memory
	if err := b.judge(ctx); err != nil {
		return done, err
	}
	at.At("sorting what %d files brought", len(b.inputs))
	if err := b.sorter.Finish(ctx); err != nil {
		return done, err
	}
	breakpoint.Reach(breakpoint.Batch)
	for _, in := range b.inputs {
		if !in.dropped() {
			in.counts.Loaded = 0 // writing counts them, so that the law compares two counts
		}
	}
	var err error
	regions := len(b.points) + 1
	if b.putter != nil {
		at.At("putting cells into %d regions", regions)
		done.files, err = b.put(ctx, regions, done.tallies)
	} else {
		at.At("writing %d regions", regions)
		done.files, err = b.write(ctx, regions, done.tallies)
	}
	return done, err
}

func pointsOf(regions []split.Region) split.Points {
	var p split.Points
	for _, r := range regions[1:] {
		p = append(p, r.Start)
	}
	return p
}

// judge decides for each file, after all of it is read, whether it is loaded. It refuses a file
// that is cut short or has too many bad records. It skips a file if all of its records came
// with its copies.
func (b *batch) judge(ctx context.Context) error {
	for _, in := range b.inputs {
		if in.replay != nil {
			b.judged(in)
			continue
		}
		c := &in.counts
		if in.err == nil && in.whole() {
			in.err = b.tooBad(in.Path, in.Rel, c)
		}
		if in.err == nil && in.whole() {
			in.err = b.tooFew(in.Input, c.Read)
		}
		if errors.Is(in.err, bulkload.ErrTooBad) {
			if err := in.bad.Commit(in.sha); err != nil {
				return err
			}
		}
		if in.err == nil {
			in.err = b.sameBad(in)
		}
		if in.err == nil {
			if err := b.unchanged(ctx, in); err != nil {
				return err
			}
		}
		if !b.judged(in) || !in.whole() {
			continue
		}
		if b.piece != nil {
			b.hasCopies(in, in.planned.of(in.sha))
		} else {
			b.findCopies(in)
		}
		if in.sameAs != "" {
			c.Duplicate, c.Loaded = c.Loaded, 0
		}
	}
	return nil
}

// tooBad returns the error of a file that has more bad records than the job allows.
func (l *load) tooBad(path, rel string, c *manifest.Counts) error {
	if !l.job.MaxBad.Exceeded(c.Read, c.Quarantined) {
		return nil
	}
	return fmt.Errorf("%s: %w: %d of %d, allowed are %s; see %s",
		path, bulkload.ErrTooBad, c.Quarantined, c.Read, l.job.MaxBad, l.cfg.Store.Quarantine(rel))
}

// judged reports whether in may be loaded. It records the file if it may not.
func (b *batch) judged(in *input) bool {
	if in.err == nil {
		return true
	}
	b.failed = append(b.failed, in.err)
	b.result.Failed = append(b.result.Failed, bulkload.Failed{Path: in.Path, Error: in.err.Error()})
	return false
}

// unchanged returns an error if a file has changed since a part of it was loaded, or has grown while it
// was read.
func (b *batch) unchanged(ctx context.Context, in *input) error {
	info, err := b.cfg.FS.Stat(ctx, in.Path)
	if err != nil {
		return b.unreadable(in, err)
	}
	if info.Size != in.Size || !info.Modified.Equal(in.Modified) {
		in.fail(errWritten(in.Path))
	}
	return nil
}

func errWritten(path string) error {
	return fmt.Errorf("%s: it was written to while it was read: load it when it is whole", path)
}

// dropped reports whether in's records are not loaded.
func (in *input) dropped() bool { return in.err != nil || in.sameAs != "" }

// span returns a span with the dates of all records of the batch.
func (b *batch) span() behaviour.Span {
	s := noDates
	for _, p := range b.parsers {
		s.From, s.To = min(s.From, p.dates.From), max(s.To, p.dates.To)
	}
	return s
}

// write writes the files of all regions, several at the same time, and adds their contents to all.
func (b *batch) write(ctx context.Context, regions int, all *segment.Tallies) ([]manifest.File, error) {
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

// writers returns the number of regions that are written at the same time: one more than workers,
// because a writer also waits until its file is on stable storage.
func (c *Config) writers() int { return c.Workers + 1 }

// sortMemory returns the memory of shuffle in bytes.
func (c *Config) sortMemory() int64 { return segment.SortMemory(c.Memory) }

// userMemory returns the memory of a writer in bytes for the records of one user that are compared with
// each other.
func (c *Config) userMemory() int64 { return c.Memory / userShare }

// userShare divides Config.Memory: userMemory is one userShare-th of it.
const userShare = 8

// putMemory returns the memory in bytes for cells that HBase has not confirmed.
func (c *Config) putMemory() int { return int(c.Memory / 16) }

// rowMemory returns the memory of a writer in bytes for the records of one row.
func (c *Config) rowMemory() int64 { return segment.RowMemory(c.Memory, c.writers()) }

// commit checks the conservation law and makes the batch part of the table.
func (b *batch) commit(ctx context.Context, done worked) error {
	ledger := &manifest.Load{
		Version: manifest.Version, Number: b.number(), Job: b.job.Digest(),
		Days: done.tallies.Days(b.number(), b.schema), Regions: done.tallies.Regions(b.number(), b.points),
	}
	for _, in := range b.inputs {
		if in.err == nil {
			ledger.Inputs = append(ledger.Inputs, b.ledger(in))
		}
	}
	if err := checkLaw(ledger.Inputs); err != nil {
		return err
	}
	if len(ledger.Inputs) == 0 {
		return nil
	}
	if err := b.commitBad(); err != nil {
		return err
	}
	if err := quarantine.Remove(ctx, b.cfg.FS, b.clean(), b.cfg.Store.Quarantine); err != nil {
		return err
	}
	if err := b.target.TakeIn(ctx, ledger, done.files); err != nil {
		return err
	}
	for i := range ledger.Inputs {
		b.ledgers.Add(&ledger.Inputs[i])
	}
	b.count(ledger)
	b.countSkipped(ledger)
	b.result.HFiles += hfiles(done.files)
	return nil
}

// checkLaw checks the conservation law for each file and for all of them.
func checkLaw(inputs []manifest.Input) error {
	var sum manifest.Counts
	for i := range inputs {
		in := &inputs[i]
		if err := in.Check(); err != nil {
			return fmt.Errorf("%s: %w", in.Path, err)
		}
		sum.Add(in.Counts)
	}
	return sum.Check()
}

// hfiles returns the number of HFiles of a load. Files without a name have only a roll.
func hfiles(files []manifest.File) int {
	n := 0
	for _, f := range files {
		if f.Name != "" {
			n++
		}
	}
	return n
}

// commitBad makes the quarantine files visible. Many commit at the same time, because each waits for
// stable storage.
func (b *batch) commitBad() error {
	var g errgroup.Group
	g.SetLimit(16)
	for _, in := range b.inputs {
		if in.err == nil {
			g.Go(func() error { return in.bad.Commit(in.digest()) })
		}
	}
	return g.Wait()
}

// digest returns the digest of the delivered file, or "" if only a range of it was read.
func (in *input) digest() string {
	if !in.whole() {
		return ""
	}
	return in.sha
}

// clean returns the paths of files that have no bad records and that no earlier load brought
// records of.
func (b *batch) clean() []string {
	var out []string
	for _, in := range b.inputs {
		if in.err == nil && in.replay == nil && in.covered == nil && in.counts.Quarantined == 0 {
			out = append(out, in.Rel)
		}
	}
	return out
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

// ledger returns the entry of in in the ledger.
func (b *batch) ledger(in *input) manifest.Input {
	out := manifest.Input{
		Path: in.Rel, Behaviour: b.behaviour(in), Number: in.number, Size: in.Size, Modified: in.Modified,
		SHA256: in.sha, Part: in.part, Dates: b.dates(in), SameAs: in.sameAs, Older: in.older, Counts: in.counts,
	}
	if in.replay == nil {
		out.BadAt = in.bad.BadAt()
		if in.older > 0 {
			out.Part = ledger.Undropped(in.part, b.behaviour(in), b.target.Info().Dropped)
		}
	} else {
		out.Dates = nil
		slices.Sort(in.offsets)
		out.Offsets = in.offsets
		if out.Offsets == nil {
			out.Offsets = []int64{}
		}
	}
	return out
}

// abort removes the quarantine files that are not committed.
func (b *batch) abort() {
	for _, in := range b.inputs {
		if in.bad != nil {
			in.bad.Abort()
		}
	}
}
