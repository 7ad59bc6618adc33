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
	// goal is how many behaviours are read together where there is no end of them.
	goal = 16 << 10
	// slack is how many more than wanted may come of several days before fewer days
	// are read.
	slack = 1000
	// readBytes is how many bytes behaviours of several days or instants may take that are
	// read together, and partBytes those of a part of a day, where there is memory for it.
	readBytes = 32 << 20
	partBytes = 64 << 20
)

// errMany ends the reading of days that hold far more than is wanted.
var errMany = errors.New("too many behaviours for days read together")

// A reader reads a trail a few days at a time.
type reader struct {
	table table.Table
	asked *Asked
	batch trail.Batch

	goal int
	days int          // how many are read next
	last *trail.Event // the last behaviour that was passed on; nil before the first

	// Up to crowded there are too many behaviours to read them all together, so no
	// more than step days are.
	crowded behaviour.Date
	step    int
}

// newReader reads for pages of that many behaviours; 0 is all.
func newReader(t table.Table, a *Asked, page int) *reader {
	r := &reader{table: t, asked: a, goal: goal, days: 1, last: a.after, crowded: behaviour.MinDate}
	if page > 0 {
		r.goal = min(page, goal)
	}
	return r
}

// each passes the behaviours after r.last on, in order.
func (r *reader) each(ctx context.Context, emit func(*Behaviour) error) error {
	if r.asked.byTime() {
		return r.eachByTime(ctx, emit)
	}
	next := r.asked.Span.From
	if r.last != nil {
		next = max(next, earliest(r.last.Time, r.asked.Zone))
	}
	for to := next - 1; to < r.asked.Span.To; {
		// A day that goes on after the next has begun is read once more, with the next.
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
		r.pace(span)
	}
	return nil
}

// pace settles how many days are read after those of span, by how many behaviours
// these had.
func (r *reader) pace(span behaviour.Span) {
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

// read fills the batch with the trail of some days. It fails with errMany where they
// are too large; where less says that there could be fewer of them, also where they hold far
// more than is wanted.
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

// limits bound what is read together.
type limits struct {
	events, bytes int
	times         *layout.Times // between which records are looked at; nil is all
}

// read fills b with the behaviours that events asks for in what rows asks for, in order.
// It fails with errMany where they exceed the limits.
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

// query asks for the user's rows of the days and fields in w.
func (a *Asked) query(w layout.Want) (table.Query, error) {
	where, err := fetch.NewWhere(a.layout, a.Schema, w, fetch.Auto)
	if err != nil {
		return table.Query{}, err
	}
	return where.Query(slices.Values([][]byte{a.key})), nil
}

// pass passes on what was read of span, as far as no later day can come before it,
// and says from which day on to read next. Where a clock is put back past
// midnight, a day goes on after the next one has begun.
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

// passing holds the state of days that are being emitted.
type passing struct {
	before     int64          // later days can have what is not before it
	next       behaviour.Date // to be read from next
	ofDay, nth map[int32]int  // how many behaviours a day has, and had before
	b          Behaviour
}

// passing counts the behaviours of span, which are in order.
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

// due reports whether the next behaviour is to be passed on now. It is counted if it was before.
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

// one passes on a behaviour of the batch.
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
