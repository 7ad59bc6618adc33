package batch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/quarantine"
	"usertrail/internal/bulkload/target"
	"usertrail/internal/column"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/run/progress"
	"usertrail/internal/split"
	"usertrail/internal/table/shuffle"
)

// read reads every file of the batch into the sorter.
func (b *Batch) read(ctx context.Context) error {
	for _, in := range b.inputs {
		in.bad = b.owner.Quarantine(ctx, in) // its file outlives the workers
	}
	records := b.progress.Counter("records")
	parsers := make([]*parser, b.cfg.Workers)
	err := newReader(b.cfg, b.progress).feed(ctx, b.inputs, "parsing", func(ctx context.Context, i int) func(task) error {
		p := &parser{
			lines: newLines(b.cfg), ctx: ctx, sorter: partition{b.sorter.Shard(i), b.points, b.part(0)}, records: records, dates: behaviour.NoDays,
		}
		parsers[i] = p
		return func(t task) error {
			if err := p.parse(t); err != nil {
				return err
			}
			breakpoint.Reach(breakpoint.Read)
			return nil
		}
	})
	for _, p := range parsers {
		if p != nil {
			b.dates.Add(p.dates)
			if b.cfg.SkipColumns != nil {
				b.cfg.SkipColumns.Merge(&p.skipped)
			}
		}
	}
	return err
}

// lines has the state of a worker that parses lines: the current file, and the mapping of its records to
// the table.
type lines struct {
	job    *job.Job
	to     *target.Table
	first  *behaviour.Date // that was not dropped from the table
	texts  texts
	in     *Input
	parser *record.Parser // of in
	row    []byte
	values [][]byte
}

func newLines(cfg *Config) lines {
	return lines{job: cfg.Job, to: cfg.To, first: cfg.To.Info().Dropped, texts: cfg.Job.Format.Texts()}
}

// texts are the texts that name behaviours, by number.
type texts []string

// of returns the text with a number, nil for -1.
func (t texts) of(number int) *string {
	if number < 0 {
		return nil
	}
	return &t[number]
}

// open makes the parser of t's file the current one.
func (l *lines) open(t task) (err error) {
	if l.in == t.in {
		return nil
	}
	format := &l.job.Format
	if len(t.in.marks) > 0 {
		marked := *format
		marked.Marks = t.in.marks
		format = &marked
	}
	if l.parser, err = record.NewParser(format, t.in.Input.File(), t.header); err == nil {
		l.in = t.in
		if t.in.corrected == nil {
			l.parser.FindHeaders(t.header, t.in.Only == nil || t.in.Only.From == 0)
		}
	}
	return err
}

// unwanted returns the counter in skips of the reason why a record is skipped: the load did not request it, or
// the table has it. It returns nil if the record must be loaded. marks has a bit for each of the input's marks
// that holds for r.
func (l *lines) unwanted(r *behaviour.Record, marks uint64, skips *manifest.Skips) *int64 {
	if r.Date.Before(l.first) {
		return &skips.DroppedDays
	}
	if l.in.Part == nil && !l.in.Again() {
		return nil
	}
	name, text := l.job.Schema.Kinds[r.Kind].Name, l.text()
	switch {
	case l.in.Part.Has(r.Date, name, text):
	case l.in.Part.Span != nil && !l.in.Part.Span.Has(r.Date):
		return skips.Outside(r.Date)
	default:
		return &skips.OtherTypes
	}
	for _, c := range l.in.Covered {
		if c.Has(r.Date, name, text) {
			return &skips.LoadedBefore
		}
	}
	for _, c := range l.in.Partly {
		if !l.in.marked(c.Skip, marks) && c.Part.Has(r.Date, name, text) {
			return &skips.LoadedBefore
		}
	}
	return nil
}

// text returns the text that names the behaviour of the current record, nil if the path names it.
func (l *lines) text() *string { return l.texts.of(l.parser.Text()) }

// place sets the column ID of r, and replaces its kind and fields by the table's.
func (l *lines) place(r *behaviour.Record) {
	r.ID = column.ID(l.in.Number, r.ID)
	l.values = l.to.Remap(r, l.values)
}

