package reread

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/batch"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/column"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/run/progress"
	"usertrail/internal/table/shuffle"
)

// parse reads the files, and adds the values of their records to the sorter. A file that differs from the loaded file fails.
func (x *reread) parse(ctx context.Context) error {
	inputs, of := make([]*batch.Input, len(x.inputs)), map[*batch.Input]int{}
	for i, in := range x.inputs {
		inputs[i], of[in.Input] = in.Input, i
	}
	x.progress.Step("reading again", progress.Bytes, x.result.Bytes)
	x.dates = behaviour.NoDays
	parsers := make([]*parser, x.cfg.Workers)
	err := batch.EachChunk(ctx, x.batch, inputs, x.progress, "parsing", func(i int) func(*batch.Input, []string, record.Chunk) error {
		p := &parser{
			reread: x, ctx: ctx, shard: x.sorter.Shard(i), texts: x.cfg.Job.Format.Texts(), first: x.to.Info().Dropped, dates: behaviour.NoDays, with: map[*place]bool{},
		}
		parsers[i] = p
		return func(in *batch.Input, header []string, c record.Chunk) error {
			if err := p.parse(of[in], header, c); err != nil {
				return err
			}
			breakpoint.Reach(breakpoint.Read)
			return nil
		}
	})
	if err != nil {
		return err
	}
	for _, p := range parsers {
		p.settle()
	}
	for _, in := range x.inputs {
		x.reads(in)
		if err := delivered.SameBytes(in.File.Input, in.SHA256(), in.loaded); err != nil {
			in.Fail(err)
		} else if err := in.unusable(x.cfg.Job); err != nil {
			in.Fail(err)
		}
	}
	return nil
}

// lenient returns the job. Columns of fields are optional, because files may be older than columns. The files have the bytes that were
// loaded, and only values of fields that are read again are added.
func (x *reread) lenient() *job.Job {
	j := *x.cfg.Job
	j.Format.Optional = true
	return &j
}

// A parser is a worker that parses chunks.
type parser struct {
	*reread
	ctx   context.Context
	shard *shuffle.Shard
	texts []string
	first *behaviour.Date // that was not dropped from the table
	dates behaviour.Span  // of the records
	with  map[*place]bool // the places that may get values

	at      int // index of in
	in      *input
	parser  *record.Parser // of in
	values  [][]byte
	row     []byte
	packed  []byte
	largest int // bytes of packed

	// Of the current chunk:
	chunk parsed
	again bulkload.Reread
}

// parse parses a chunk of the input with an index.
func (p *parser) parse(index int, header []string, c record.Chunk) error {
	in := p.inputs[index]
	if p.in != in {
		var err error
		if p.parser, err = record.NewParser(&p.batch.Job.Format, in.File.Input.File(), header); err != nil {
			in.Fail(delivered.Unfit(err))
			return nil
		}
		p.at, p.in = index, in
	}
	p.chunk, p.again = parsed{}, bulkload.Reread{}
	if err := p.parser.Parse(c, p); errors.Is(err, record.ErrLarge) {
		in.Fail(delivered.Unfit(err))
		return nil
	} else if err != nil {
		return fmt.Errorf("read %s again: %w", in.Path, err)
	}
	in.counts.add(&p.chunk, &p.again)
	return nil
}

// settle adds the dates and places of the parser to the reread. No other parser runs.
func (p *parser) settle() {
	p.reread.dates.Add(p.dates)
	p.reread.holds(p.largest)
	for at := range p.with {
		at.values = true
	}
}

// reads marks the places that can have records of in. They are read also if the file has no record there, because the job may read other
// users or dates than the job that loaded the file.
func (x *reread) reads(in *input) {
	span := x.cfg.Span
	if in.loaded.Dates != nil {
		span = *in.loaded.Dates
	}
	x.dates.Add(span)
	for _, places := range in.places {
		for _, at := range places {
			at.reads = at.reads || at.values || at.file.Name == "" || at.file.Span.Overlaps(span)
		}
	}
}

