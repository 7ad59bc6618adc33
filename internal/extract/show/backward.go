package show

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/table"
	"usertrail/internal/trail"
)

// A backward reader reads the last events of a trail. It reads a few days at a time,
// beginning with the last. If the layout stores the latest events first, it reads only as
// many of them as it needs.
type backward struct {
	table table.Table
	asked *Asked
	batch trail.Batch

	wanted activity.Set // kinds that still need an event
	left   int          // number of events still to find
	found  []Behaviour  // latest first
	held   int          // bytes of the values that are held

	first, until int64       // the range of times, both included, that has not been examined
	seen         trail.Event // the last examined event
	days         int         // number of days of the next read
	whole        bool        // the next read covers all days, and is limited by newest
	newest       int         // number of newest events in the next read; 0 is all
	tied         bool        // the last read had only examined events, so there are more at their instant

	// From crowded on there are too many events to read all days together, so one read covers
	// at most step days.
	crowded behaviour.Date
	step    int
}

func newBackward(t table.Table, a *Asked) *backward {
	r := &backward{
		table: t, asked: a, wanted: activity.Of(a.Kinds...), left: a.Latest,
		days: 1, crowded: behaviour.MaxDate, seen: trail.Event{Time: math.MaxInt64},
	}
	r.first, r.until = a.Span.Micros(a.Zone)
	if a.At != nil {
		r.left, r.until = len(a.Kinds), min(r.until, *a.At)
	}
	if a.layout.Traits().Newest == layout.NotNewest {
		return r
	}
	r.whole = !ofFiles(t)
	r.newest = r.left
	if a.At != nil || len(a.Kinds) < len(a.Schema.Kinds) {
		r.newest = 16 + 4*r.left // events of other kinds are between them
	}
	r.newest = min(r.newest, goal)
	return r
}

// ofFiles reports whether t is a table of files. A table of files opens only the files
// of the days in the query. A server opens all files.
func ofFiles(t table.Table) bool {
	m := table.Known(t)
	return m != nil && m.Address == ""
}

// each calls emit with the last events, in order of time.
func (r *backward) each(ctx context.Context, emit func(*Behaviour) error) error {
	for !r.wanted.Empty() && r.until >= r.first {
		before := len(r.found)
		if err := r.look(ctx); err != nil {
			return err
		}
		if len(r.found) > before || r.wanted.Empty() || r.until < r.first {
			continue
		}
		if err := r.skip(ctx); err != nil {
			return err
		}
	}
	slices.Reverse(r.found)
	r.count()
	for i := range r.found {
		if err := emit(&r.found[i]); err != nil {
			return err
		}
	}
	return nil
}

// look reads the next days and adds the wanted events to found.
func (r *backward) look(ctx context.Context) error {
	for {
		span, times := r.window()
		before := len(r.found)
		err := r.read(ctx, span, times)
		many := errors.Is(err, errMany)
		switch {
		case many && r.newest > 1 && !r.tied:
			r.newest = max(1, r.newest/4)
			continue
		case many && r.newest > 0:
			return r.asked.tooLarge("events of one instant")
		case many && r.days > 1:
			r.days = max(1, r.days/4)
			r.crowded, r.step = span.From, r.days
			continue
		case many:
			err = r.lookParts(ctx, span, times)
		case err == nil:
			err = r.takeFrom(times)
		}
		if err != nil {
			return err
		}
		r.adjust(span, len(r.found)-before)
		return nil
	}
}

// window returns the days of the next read, and their range of times. If a clock is put back
// past midnight, the times of two days overlap. Such days are read together.
func (r *backward) window() (behaviour.Span, layout.Times) {
	to := latest(r.until, r.asked.Zone)
	from := r.asked.Span.From
	if !r.whole {
		from = max(from, to-behaviour.Date(r.days-1))
		r.days = int(to-from) + 1
	}
	t := layout.Times{First: max(r.first, from.Start(r.asked.Zone).UnixMicro()), Last: r.until}
	return behaviour.Span{
		From: max(r.asked.Span.From, earliest(t.First, r.asked.Zone)), To: min(r.asked.Span.To, to),
	}, t
}

// read fills the batch. It fails with errMany if the days hold far more events than needed,
// and a smaller read is possible.
func (r *backward) read(ctx context.Context, span behaviour.Span, times layout.Times) error {
	if r.newest > 0 {
		want := r.asked.want
		want.Span, want.Times, want.Newest = span, &times, r.newest
		l := limits{events: math.MaxInt, bytes: r.asked.budget.read}
		if r.tied || r.newest == 1 {
			l.bytes = r.asked.budget.most
		}
		return r.asked.read(ctx, r.table, &r.batch, want, r.asked.everything(), l)
	}
	want, l := r.want(span, times), limits{events: math.MaxInt, bytes: r.asked.budget.read}
	if r.days > 1 {
		l.events = 4*min(r.left, goal) + slack
	}
	return r.asked.read(ctx, r.table, &r.batch, want, want, l)
}

