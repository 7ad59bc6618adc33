package show

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dustin/go-humanize"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/fetch"
	"usertrail/internal/layout"
	"usertrail/internal/table"
	"usertrail/internal/trail"
)

const (
	// goal is how many behaviours are read together where there is no end of them.
	goal = 16 << 10
	// slack is how many more than wanted may come of several days before fewer days
	// are read.
	slack = 1000
	// readBytes is how many bytes behaviours of several days or instants may take that are
	// read together, and mostBytes those of one.
	readBytes = 32 << 20
	mostBytes = 1 << 30
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
		if errors.Is(err, errMany) {
			r.days = max(1, span.Days()/4)
			r.crowded, r.step = span.To, r.days
			continue
		}
		if err != nil {
			return err
		}
		if next, err = r.pass(span, emit); err != nil {
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
// hold far more than is wanted, and there could be less of them.
func (r *reader) read(ctx context.Context, span behaviour.Span, less bool) error {
	want := r.asked.want
	want.Span = span
	if r.asked.uncounted && r.last != nil {
		want.Times = &layout.Times{First: r.last.Time, Last: math.MaxInt64}
	}
	most := math.MaxInt
	if less {
		most = 4*r.goal + slack
	}
	return r.asked.read(ctx, r.table, &r.batch, want, want, most)
}

// read fills b with the behaviours that events asks for in what rows asks for, in order.
// It fails with errMany where they are more than most, or larger than readBytes. If most
// is math.MaxInt, they cannot be fewer.
func (a *Asked) read(ctx context.Context, t table.Table, b *trail.Batch, rows, events layout.Want, most int) error {
	decoder := a.layout.Decoder(a.Schema, events)
	q, err := a.query(rows)
	if err != nil {
		return err
	}
	b.Reset()
	if b.Most = mostBytes; most < math.MaxInt {
		b.Most = readBytes
	}
	decoder.Into(b, func([]byte) (uint32, bool) { return 0, true })
	err = t.Read(ctx, q, func(c *cell.Cell) error {
		if len(b.Events) > most {
			return errMany
		}
		return decoder.Add(c)
	})
	if err == nil {
		err = decoder.Flush()
	}
	switch {
	case errors.Is(err, trail.ErrFull) && most < math.MaxInt:
		return errMany
	case errors.Is(err, trail.ErrFull):
		return fmt.Errorf("%w: behaviours of user %q that are read together take more than %s: ask for fewer --fields, or for an extract: %w",
			ErrQuestion, a.User, humanize.IBytes(mostBytes), err)
	case err != nil:
		return err
	}
	b.Sort(1)
	return nil
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
	before := int64(math.MaxInt64)
	if span.To < r.asked.Span.To {
		before = (span.To + 1).Start(r.asked.Zone).UnixMicro()
	}
	next := span.To + 1
	ofDay, nth := map[int32]int{}, map[int32]int{}
	for i := range r.batch.Events {
		ofDay[r.batch.Events[i].Date]++
	}
	b := Behaviour{}
	for i := range r.batch.Events {
		e := &r.batch.Events[i]
		nth[e.Date]++
		switch {
		case r.last != nil && trail.Compare(e, r.last) <= 0:
			continue
		case e.Time >= before:
			next = min(next, behaviour.Date(e.Date))
			continue
		}
		b.Event = *e
		if !r.asked.uncounted {
			b.Nth, b.OfDay = nth[e.Date], ofDay[e.Date]
		}
		b.Values = r.values(b.Values[:0], e)
		if err := emit(&b); err != nil {
			return next, err
		}
		last := *e
		r.last = &last
	}
	return next, nil
}
