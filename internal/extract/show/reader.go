package show

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
	"usertrail/internal/trail"
)

const (
	// goal is the number of events that are read together if the page has no limit.
	goal = 16 << 10
	// slack is the number of extra events that a read of several days may return before fewer
	// days are read.
	slack = 1000
	// readBytes is the limit for the bytes of events of several days or instants that are
	// read together. partBytes is the limit for a part of a day. Both apply if there is
	// enough memory.
	readBytes = 32 << 20
	partBytes = 64 << 20
)

// errMany ends a read of days that hold far more events than needed.
var errMany = errors.New("too many events for days read together")

// A reader reads a trail a few days at a time.
type reader struct {
	table table.Table
	asked *Asked
	batch trail.Batch

	goal int
	days int          // number of days of the next read
	last *trail.Event // the last emitted event; nil before the first

	// Up to crowded there are too many events to read all days together, so one read covers at
	// most step days.
	crowded behaviour.Date
	step    int
}

// newReader returns a reader for pages of page events; 0 is all.
func newReader(t table.Table, a *Asked, page int) *reader {
	r := &reader{table: t, asked: a, goal: goal, days: 1, last: a.after, crowded: behaviour.MinDate}
	if page > 0 {
		r.goal = min(page, goal)
	}
	return r
}

// each calls emit with the events after r.last, in order.
func (r *reader) each(ctx context.Context, emit func(*Behaviour) error) error {
	if r.asked.byTime() {
		return r.eachByTime(ctx, emit)
	}
	next := r.asked.Span.From
	if r.last != nil {
		next = max(next, earliest(r.last.Time, r.asked.Zone))
	}
	for to := next - 1; to < r.asked.Span.To; {
		// If a day continues after the next day has begun, it is read again together with the
		// next day.
		span := behaviour.Span{From: next, To: min(max(next-1+behaviour.Date(r.days), to+1), r.asked.Span.To)}
		err := r.read(ctx, span, span.To > to+1)
		many := errors.Is(err, errMany)
		switch {
		case many && span.To > to+1:
			r.days = max(1, span.Days()/4)
			r.crowded, r.step = span.To, r.days
			continue
		case many:
			next, err = r.passParts(ctx, span, emit)
		case err == nil:
			next, err = r.pass(span, emit)
		}
		if err != nil {
			return err
		}
		to = span.To
		r.adjust(span)
	}
	return nil
}

// adjust sets the number of days of the next read from the number of events of the days of
// span.
func (r *reader) adjust(span behaviour.Span) {
	days := span.Days()
	need := 4 * days
	if n := len(r.batch.Events); n > 0 {
		need = min(need, (r.goal*days+n-1)/n)
	}
	if span.To < r.crowded {
		need = min(need, r.step)
	}
	r.days = max(1, need)
}

// read fills the batch with the trail of some days. It fails with errMany if they are too
// large. If less is set, fewer days are possible, and it also fails if they hold far more
// events than needed.
func (r *reader) read(ctx context.Context, span behaviour.Span, less bool) error {
	want, l := r.want(span), limits{events: math.MaxInt, bytes: r.asked.budget.read}
	if less {
		l.events = 4*r.goal + slack
	}
	return r.asked.read(ctx, r.table, &r.batch, want, want, l)
}

// want returns the part of some days that is read.
func (r *reader) want(span behaviour.Span) layout.Want {
	want := r.asked.want
	want.Span = span
	if r.asked.uncounted && r.last != nil {
		want.Times = &layout.Times{First: r.last.Time, Last: math.MaxInt64}
	}
	return want
}

// limits bound the events that are read together.
type limits struct {
	events, bytes int
	times         *layout.Times // only records between these times are decoded; nil is all
}

// read fills b with the events that match events, among the rows that match rows, in order.
// It fails with errMany if they exceed the limits.
func (a *Asked) read(ctx context.Context, t table.Table, b *trail.Batch, rows, events layout.Want, l limits) error {
	decoder := a.layout.Decoder(a.Schema, events)
	q, err := a.query(rows)
	if err != nil {
		return err
	}
	b.Reset()
	b.Most = l.bytes
	decoder.Into(b, func([]byte) (uint32, bool) { return 0, true })
	var foreign layout.Foreign
	first, last := int64(math.MinInt64), int64(math.MaxInt64)
	if l.times != nil {
		first, last = behaviour.Millis(l.times.First), behaviour.Millis(l.times.Last)
	}
	err = t.Read(ctx, q, func(c *cell.Cell) error {
		if c.Time < first || c.Time > last {
			return nil
		}
		if len(b.Events) > l.events {
			return errMany
		}
		return foreign.Skip(decoder.Add(c))
	})
	if err == nil {
		err = decoder.Flush()
	}
	if errors.Is(err, trail.ErrFull) {
		return fmt.Errorf("%w: %w", errMany, err)
	}
	if err == nil {
		b.Sort(1)
		a.foreign.Add(foreign)
	}
	return err
}

// query returns the query for the user's rows of the days and fields in w.
func (a *Asked) query(w layout.Want) (table.Query, error) {
	where, err := fetch.NewWhere(a.layout, a.Schema, w, fetch.Auto)
	if err != nil {
		return table.Query{}, err
	}
	return where.Query(slices.Values([][]byte{a.key})), nil
}

// pass emits the events of span that no event of a later day can precede. It returns the day
// from which to read next. If a clock is put back past midnight, a day continues after the
// next one has begun.
func (r *reader) pass(span behaviour.Span, emit func(*Behaviour) error) (behaviour.Date, error) {
	p := r.passing(span, r.batch.Events)
	for i := range r.batch.Events {
		if e := &r.batch.Events[i]; p.due(r, e) {
			if err := p.one(r, e, emit); err != nil {
				return p.next, err
			}
		}
	}
	return p.next, nil
}

// passing holds the state while the events of some days are emitted.
type passing struct {
	before     int64          // later days may have events from this time on
	next       behaviour.Date // the day from which to read next
	ofDay, nth map[int32]int  // the number of events of a day, and the number emitted before
	b          Behaviour
}

// passing counts the events of span, which are in order.
func (r *reader) passing(span behaviour.Span, events []trail.Event) *passing {
	p := &passing{before: math.MaxInt64, next: span.To + 1, ofDay: map[int32]int{}, nth: map[int32]int{}}
	if span.To < r.asked.Span.To {
		p.before = (span.To + 1).Start(r.asked.Zone).UnixMicro()
	}
	for i := range events {
		p.ofDay[events[i].Date]++
	}
	return p
}

// due reports whether an event must be emitted now. If it was emitted before, due counts it.
func (p *passing) due(r *reader, e *trail.Event) bool {
	switch {
	case r.last != nil && trail.Compare(e, r.last) <= 0:
		p.nth[e.Date]++
		return false
	case e.Time >= p.before:
		p.next = min(p.next, behaviour.Date(e.Date))
		return false
	}
	return true
}

// one emits an event of the batch.
func (p *passing) one(r *reader, e *trail.Event, emit func(*Behaviour) error) error {
	p.nth[e.Date]++
	p.b.Event = *e
	if !r.asked.uncounted {
		p.b.Nth, p.b.OfDay = p.nth[e.Date], p.ofDay[e.Date]
	}
	p.b.Values = r.values(p.b.Values[:0], e)
	if err := emit(&p.b); err != nil {
		return err
	}
	last := *e
	r.last = &last
	return nil
}
