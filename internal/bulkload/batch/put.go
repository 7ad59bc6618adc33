package batch

import (
	"context"
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/table/segment"
	"usertrail/internal/tally"
)

// put reads the good files of the batch a second time. The workers put the cells directly. No
// record of a file is put before the whole file has been read once, so a truncated file or a file
// with too many bad records leaves no cells. put returns the roll of the cells.
func (b *Batch) put(ctx context.Context, regions int, all *segment.Tallies) ([]manifest.File, error) {
	rolled, err := b.writeRoll(ctx)
	if err != nil || rolled == nil {
		return nil, err
	}
	entries, files := b.good()
	if err := b.owner.Begin(ctx, entries, rolled); err != nil {
		return nil, err
	}
	w, err := b.cfg.To.Putter.Writer(ctx, b.cfg.PutMemory())
	if err != nil {
		return nil, err
	}
	defer w.Close()
	if err := b.putFiles(ctx, files, w, all); err != nil {
		return nil, err
	}
	if err := b.putSorted(ctx, regions, w, all); err != nil {
		return nil, err
	}
	if err := w.Flush(ctx); err != nil {
		return nil, fmt.Errorf("put: %w", err)
	}
	return []manifest.File{*rolled}, nil
}

// good returns the delivered files whose records are put, and their entries for the table. It
// skips corrected records.
func (b *Batch) good() (entries []manifest.Input, files []*Input) {
	for _, in := range b.inputs {
		if !in.dropped() && in.corrected == nil {
			e := b.entry(in)
			e.Job, e.BadAt = b.cfg.Job.Digest(), nil
			e.SkippedBy, e.CutBy = b.by.Skip, b.by.CutBy
			entries = append(entries, e)
			files = append(files, in)
		}
	}
	return entries, files
}

// putFiles makes the second pass over the files. A file that differs from the first pass ends
// the load.
func (b *Batch) putFiles(ctx context.Context, files []*Input, w table.Writer, all *segment.Tallies) error {
	first := make([]string, len(files))
	for i, in := range files {
		first[i] = in.sha
	}
	workers := make([]*putter, b.cfg.Workers)
	err := newReader(b.cfg, b.progress).feed(ctx, files, "putting", func(ctx context.Context, i int) func(task) error {
		workers[i] = b.newPutter(ctx, w)
		return workers[i].put
	})
	if err != nil {
		return err
	}
	for i, in := range files {
		if in.err != nil {
			return fmt.Errorf("read again: %w", in.err)
		}
		if in.sha != first[i] {
			return fmt.Errorf("%s: %w: the file changed after its records were counted, and some of them were put", in.Path, bulkload.ErrChanged)
		}
	}
	for _, p := range workers {
		all.Merge(p.tallies)
	}
	return nil
}

// putSorted puts the cells of the sorted records.
func (b *Batch) putSorted(ctx context.Context, regions int, w table.Writer, all *segment.Tallies) error {
	at := b.progress.Worker("putting")
	defer at.End()
	for region := range regions {
		it, err := b.sorter.Part(ctx, b.part(region))
		if err != nil {
			return err
		}
		g := b.newGatherer(ctx, region, sortedPuts{ctx, w}, at)
		err = g.gather(ctx, it)
		g.close()
		it.Close()
		if err != nil {
			return fmt.Errorf("put region %d: %w", region, err)
		}
		g.settle(all)
	}
	return nil
}

// sortedPuts is a segment.Sink that puts the cells.
type sortedPuts struct {
	ctx context.Context
	out table.Writer
}

// Add implements segment.Sink.
func (s sortedPuts) Add(c *cell.Cell) error { return s.out.Put(s.ctx, c) }

// EndRow implements segment.Sink.
func (s sortedPuts) EndRow([]byte, *segment.Counts) error { return nil }

// A putter is a worker of the second pass: it turns chunks into cells. The
// first pass counted and wrote the bad records.
type putter struct {
	lines
	ctx     context.Context
	out     table.Writer
	enc     layout.Encoder
	load    int // its number
	kinds   []behaviour.Kind
	points  split.Points
	tallies *segment.Tallies
	sum     tally.Counter
	had     int64          // records put of the chunk
	dup     int64          // records of the chunk that a copy of the file, or a replay, added
	skips   manifest.Skips // not used: the first pass counted them
}

func (b *Batch) newPutter(ctx context.Context, w table.Writer) *putter {
	t := b.cfg.To
	return &putter{
		lines: newLines(b.cfg), ctx: ctx, out: w, load: b.owner.Number(), kinds: t.Schema.Kinds, points: b.points,
		tallies: segment.NewTallies(), enc: t.Layout.Encoder(t.Schema, t.Info().Family),
	}
}

func (p *putter) put(t task) error {
	if err := p.open(t); err != nil {
		return err
	}
	p.had, p.dup = 0, 0
	if err := p.parser.Parse(t.chunk, p); err != nil {
		return fmt.Errorf("put records of %s: %w", t.in.Path, err)
	}
	t.in.count(manifest.Counts{Loaded: p.had, Duplicate: p.dup})
	return nil
}

// Keep implements record.Sink.
func (p *putter) Keep(r *behaviour.Record) error {
	marks := p.parser.Marks()
	if p.unwanted(r, marks, &p.skips) != nil {
		return nil
	}
	p.place(r)
	if p.sorts(r.Kind) {
		return nil
	}
	if p.in.brought(r.ID, r.Date, p.kinds[r.Kind].Name, p.text(), marks) {
		p.dup++
		return nil
	}
	p.row = p.to.Layout.AppendRow(p.row[:0], p.to.Schema, r)
	before := p.sum.Tally
	p.enc.Add(r)
	err := p.enc.Cells(p.row, func(c *cell.Cell) error {
		p.sum.Add(c)
		return p.out.Put(p.ctx, c)
	})
	added := p.sum.Since(before)
	day := segment.Day{Load: p.load, Date: r.Date, Kind: r.Kind}
	p.tallies.AddRecord(day, r.Values)
	p.tallies.Add(day, 0, added)
	p.tallies.AddRegion(p.load, p.points.Of(p.row), added)
	p.had++
	return err
}

// Skip implements record.Sink.
func (p *putter) Skip(*record.Skipped) error { return nil }

// Reject implements record.Sink.
func (p *putter) Reject(*record.Reject) error { return nil }