// sorts reports whether records of a kind of the table go through the sorter. For HFiles all records do.
// For puts these are the records that may be duplicates, and corrected records, which are in no file.
func (l *lines) sorts(kind int) bool {
	return l.to.Putter == nil || l.in.corrected != nil || l.to.Unique[kind].Asked()
}

// A partition passes records to a shard of the sorter.
type partition struct {
	shard  *shuffle.Shard
	points split.Points
	first  int // part of the first region
}

// add adds a record by its row.
func (p *partition) add(ctx context.Context, row []byte, id int64, packed []byte) error {
	return p.shard.Add(ctx, p.first+p.points.Of(row), row, uint64(id), packed)
}

// A parser is a worker of the first pass: it turns chunks into records in its shard.
type parser struct {
	lines
	ctx     context.Context
	sorter  partition
	records *progress.Counter
	dates   behaviour.Span // of the records kept
	days    map[dayOf]bool // of the good records that the load requests
	day     dayOf          // the last one that was added to days
	outside dateSet        // of the good records of other dates than the load's
	skipped record.SkipColumns

	// Of the current chunk:
	counts  manifest.Counts
	others  manifest.Unmapped
	rejects []quarantine.Record
	begins  int64 // the offset of the corrected record
	line    int64 // the line of its text in the quarantine file
	settled bool  // a text of the corrected record was good
	packed  []byte
}

// parse parses one chunk, and adds its counts to the file.
func (p *parser) parse(t task) error {
	if err := p.open(t); err != nil {
		t.in.Fail(t.in.unfit(err))
		return t.in.bad.Add(t.number, nil)
	}
	p.counts, p.others, p.rejects, p.days, p.outside = manifest.Counts{}, manifest.Unmapped{}, nil, nil, dateSet{}
	var err error
	if t.in.corrected == nil {
		err = p.parser.Parse(t.chunk, p)
	} else {
		err = p.texts(t)
	}
	if errors.Is(err, record.ErrLarge) || errors.Is(err, record.ErrHeader) {
		t.in.Fail(t.in.unfit(err))
		return t.in.bad.Add(t.number, nil)
	}
	if err != nil {
		return fmt.Errorf("load %s: %w", t.in.Path, err)
	}
	p.skipped.Add(p.parser)
	p.in.count(p.counts)
	p.in.addDays(p.days, &p.outside)
	p.in.countOthers(&p.others)
	p.records.Add(p.counts.Read)
	return p.in.bad.Add(t.number, p.rejects)
}

// texts parses the texts of one corrected record. The first good text is the record. The other texts are
// then duplicates, whether they are bad or equal to it.
func (p *parser) texts(t task) error {
	defer func() { p.settled = false }()
	var sum manifest.Counts
	var rejects []quarantine.Record
	var good []byte
	for i, c := range append([]record.Chunk{t.chunk}, t.again...) {
		if len(c.Data) == 0 {
			continue // the record was replayed before
		}
		p.counts, p.rejects, p.begins, p.line = manifest.Counts{}, nil, c.Offset, t.lines[i]
		if err := p.parser.Parse(c, p); err != nil {
			return err
		}
		if p.counts.Read != 1 { // a second record would have the column ID of another record
			p.refuse("the corrected text has %d records: write one record into \"raw\"", p.counts.Read)
		}
		sum.Add(p.counts)
		rejects = append(rejects, p.rejects...)
		switch {
		case p.counts.Quarantined > 0:
		case !p.settled:
			p.settled, good = true, c.Data
			t.in.settles(c.Offset, bytes.TrimSuffix(c.Data, []byte("\n")))
		case !bytes.Equal(c.Data, good):
			p.refuse("two corrected texts of its record differ: keep one")
		}
	}
	p.counts, p.rejects = sum, rejects
	if p.settled {
		p.counts.Duplicate, p.counts.Quarantined, p.rejects = sum.Duplicate+sum.Quarantined, 0, nil
	}
	return nil
}

