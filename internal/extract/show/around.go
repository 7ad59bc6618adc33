package show

import (
	"context"
	"math"
	"slices"

	"usertrail/internal/table"
	"usertrail/internal/trail"
)

// around calls emit with page events before and from the time a.Around on, if the trail has so many. At
// most half of them are before the time, unless fewer events follow. The events of their days are not
// counted.
func around(ctx context.Context, t table.Table, a *Asked, page int, emit func(*Behaviour) error) error {
	asked := *a
	asked.uncounted = true
	defer func() { a.foreign = asked.foreign }()
	asked.after = &trail.Event{Time: *a.Around - 1, Kind: math.MaxUint16, ID: math.MaxInt64}
	later := following{asked: &asked, most: page - page/2}
	err := newReader(t, &asked, later.most).each(ctx, later.add)
	more := err == errFull
	if err != nil && !more {
		return err
	}
	if asked.Latest = page - len(later.found); asked.Latest > 0 {
		before := newBackward(t, &asked)
		before.until, before.held = min(before.until, *a.Around-1), later.held
		uncounted := func(b *Behaviour) error {
			b.Nth, b.OfDay = 0, 0
			return emit(b)
		}
		if err := before.each(ctx, uncounted); err != nil {
			return err
		}
	}
	for i := range later.found {
		if err := emit(&later.found[i]); err != nil {
			return err
		}
	}
	if !more {
		return nil
	}
	asked.after = &later.found[len(later.found)-1].Event
	return newReader(t, &asked, page).each(ctx, emit)
}

// following holds the first events after a time.
type following struct {
	asked *Asked
	most  int // number of events to hold
	found []Behaviour
	held  int // bytes of their values
}

// add holds a copy of b. If it is the last one to hold, add returns errFull.
func (f *following) add(b *Behaviour) error {
	kept := *b
	kept.Values = nil
	for _, v := range b.Values {
		kept.Values = append(kept.Values, slices.Clone(v))
		f.held += len(v)
	}
	f.found = append(f.found, kept)
	if f.held > f.asked.budget.most {
		return f.asked.tooLarge(f.asked.together(len(f.found)))
	}
	if len(f.found) == f.most {
		return errFull
	}
	return nil
}
