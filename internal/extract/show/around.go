package show

import (
	"context"
	"math"

	"usertrail/internal/table"
	"usertrail/internal/trail"
)

// around calls emit with the last events before the time a.Around, at most half of page, and then with
// the events from that time on. The events of their days are not counted.
func around(ctx context.Context, t table.Table, a *Asked, page int, emit func(*Behaviour) error) error {
	uncounted := func(b *Behaviour) error {
		b.Nth, b.OfDay = 0, 0
		return emit(b)
	}
	asked := *a
	asked.uncounted = true
	defer func() { a.foreign = asked.foreign }()
	if asked.Latest = page / 2; asked.Latest > 0 {
		before := newBackward(t, &asked)
		before.until = min(before.until, *a.Around-1)
		if err := before.each(ctx, uncounted); err != nil {
			return err
		}
	}
	asked.Latest = 0
	asked.after = &trail.Event{Time: *a.Around - 1, Kind: math.MaxUint16, ID: math.MaxInt64}
	return newReader(t, &asked, page).each(ctx, uncounted)
}
