package judge

import (
	"unsafe"

	"usertrail/internal/behaviour"
	"usertrail/internal/trail"
)

// shrink counts the bytes of the events of the result. If they take less than half of the
// memory of the trails, shrink copies them. A part holds its users' trails until it is
// written. With --latest 1 a part may have many thousands of users with one event each.
func shrink(schema *behaviour.Schema, s *Batch) error {
	b := s.Trails.Batch
	events, refs, data := 0, 0, 1
	for i := range s.Users {
		u := &s.Users[i]
		for j := u.From; j < u.To; j++ {
			events++
			for _, ref := range refsOf(schema, b, &b.Events[j]) {
				refs++
				u.Bytes += int(ref.Len)
			}
		}
		data += u.Bytes
	}
	if 2*int64(size(events, refs, data)) > b.Size() {
		return nil
	}
	few := &trail.Batch{Events: make([]trail.Event, 0, events), Refs: make([]trail.Ref, 0, refs), Data: make([]byte, 1, data)}
	for i := range s.Users {
		u := &s.Users[i]
		from := len(few.Events)
		for j := u.From; j < u.To; j++ {
			if err := copyEvent(schema, few, b, &b.Events[j]); err != nil {
				return err
			}
		}
		u.From, u.To = from, len(few.Events)
	}
	s.Trails.Swap(few)
	return nil
}

// copyEvent copies an event with its values.
func copyEvent(schema *behaviour.Schema, to, from *trail.Batch, e *trail.Event) (err error) {
	c := *e
	refs := refsOf(schema, from, e)
	if c.Refs, err = to.Nulls(len(refs)); err != nil {
		return err
	}
	for i, ref := range refs {
		if v := from.Value(ref); v != nil {
			if to.Refs[int(c.Refs)+i], err = to.Put(v); err != nil {
				return err
			}
		}
	}
	to.Events = append(to.Events, c)
	return nil
}

// refsOf returns the references of the values of an event.
func refsOf(schema *behaviour.Schema, b *trail.Batch, e *trail.Event) []trail.Ref {
	return b.Refs[e.Refs:][:len(schema.Kinds[e.Kind].Fields)]
}

// size returns the number of bytes of a batch.
func size(events, refs, data int) int {
	return events*int(unsafe.Sizeof(trail.Event{})) + refs*int(unsafe.Sizeof(trail.Ref{})) + data
}
