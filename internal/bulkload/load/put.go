package load

import (
	"context"
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/cell"
	"usertrail/internal/column"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
	"usertrail/internal/table"
	"usertrail/internal/table/segment"
	"usertrail/internal/tally"
)

// takeUp reads from the table which files killed loads by puts have begun.
func (l *load) takeUp(ctx context.Context) error {
	p, ok := table.As[table.Putter](l.target)
	if !ok {
		return nil
	}
	begun, err := p.Begun(ctx)
	if err != nil {
		return err
	}
	for i := range begun {
		l.ledgers.AddBegun(&begun[i])
	}
	return nil
}

// put reads the good files of the batch a second time. The workers put the cells directly. No
// record of a file is put before the whole file has been read once, so a truncated file or a file
// with too many bad records leaves no cells. put returns the roll of the cells.
func (b *batch) put(ctx context.Context, regions int, all *segment.Tallies) ([]manifest.File, error) {
	rolled, err := b.writeRoll(ctx)
	if err != nil || rolled == nil {
		return nil, err
	}
	good, again := b.good()
	if err := b.begin(ctx, good, rolled); err != nil {
		return nil, err
	}
	w, err := b.putter.Writer(ctx, b.cfg.putMemory())
	if err != nil {
		return nil, err
	}
	defer w.Close()
	if err := b.putFiles(ctx, again, w, all); err != nil {
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

// good returns the delivered files whose records are to be put, and their entries for the table.
// It skips the inputs of a replay.
func (b *batch) good() (remembered []manifest.Input, files []*input) {
	for _, in := range b.inputs {
		if !in.dropped() && in.replay == nil {
			of := b.ledger(in)
			of.Job, of.BadAt = b.job.Digest(), nil
			if b.piece == nil {
				of.Reading = b.reading()
			}
			remembered = append(remembered, of)
			files = append(files, in)
		}
	}
	return remembered, files
}

// putFiles makes the second pass over the files. A file that differs from the first pass ends
// the load.
func (b *batch) putFiles(ctx context.Context, files []*input, w table.Writer, all *segment.Tallies) error {
	first := make([]string, len(files))
	for i, in := range files {
		first[i] = in.sha
	}
	workers := make([]*rowPutter, b.cfg.Workers)
	err := b.feed(ctx, files, "putting", func(ctx context.Context, i int) func(task) error {
		workers[i] = b.newRowPutter(ctx, w)
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
			return fmt.Errorf("%s: %w: its records were being put, and it is not what it was when they were counted", in.Path, bulkload.ErrChanged)
		}
	}
	for _, p := range workers {
		all.Merge(p.tallies)
	}
	return nil
}

// putSorted puts the cells of the sorted records.
func (b *batch) putSorted(ctx context.Context, regions int, w table.Writer, all *segment.Tallies) error {
	at := b.progress.Worker("putting")
	defer at.End()
	for region := range regions {
		it, err := b.sorter.Part(ctx, b.part(region))
		if err != nil {
			return err
		}
		g := b.newGathered(ctx, region, sortedPuts{ctx, w})
		g.at = at
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

// A rowPutter is one worker of the second pass: it turns chunks into cells. The
// first pass counted and wrote the bad records.
type rowPutter struct {
	*parser
	out        table.Writer
	enc        layout.Encoder
	loadNumber int
	tallies    *segment.Tallies
	sum        tally.Counter
	had        int64 // records put of the chunk
	dup        int64 // records of the chunk that a copy of the file brought
}

func (b *batch) newRowPutter(ctx context.Context, w table.Writer) *rowPutter {
	return &rowPutter{
		parser: &parser{batch: b, ctx: ctx, layout: b.load.layout}, out: w, loadNumber: b.number(), tallies: segment.NewTallies(),
		enc: b.load.layout.Encoder(b.schema, b.target.Info().Family),
	}
}

func (p *rowPutter) put(t task) error {
	if err := p.open(t); err != nil {
		return err
	}
	p.had, p.dup = 0, 0
	if err := p.parser.parser.Parse(t.chunk, p); err != nil {
		return fmt.Errorf("put records of %s: %w", t.in.Path, err)
	}
	t.in.mu.Lock()
	t.in.counts.Loaded += p.had
	t.in.counts.Duplicate += p.dup
	t.in.mu.Unlock()
	return nil
}

// Keep implements record.Sink.
func (p *rowPutter) Keep(r *behaviour.Record) error {
	if !p.wanted(r) {
		return nil
	}
	r.ID = column.ID(p.in.number, r.ID)
	p.remapped(r)
	if p.sorts(p.in, r.Kind) {
		return nil
	}
	if p.copied(p.in, r.Date, r.Kind) {
		p.dup++
		return nil
	}
	p.row = p.layout.AppendRow(p.row[:0], p.schema, r)
	before := p.sum.Tally
	p.enc.Add(r)
	err := p.enc.Cells(p.row, func(c *cell.Cell) error {
		p.sum.Add(c)
		return p.out.Put(p.ctx, c)
	})
	added := p.sum.Since(before)
	p.tallies.Add(segment.Day{Load: p.loadNumber, Date: r.Date, Kind: r.Kind}, 1, added)
	p.tallies.AddRegion(p.loadNumber, p.points.Of(p.row), added)
	p.had++
	return err
}

// Skip implements record.Sink.
func (p *rowPutter) Skip(*record.Skipped) error { return nil }

// Reject implements record.Sink.
func (p *rowPutter) Reject(*record.Reject) error { return nil }
