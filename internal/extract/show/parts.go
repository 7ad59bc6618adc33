package show

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dustin/go-humanize"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/table"
	"usertrail/internal/trail"
)

// Days of more than partBytes are read in parts. The first pass reads their events without
// values, which shows the times. The following passes each read the events of one stretch of
// time. Every pass visits the days' cells once.

// budget limits the bytes of events that are read together.
type budget struct {
	read int // of several days or instants, if fewer can be read
	part int // of a part of a day
	most int // of one instant, of the last events of a trail, and of the events around a time
	keys int // of all events of a day without their values; the slice of them may be held twice while it grows
}

func budgetOf(memory int64) budget {
	if memory <= 0 {
		memory = 1 << 30
	}
	return budget{read: int(min(readBytes, memory/8)), part: int(min(partBytes, memory/8)), most: int(min(memory/4, math.MaxInt32)), keys: int(min(memory/6, math.MaxInt32))}
}

// tooLarge returns the error for events that must be held together but do not fit.
func (a *Asked) tooLarge(what string) error {
	return fmt.Errorf("%w: user %q: %s take more than %s: raise --memory, ask for fewer --fields, or for an extract",
		ErrQuery, a.User, what, humanize.IBytes(uint64(a.budget.most)))
}

// timesTooLarge returns the error for a day of a user whose events have too many times. Their fields are not held.
func (a *Asked) timesTooLarge() error {
	return fmt.Errorf("%w: user %q: times of a day's events take more than %s: raise --memory, or ask for an extract",
		ErrQuery, a.User, humanize.IBytes(uint64(a.budget.keys)))
}

// keys reads the events of w without values, in order.
func (a *Asked) keys(ctx context.Context, t table.Table, w layout.Want) ([]trail.Event, error) {
	w.Fields = layout.Everyone(a.Schema, w.Span).Fields
	var b trail.Batch
	err := a.read(ctx, t, &b, w, w, limits{events: math.MaxInt, bytes: a.budget.keys})
	if errors.Is(err, errMany) {
		err = a.timesTooLarge()
	}
	return b.Events, err
}

// readPart fills b with the events of w between the first and the last of keys. It fails with
// errMany if fewer keys should be tried.
func (a *Asked) readPart(ctx context.Context, t table.Table, b *trail.Batch, w layout.Want, keys []trail.Event) error {
	times := layout.Times{First: keys[0].Time, Last: keys[len(keys)-1].Time}
	w.Times = &times
	if times.First < times.Last {
		return a.read(ctx, t, b, w, w, limits{math.MaxInt, a.budget.part, &times})
	}
	err := a.read(ctx, t, b, w, w, limits{math.MaxInt, a.budget.most, &times})
	if errors.Is(err, errMany) {
		err = a.tooLarge("events of one instant")
	}
	return err
}

// passParts does the work of pass for days that are read in parts.
func (r *reader) passParts(ctx context.Context, span behaviour.Span, emit func(*Behaviour) error) (behaviour.Date, error) {
	want := r.want(span)
	keys, err := r.asked.keys(ctx, r.table, want)
	if err != nil {
		return 0, err
	}
	p := r.passing(span, keys)
	keys = slices.DeleteFunc(keys, func(e trail.Event) bool { return !p.due(r, &e) })
	for part := r.goal + 1; len(keys) > 0; {
		n := instantEnd(keys, min(part, len(keys)))
		err := r.asked.readPart(ctx, r.table, &r.batch, want, keys[:n])
		if errors.Is(err, errMany) {
			part = max(1, min(part, len(keys))/2)
			continue
		}
		if err != nil {
			return 0, err
		}
		first, last := keys[0].Time, keys[n-1].Time
		for i := range r.batch.Events {
			if e := &r.batch.Events[i]; first <= e.Time && e.Time <= last && (r.last == nil || trail.Compare(e, r.last) > 0) {
				if err := p.one(r, e, emit); err != nil {
					return p.next, err
				}
			}
		}
		keys, part = keys[n:], min(2*n, r.goal+1)
	}
	return p.next, nil
}

// instantEnd returns the smallest number of keys, at least n, that ends with a whole instant.
func instantEnd(keys []trail.Event, n int) int {
	for n < len(keys) && keys[n].Time == keys[n-1].Time {
		n++
	}
	return n
}

// instantStart returns the index, at most n, of the first key with the same instant as the
// key at n.
func instantStart(keys []trail.Event, n int) int {
	for n > 0 && keys[n].Time == keys[n-1].Time {
		n--
	}
	return n
}

// lookParts adds the wanted events of a day to found. It reads the day in parts, the last part
// first.
func (r *backward) lookParts(ctx context.Context, span behaviour.Span, times layout.Times) error {
	want := r.want(span, times)
	keys, err := r.asked.keys(ctx, r.table, want)
	if err != nil {
		return err
	}
	keys = slices.DeleteFunc(keys, func(e trail.Event) bool { return !r.due(&e, times) })
	for part := min(r.left, goal); len(keys) > 0 && !r.wanted.Empty(); {
		from := instantStart(keys, len(keys)-min(part, len(keys)))
		err := r.asked.readPart(ctx, r.table, &r.batch, want, keys[from:])
		if errors.Is(err, errMany) {
			part = max(1, min(part, len(keys))/2)
			continue
		}
		if err != nil {
			return err
		}
		read := layout.Times{First: keys[from].Time, Last: keys[len(keys)-1].Time}
		for i := range slices.Backward(r.batch.Events) {
			if e := &r.batch.Events[i]; r.due(e, read) {
				if err := r.see(e); err != nil {
					return err
				}
			}
		}
		keys = keys[:from]
	}
	r.until = times.First - 1
	return nil
}