// addDay adds the day of a record. The day of a corrected record counts for its behaviour, if a load requested
// the record.
func (p *parser) addDay(r *behaviour.Record) {
	day := dayOf{date: r.Date}
	if p.in.corrected != nil {
		day.behaviour = p.job.Schema.Kinds[r.Kind].Name
		if !p.in.corrected.Asked(r.Date, day.behaviour, p.text()) {
			return
		}
	}
	switch {
	case p.days == nil:
		p.days = map[dayOf]bool{}
	case p.day == day:
		return
	}
	p.days[day], p.day = true, day
}

// refuse fails the file because of the text of a corrected record.
func (p *parser) refuse(format string, args ...any) {
	p.in.Fail(fmt.Errorf("%w: %s:%d: %s", bulkload.ErrRequest, p.in.corrected.From(), p.line, fmt.Sprintf(format, args...)))
}

// checkPlace fails the file if the text of a corrected record has the record at another offset than the delivered file:
// it would have another column ID.
func (p *parser) checkPlace(offset int64) {
	if p.in.corrected != nil && offset != p.begins && p.counts.Read == 1 {
		p.refuse("the corrected text begins with an empty line: remove it from \"raw\"")
	}
}

// Keep implements record.Sink.
func (p *parser) Keep(r *behaviour.Record) error {
	p.counts.Read++
	p.checkPlace(r.ID)
	if p.settled {
		p.counts.Duplicate++
		return nil
	}
	marks := p.parser.Marks()
	if count := p.unwanted(r, marks, &p.counts.Skips); count != nil {
		p.counts.Skipped++
		*count++
		switch count {
		case &p.counts.Skips.LoadedBefore:
			p.addDay(r)
		case &p.counts.Skips.OutsideDates:
			p.outside.add(r.Date)
		}
		return nil
	}
	if p.in.corrected != nil && p.in.corrected.Brought(r.ID, r.Date, p.job.Schema.Kinds[r.Kind].Name, p.text()) {
		p.counts.Duplicate++
		p.in.brings(r.ID)
		return nil
	}
	p.counts.Loaded++
	p.addDay(r)
	at := r.ID
	if at > column.MaxOffset {
		p.in.Fail(fmt.Errorf("%s has more than %d bytes of text: split it into smaller files", p.in.Path, int64(column.MaxOffset)))
		return nil
	}
	p.place(r)
	if err := p.to.Layout.Fits(p.to.Schema, r); err != nil {
		return fmt.Errorf("%w: record at byte %d: %w", bulkload.ErrRequest, at, err)
	}
	if p.to.Putter != nil && r.Time < 0 {
		return fmt.Errorf("%w: record at byte %d: its time, %s, is before 1970, and HBase accepts no put of it: load with --mode hfile, or give time the key earliest: 1970-01-01 in the job",
			bulkload.ErrRequest, at, time.UnixMicro(r.Time).UTC().Format(time.DateTime))
	}
	p.dates.AddDay(r.Date)
	if p.to.Putter != nil {
		if err := p.addToRoll(r); err != nil {
			return err
		}
	}
	if !p.sorts(r.Kind) {
		return nil
	}
	p.row = p.to.Layout.AppendRow(p.row[:0], p.to.Schema, r)
	p.packed = appendPacked(p.packed[:0], p.in.index, about{p.parser.Text(), marks}, r)
	return p.sorter.add(p.ctx, p.row, r.ID, p.packed)
}

// Skip implements record.Sink.
func (p *parser) Skip(s *record.Skipped) error {
	p.counts.Read++
	p.counts.Skipped++
	delivered.CountSkip(&p.counts.Skips, s.Why)
	if s.Why == record.UnknownKind {
		p.others.Add(s.Kind, 1)
	}
	return nil
}

// Reject implements record.Sink.
func (p *parser) Reject(r *record.Reject) error {
	p.counts.Read++
	p.checkPlace(r.Offset)
	p.counts.Quarantined++
	p.rejects = append(p.rejects, quarantine.NewRecord(p.in.Rel, r))
	return nil
}
