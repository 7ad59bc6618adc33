package load

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/bulkload/quarantine"
	"usertrail/internal/column"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/run/pipe"
	"usertrail/internal/run/progress"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/shuffle"
)

// chunkBytes is how much of a file is parsed at a time.
const chunkBytes = 1 << 20

// state is what reading finds out about an input.
type state struct {
	mu     sync.Mutex
	counts manifest.Counts // Loaded is what may be loaded, until the batch is written
	err    error           // why nothing of it is loaded
	older  int64           // of counts.Skipped, those of days that were dropped
	sha    string          // of the range, where that alone is read
	ranges []string        // digests of all ranges, where these are asked for
	lines  int64           // that end in the range
	copies []ledger.Copy   // of the file, in the table already
	sameAs string          // the first of them, if they have all that is asked for
	bad    *quarantine.File
}

// fail says that nothing of the file is to be loaded; the first reason counts.
func (s *state) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

func (s *state) failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err != nil
}

// A batch is files that are loaded and committed together.
type batch struct {
	*load
	inputs   []*input
	sorter   *shuffle.Sorter
	points   split.Points
	progress *progress.Progress
	records  *progress.Counter
	parsers  []*parser   // by shard
	buffers  chan []byte // of chunks, not in use
	piece    *Piece      // that the batch is; nil of a load without a plan
}

// noDates is the span of no records.
var noDates = behaviour.Span{From: math.MaxInt32, To: math.MinInt32}

// A task is a chunk of a file, and which one it is.
type task struct {
	in     *input
	number int
	chunk  record.Chunk
	header []string
	buffer []byte
	again  []record.Chunk // of a replay: other texts of the same record
}

// sorter makes what sorts every batch of the load. newBatch says how many parts one has.
func (l *load) sorter() (*shuffle.Sorter, error) {
	return shuffle.New(shuffle.Config{
		FS: l.cfg.FS, Dir: l.cfg.Temp, Memory: l.cfg.sortMemory() - l.replayMemory, Shards: l.cfg.Workers, Readers: l.cfg.writers(),
	})
}

// read reads every file of the batch into the sorter. A problem of one file is recorded with
// the file. An error ends the load.
func (b *batch) read(ctx context.Context) error {
	b.parsers = make([]*parser, b.cfg.Workers)
	b.buffers = make(chan []byte, 4*b.cfg.Workers)
	for _, in := range b.inputs {
		in.bad = quarantine.NewFile(ctx, b.cfg.FS, b.badName(in), b.keepsOf(in)) // its file outlives the workers
	}
	return b.feed(ctx, b.inputs, "parsing", func(ctx context.Context, i int) func(task) error {
		p := b.newParser(ctx, i)
		b.parsers[i] = p
		return func(t task) error {
			if err := p.parse(t); err != nil {
				return err
			}
			breakpoint.Reach(breakpoint.Read)
			return nil
		}
	})
}

// feed reads files and gives their chunks to Workers workers. doing names the work in the
// progress report.
func (b *batch) feed(ctx context.Context, inputs []*input, doing string, worker func(ctx context.Context, i int) func(task) error) error {
	g, ctx := errgroup.WithContext(ctx)
	files := make(chan *input)
	tasks := make(chan task, b.cfg.Workers)
	g.Go(func() error {
		defer close(files)
		for _, in := range inputs {
			if err := pipe.Send(ctx, files, in); err != nil {
				return err
			}
		}
		return nil
	})
	g.Go(func() error {
		defer close(tasks)
		r, ctx := errgroup.WithContext(ctx)
		for range b.cfg.Workers {
			r.Go(func() error {
				for in := range files {
					if err := b.readFile(ctx, in, tasks); err != nil {
						return err
					}
				}
				return nil
			})
		}
		return r.Wait()
	})
	for i := range b.cfg.Workers {
		g.Go(func() error {
			work := worker(ctx, i)
			at := b.progress.Worker(doing)
			defer at.End()
			for t := range tasks {
				at.At("%s, from line %d, byte %d on", t.in.Path, t.chunk.Line, t.chunk.Offset)
				if err := work(t); err != nil {
					return err
				}
				b.giveBack(t.buffer)
				at.At("waiting for the next lines")
			}
			return nil
		})
	}
	return g.Wait()
}

