package show

import (
	"context"
	"errors"
	"math"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/trail"
)

// byTime reports whether parts of days can be read separately: the layout can select times,
// and the number of events of a day is not needed.
func (a *Asked) byTime() bool {
	return a.uncounted && a.layout.Traits().Newest != layout.NotNewest
}

// eachByTime does the work of each if parts of days can be read.
func (r *reader) eachByTime(ctx context.Context, emit func(*Behaviour) error) error {
	a := r.asked
	from, until := a.Span.Micros(a.Zone)
	if r.last != nil {
		from = max(from, r.last.Time)
	}
	for length := (24 * time.Hour).Microseconds(); from <= until; {
		t := layout.Times{First: from, Last: until}
		if length < until-from {
			t.Last = from + length - 1
		}
		err := r.readTimes(ctx, t)
		if errors.Is(err, errMany) {
			length = max(1, (t.Last-t.First)/8)
			continue
		}
		if err != nil {
			return err
		}
		if err := r.passTimes(t, emit); err != nil {
			return err
		}
		from = t.Last + 1
		length = longer(length, len(r.batch.Events), r.goal)
	}
	return nil
}

// longer returns the length of the next stretch of time. The previous stretch had the given
// length and n events; the next one should have want.
func longer(length int64, n, want int) int64 {
	if n > want/4 {
		return max(1, int64(float64(length)*float64(want)/float64(n)))
	}
	return min(4*length, math.MaxInt64/8)
}

// readTimes fills the batch with the events between two times. It fails with errMany if they
// are too large or far more than needed, and a shorter time is possible.
func (r *reader) readTimes(ctx context.Context, t layout.Times) error {
	a := r.asked
	want := a.want
	want.Times, want.Span = &t, behaviour.Span{
		From: max(a.Span.From, earliest(t.First, a.Zone)), To: min(a.Span.To, latest(t.Last, a.Zone)),
	}
	if t.First < t.Last {
		return a.read(ctx, r.table, &r.batch, want, want, limits{4*r.goal + slack, a.budget.read, &t})
	}
	err := a.read(ctx, r.table, &r.batch, want, want, limits{math.MaxInt, a.budget.most, &t})
	if errors.Is(err, errMany) {
		err = a.tooLarge("events of one instant")
	}
	return err
}

// passTimes emits the events between two times.
func (r *reader) passTimes(t layout.Times, emit func(*Behaviour) error) error {
	var b Behaviour
	for i := range r.batch.Events {
		e := &r.batch.Events[i]
		if e.Time < t.First || e.Time > t.Last || r.last != nil && trail.Compare(e, r.last) <= 0 {
			continue
		}
		b.Event, b.Values = *e, r.values(b.Values[:0], e)
		if err := emit(&b); err != nil {
			return err
		}
	}
	return nil
}

// values appends the values of an event of the batch.
func (r *reader) values(dst [][]byte, e *trail.Event) [][]byte {
	for _, ref := range r.batch.Refs[e.Refs:][:len(r.asked.Schema.Kinds[e.Kind].Fields)] {
		dst = append(dst, r.batch.Value(ref))
	}
	return dst
}
