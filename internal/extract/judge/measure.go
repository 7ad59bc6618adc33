package judge

import "usertrail/internal/trail"

// measure counts the rows, behaviours and cells that were read of a user, as the table's layout
// stores them. judged is the number of cells that are needed to judge the user. measure does
// not count events that a server may skip, even if they were read to judge the user.
func (s *filter) measure(b *trail.Batch, events []trail.Event) (r Read, judged int64) {
	f := &s.layout
	events = s.tested(b, events)
	r.Rows, r.Behaviours = f.Rows(events), int64(len(events))
	for i := range events {
		e := &events[i]
		there := int64(1)
		if f.Micros && e.Time%1000 != 0 {
			there++
		}
		r.Cells += there
		judged += there
		own := f.Own[e.Kind]
		for i, ref := range b.Refs[e.Refs:][:len(own)] {
			if ref.End == 0 || !own[i] {
				continue
			}
			r.Cells++
			if s.screen != nil && s.screen[e.Kind][i] {
				judged++
			}
		}
	}
	return r, judged
}

// tested returns the user's events that pass the window's tests. The result is valid until the next call.
func (s *filter) tested(b *trail.Batch, events []trail.Event) []trail.Event {
	w := &s.q.Window
	if w.Where == nil {
		return events
	}
	s.passed = s.passed[:0]
	for i := range events {
		if w.Passes(b, &events[i]) {
			s.passed = append(s.passed, events[i])
		}
	}
	return s.passed
}