// readFile digests one file, or a range of it, and hands its chunks out.
func (b *batch) readFile(ctx context.Context, in *input, tasks chan<- task) error {
	switch {
	case in.replay != nil:
		return b.replayFile(ctx, in, tasks)
	case in.cuts != nil:
		return b.digestRanges(ctx, in)
	case in.only != nil:
		if err := b.unchanged(ctx, in); err != nil || in.err != nil {
			return err
		}
	}
	at := b.progress.Worker("reading")
	defer at.End()
	at.At("%s, of %d bytes", in.Path, in.toRead())
	f, err := dfs.OpenRegular(ctx, b.cfg.FS, in.Path)
	if err != nil {
		return b.unreadable(in, err)
	}
	defer f.Close()
	h := sha256.New()
	src := &source{r: in.stretch(f)}
	raw := &counted{r: io.TeeReader(src, h), progress: b.progress}
	r, err := b.openRecords(f, raw, src, in)
	if err == nil {
		defer r.Close()
		err = b.chunks(ctx, in, r, tasks)
		in.lines = r.Lines()
		if err == nil {
			err = b.fits(in, r.Header())
		}
	}
	var stop *stopped
	switch {
	case errors.As(err, &stop):
		return stop.error
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case src.err != nil:
		return b.unreadable(in, fmt.Errorf("load: %w", src.err))
	case err != nil:
		in.fail(unfit(err))
		return nil
	}
	if _, err := io.Copy(io.Discard, raw); err != nil {
		return b.unreadable(in, fmt.Errorf("load: %w", err))
	}
	in.sha = hex.EncodeToString(h.Sum(nil))
	return nil
}

// unreadable fails a file that cannot be read by its own fault. Other errors are returned: they
// end the load.
func (b *batch) unreadable(in *input, err error) error {
	if err = unread(in.Path, err); !ownFault(err) {
		return err
	}
	in.fail(err)
	return nil
}

// stopped is an error that is not the file's.
type stopped struct{ error }

// chunks sends one chunk of a file after the other, until the file has an error.
func (b *batch) chunks(ctx context.Context, in *input, r *record.Reader, tasks chan<- task) error {
	for n := 0; !in.failed(); n++ {
		buf := b.buffer()
		c, err := r.Next(buf)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := pipe.Send(ctx, tasks, task{in: in, number: n, chunk: c, header: r.Header(), buffer: buf}); err != nil {
			return &stopped{err}
		}
	}
	return nil
}

func (b *batch) buffer() []byte {
	select {
	case buf := <-b.buffers:
		return buf
	default:
		return make([]byte, 0, chunkBytes)
	}
}

// giveBack keeps a buffer for another chunk, unless it is not one of buffer's.
func (b *batch) giveBack(buf []byte) {
	if cap(buf) < chunkBytes {
		return
	}
	select {
	case b.buffers <- buf[:0]:
	default:
	}
}

// counted tells the progress how much has been read.
type counted struct {
	r        io.Reader
	progress *progress.Progress
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.progress.Add(int64(n))
	return n, err
}

// A parser is one worker: it turns chunks into records in its shard.
type parser struct {
	*batch
	ctx    context.Context
	shard  *shuffle.Shard
	dates  behaviour.Span  // of the records kept
	first  *behaviour.Date // that was not dropped from the table
	layout layout.Layout

	in      *input
	parser  *record.Parser
	counts  manifest.Counts
	older   int64
	rejects []quarantine.Record
	settled bool // of a replay: a text of the record was good
	row     []byte
	packed  []byte
	values  [][]byte
}

func (b *batch) newParser(ctx context.Context, i int) *parser {
	return &parser{batch: b, ctx: ctx, shard: b.sorter.Shard(i), dates: noDates, first: b.target.Info().Dropped, layout: b.load.layout}
}

// parse takes one chunk. The file's counts are right again after each.
func (p *parser) parse(t task) error {
	if err := p.open(t); err != nil {
		t.in.fail(unfit(err))
		return t.in.bad.Add(t.number, nil)
	}
	p.counts, p.older, p.rejects = manifest.Counts{}, 0, nil
	read := func(t task) error { return p.parser.Parse(t.chunk, p) }
	if t.in.replay != nil {
		read = p.texts
	}
	if err := read(t); err != nil {
		return fmt.Errorf("load %s: %w", t.in.Path, err)
	}
	p.in.mu.Lock()
	p.in.counts.Add(p.counts)
	p.in.older += p.older
	p.in.mu.Unlock()
	p.records.Add(p.counts.Read)
	return p.in.bad.Add(t.number, p.rejects)
}