// skip counts a record that is not loaded.
func (p *parser) skip(why *int64) {
	p.chunk.read.Read++
	p.chunk.read.Skipped++
	*why++
}

// Keep implements record.Sink.
func (p *parser) Keep(r *behaviour.Record) error {
	skips := &p.chunk.read.Skips
	name, text := p.cfg.Job.Schema.Kinds[r.Kind].Name, p.text()
	part := p.in.Part
	switch {
	case r.Date.Before(p.first):
		p.skip(&skips.DroppedDays)
	case part.Has(r.Date, name, text):
		p.skip(&skips.LoadedBefore)
		return p.keep(r)
	case part.Span != nil && !part.Span.Has(r.Date):
		p.skip(skips.Outside(r.Date))
	default:
		p.skip(&skips.OtherTypes)
	}
	return nil
}

// text returns the text that names the behaviour of the current record, nil if the path names it.
func (p *parser) text() *string {
	if n := p.parser.Text(); n >= 0 {
		return &p.texts[n]
	}
	return nil
}

// keep adds a record with its values to the parts of the places that can have it.
func (p *parser) keep(r *behaviour.Record) error {
	offset := r.ID
	p.values = p.to.Remap(r, p.values)
	if !p.in.fields.some(r.Kind, r.Date) {
		return nil
	}
	if _, found := slices.BinarySearch(p.in.replayed, offset); found {
		p.again.Replayed++
		return nil
	}
	some := p.only(r)
	if some {
		p.chunk.values++
	} else {
		p.again.WithoutValue++
	}
	if offset > column.MaxOffset || p.to.Layout.Fits(p.to.Schema, r) != nil {
		return nil // the table cannot have it
	}
	r.ID = column.ID(p.in.Number, offset)
	p.row = p.to.Layout.AppendRow(p.row[:0], p.to.Schema, r)
	p.packed = appendValues(p.packed[:0], p.at, r)
	p.largest = max(p.largest, len(p.packed))
	if p.files == nil && some && r.Time < 0 {
		return fmt.Errorf("%w: record at byte %d: its time, %s, is before 1970, and HBase accepts no put of it: load the logs into a new table",
			bulkload.ErrRequest, offset, time.UnixMicro(r.Time).UTC().Format(time.DateTime))
	}
	for _, at := range p.in.places[p.points.Of(p.row)] {
		if !at.may(p.row, r.Date) {
			continue
		}
		if some {
			p.with[at] = true
		}
		p.dates.AddDay(r.Date)
		if err := p.shard.Add(p.ctx, at.part, p.row, uint64(r.ID), p.packed); err != nil {
			return err
		}
	}
	return nil
}

// only removes the values of all fields of r but those that are read on its date. It reports whether a value is left.
func (p *parser) only(r *behaviour.Record) bool {
	some := false
	p.values = append(p.values[:0], r.Values...) // the parser's values are not changed
	for i := range p.values {
		if !p.in.fields.has(r.Kind, i, r.Date) || p.in.begun && p.given(r, i) {
			p.values[i] = nil
		}
		some = some || p.values[i] != nil
	}
	r.Values = p.values
	return some
}

// given reports whether a reread that is in the table has read field i of the record.
func (p *parser) given(r *behaviour.Record, i int) bool {
	kind := &p.to.Schema.Kinds[r.Kind]
	return slices.ContainsFunc(p.in.given, func(in *manifest.Input) bool { return in.Gave(kind.Fields[i].Name, r.Date, kind.Name) })
}

// Skip implements record.Sink.
func (p *parser) Skip(s *record.Skipped) error {
	p.chunk.read.Read++
	p.chunk.read.Skipped++
	delivered.CountSkip(&p.chunk.read.Skips, s.Why)
	p.chunk.skip(s)
	return nil
}

// Reject implements record.Sink. Bad records are not in the table, or they are bad only for this job.
func (p *parser) Reject(r *record.Reject) error {
	p.skip(&p.chunk.read.Skips.LoadedBefore)
	p.chunk.reasons.Add(r.Reason, r.Line, r.Err.Error())
	p.again.Bad++
	return nil
}