// want returns the part of some days and times that is read.
func (r *backward) want(span behaviour.Span, times layout.Times) layout.Want {
	want := r.asked.want
	want.Span, want.Times = span, &times
	want.Kinds = slices.DeleteFunc(slices.Clone(want.Kinds), func(k int) bool { return !r.wanted.Has(k) })
	return want
}

// everything returns a Want of all records, with the requested fields. A table that returns a
// number of newest records counts every record, requested or not.
func (a *Asked) everything() layout.Want {
	w := layout.Everyone(a.Schema, behaviour.AllDays)
	for _, k := range a.Kinds {
		for i := range w.Fields[k] {
			w.Fields[k][i] = a.want.Has(k, i)
		}
	}
	return w
}

// takeFrom adds the wanted events of the batch to found. The batch holds all events of the
// times, or the newest of them.
func (r *backward) takeFrom(t layout.Times) error {
	seen, n := r.seen, 0
	for i := range slices.Backward(r.batch.Events) {
		e := &r.batch.Events[i]
		if e.Time > t.Last || e.Time < t.First {
			continue
		}
		if n++; r.newest > 0 && n > r.newest {
			break // the table may have omitted other events before this one
		}
		if r.due(e, t) {
			if err := r.see(e); err != nil {
				return err
			}
		}
	}
	if r.newest == 0 || len(r.batch.Events) < r.newest {
		r.until = t.First - 1
		return nil
	}
	r.until = min(r.until, r.seen.Time)
	r.tied = r.seen == seen
	if r.newest *= 2; !r.tied {
		r.newest = min(r.newest, goal)
	}
	return nil
}

// due reports whether an event is between times and has not been examined.
func (r *backward) due(e *trail.Event, t layout.Times) bool {
	return t.First <= e.Time && e.Time <= t.Last && trail.Compare(e, &r.seen) < 0
}

// see examines an event of the batch, and adds it to found if it is wanted.
func (r *backward) see(e *trail.Event) error {
	r.seen = *e
	if r.wanted.Has(int(e.Kind)) && r.asked.Span.Has(behaviour.Date(e.Date)) {
		return r.take(e)
	}
	return nil
}

func (r *backward) take(e *trail.Event) error {
	b := Behaviour{Event: *e}
	for _, ref := range r.batch.Refs[e.Refs:][:len(r.asked.Schema.Kinds[e.Kind].Fields)] {
		v := r.batch.Value(ref)
		b.Values = append(b.Values, slices.Clone(v))
		r.held += len(v)
	}
	r.found = append(r.found, b)
	if r.asked.At != nil {
		r.wanted = r.wanted.Without(activity.Of(int(e.Kind)))
	}
	if r.left--; r.left == 0 {
		r.wanted = activity.Set{}
	}
	if r.held > r.asked.budget.most {
		return r.asked.tooLarge(r.asked.together(len(r.found)))
	}
	return nil
}

// together names n events that are held together.
func (a *Asked) together(n int) string {
	if a.Around != nil {
		return "the events around the time"
	}
	return "the last " + english.Plural(n, "event", "")
}

// adjust sets the number of days of the next read. taken is the number of events that were
// taken from the days of span.
func (r *backward) adjust(span behaviour.Span, taken int) {
	if r.newest > 0 && r.until >= r.first && latest(r.until, r.asked.Zone) >= span.From {
		return // these days have more events
	}
	need := 4 * r.days
	if taken > 0 && r.newest == 0 {
		need = min(need, (min(r.left, goal)*r.days+taken-1)/taken)
	}
	if span.From > r.crowded {
		need = min(need, r.step)
	}
	r.days = max(1, need)
}

// skip skips days on which the user has no wanted behaviour according to the rolls.
func (r *backward) skip(ctx context.Context) error {
	span := behaviour.Span{From: r.asked.Span.From, To: min(r.asked.Span.To, latest(r.until, r.asked.Zone))}
	s := rollsOf(ctx, r.table, r.asked, r.wanted)
	day, some, err := s.lastDay(span)
	switch {
	case err != nil:
		return fmt.Errorf("look for days with anything of the user: %w", err)
	case s.mute:
	case !some:
		r.until = r.first - 1
	default:
		r.until = min(r.until, day.End(r.asked.Zone).UnixMicro()-1)
		r.days = 1
	}
	return nil
}

// count sets for each found event how many events its day has, if this is known. The first
// days may have more events than were read.
func (r *backward) count() {
	if r.asked.At != nil || len(r.found) == 0 {
		return
	}
	ofDay, nth := map[int32]int{}, map[int32]int{}
	for i := range r.found {
		ofDay[r.found[i].Date]++
	}
	from := r.found[0].Time
	for i := range r.found {
		b := &r.found[i]
		if nth[b.Date]++; r.left > 0 || behaviour.Date(b.Date).Start(r.asked.Zone).UnixMicro() > from {
			b.Nth, b.OfDay = nth[b.Date], ofDay[b.Date]
		}
	}
}