// open makes the parser of t's file the one at hand.
func (p *parser) open(t task) (err error) {
	if p.in == t.in {
		return nil
	}
	if p.parser, err = record.NewParser(&p.job.Format, t.in.File(), t.header); err == nil {
		p.in = t.in
	}
	return err
}

// Keep implements record.Sink.
func (p *parser) Keep(r *behaviour.Record) error {
	p.counts.Read++
	if p.settled {
		p.counts.Duplicate++
		return nil
	}
	if count := p.unwanted(r); count != nil {
		p.counts.Skipped++
		*count++
		return nil
	}
	if p.in.brought(r.ID, r.Date, p.job.Schema.Kinds[r.Kind].Name) {
		p.counts.Duplicate++
		return nil
	}
	p.counts.Loaded++
	if r.ID > column.MaxOffset {
		p.in.fail(fmt.Errorf("%s has more than %d bytes of text: cut it into smaller files", p.in.Path, int64(column.MaxOffset)))
		return nil
	}
	at := r.ID
	r.ID = column.ID(p.in.number, at)
	p.remapped(r)
	if err := p.layout.Fits(p.schema, r); err != nil {
		return fmt.Errorf("%w: record at byte %d: %w", bulkload.ErrRequest, at, err)
	}
	p.dates.From, p.dates.To = min(p.dates.From, r.Date), max(p.dates.To, r.Date)
	if p.putter != nil {
		if err := p.addToRoll(r); err != nil {
			return err
		}
	}
	if !p.sorts(p.in, r.Kind) {
		return nil
	}
	p.row = p.layout.AppendRow(p.row[:0], p.schema, r)
	p.packed = appendPacked(p.packed[:0], p.in.index, r)
	return p.shard.Add(p.ctx, p.part(p.points.Of(p.row)), p.row, uint64(r.ID), p.packed)
}

// sorts reports whether records of a kind go through the sorter. For HFiles all records do. For
// puts these are the records that may be duplicates and the records of a replay, which are in no
// file.
func (b *batch) sorts(in *input, kind int) bool {
	return b.putter == nil || in.replay != nil || b.unique[kind].Asked()
}

// unwanted returns the count of the reason why a record is skipped: it was not asked for, or the
// table has it. It returns nil if the record is to be loaded.
func (p *parser) unwanted(r *behaviour.Record) *int64 {
	skips := &p.counts.Skips
	if p.tooOld(r.Date) {
		return &skips.DroppedDays
	}
	if p.in.part == nil && p.in.covered == nil {
		return nil
	}
	name := p.job.Schema.Kinds[r.Kind].Name
	switch {
	case p.in.part.Has(r.Date, name):
	case p.in.part.Span != nil && !p.in.part.Span.Has(r.Date):
		return &skips.OutsideDates
	default:
		return &skips.OtherTypes
	}
	for _, c := range p.in.covered {
		if c.Has(r.Date, name) {
			return &skips.LoadedBefore
		}
	}
	return nil
}

// wanted reports whether a record was asked for and is not in the table yet.
func (p *parser) wanted(r *behaviour.Record) bool { return p.unwanted(r) == nil }

// remapped replaces the job's kind and fields of r by the table's kind and fields.
func (p *parser) remapped(r *behaviour.Record) {
	m := &p.kindMap[r.Kind]
	r.Kind = m.kind
	if m.fields == nil {
		return
	}
	p.values = p.values[:0]
	for _, from := range m.fields {
		if from < 0 {
			p.values = append(p.values, nil)
		} else {
			p.values = append(p.values, r.Values[from])
		}
	}
	r.Values = p.values
}

// Skip implements record.Sink.
func (p *parser) Skip(s *record.Skipped) error {
	p.counts.Read++
	p.counts.Skipped++
	switch s.Why {
	case record.WithoutUser:
		p.counts.Skips.WithoutUser++
	case record.ByRule:
		p.counts.Skips.Condition++
	default:
		p.counts.Skips.Unknown++
	}
	return nil
}

// Reject implements record.Sink.
func (p *parser) Reject(r *record.Reject) error {
	p.counts.Read++
	p.counts.Quarantined++
	p.rejects = append(p.rejects, quarantine.NewRecord(p.in.Rel, r))
	return nil
}
