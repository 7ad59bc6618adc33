package extract

import (
	"unsafe"

	"usertrail/internal/trail"
)

// shrink counts the bytes of the events that come out. If they take less than half of the
// memory that was read into, it copies them. A part holds its users' trails until it is
// written. With --latest 1 a part may have many thousands of users with one event each.
func (q *question) shrink(s *filtered) error {
	b := s.trails.Batch
	events, refs, data := 0, 0, 1
	for i := range s.users {
		u := &s.users[i]
		for j := u.from; j < u.to; j++ {
			events++
			for _, ref := range q.refs(b, &b.Events[j]) {
				refs++
				u.bytes += int(ref.Len)
			}
		}
		data += u.bytes
	}
	if 2*int64(size(events, refs, data)) > b.Size() {
		return nil
	}
	few := &trail.Batch{Events: make([]trail.Event, 0, events), Refs: make([]trail.Ref, 0, refs), Data: make([]byte, 1, data)}
	for i := range s.users {
		u := &s.users[i]
		from := len(few.Events)
		for j := u.from; j < u.to; j++ {
			if err := q.copyEvent(few, b, &b.Events[j]); err != nil {
				return err
			}
		}
		u.from, u.to = from, len(few.Events)
	}
	s.trails.Swap(few)
	return nil
}

// copyEvent copies an event with its values.
func (q *question) copyEvent(to, from *trail.Batch, e *trail.Event) (err error) {
	c := *e
	refs := q.refs(from, e)
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

// refs are those of an event's values.
func (q *question) refs(b *trail.Batch, e *trail.Event) []trail.Ref {
	return b.Refs[e.Refs:][:len(q.info.Schema.Kinds[e.Kind].Fields)]
}

// size is how many bytes a batch takes.
func size(events, refs, data int) int {
	return events*int(unsafe.Sizeof(trail.Event{})) + refs*int(unsafe.Sizeof(trail.Ref{})) + data
}
