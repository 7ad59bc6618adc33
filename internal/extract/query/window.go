package query

import (
	"sort"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/trail"
)

// A Window is the part of a user's trail that a query needs, if it is known without the
// trail whether the user is found and active. The zero value is the whole trail.
type Window struct {
	Times  *layout.Times      // nil means all of the span
	Newest int                // the last so many events; 0 means all
	Where  [][]behaviour.Test // by kind; nil means all events
}

// window returns the part of a trail that q needs.
//
//	--hours      bounds the events that are kept, and so the events that judge users
//	--where      does the same, if a server can test single fields by their bytes
//	--at         bounds the events of the result, but not the events that judge users
//	--latest     bounds the events of the result, if neither --hours nor --at removes
//	             events of a trail before
//	--context    adds events that were removed: the window is the whole trail
func (q *Query) window() (w Window, err error) {
	c := &q.Conditions
	if c.Context > 0 {
		return w, nil
	}
	if w.Times, err = q.times(); err != nil {
		return w, err
	}
	w.Where = q.tests()
	judged := q.Where != nil || q.Having != nil || q.Sequence != nil
	everything := len(q.Kinds) == len(q.Info.Schema.Kinds) && !q.Hours.some && c.At == nil
	if !judged && everything && q.Info.Layout.Traits().Newest != layout.NotNewest {
		w.Newest = c.Latest
	}
	return w, nil
}

// times returns the times of the span that --hours and --at keep, or nil if they keep the whole
// span.
func (q *Query) times() (*layout.Times, error) {
	c := &q.Conditions
	at := c.At != nil && q.Having == nil && q.Sequence == nil && !c.WhereFirst
	if !q.Hours.some && !at {
		return nil, nil
	}
	all, err := layout.TimesOf(q.Span, nil, q.Info.Schema)
	if err != nil {
		return nil, err
	}
	t := all
	if q.Hours.some {
		t = q.Hours.within(t)
	}
	if at {
		t.Last = min(t.Last, *c.At)
	}
	if t == all {
		return nil, nil
	}
	return &t, nil
}

// tests returns the tests that --where makes on the fields of each kind. It returns nil if
// the servers cannot apply them, or if --where keeps a kind without testing its fields.
func (q *Query) tests() [][]behaviour.Test {
	if q.Where == nil || !q.Info.Narrow || !q.Info.Layout.Traits().OneRecord {
		return nil
	}
	var out [][]behaviour.Test
	for _, k := range q.Want.Kinds {
		if !q.Where.Kinds().Has(k) {
			continue
		}
		tests := q.Where.Tests(k)
		if tests == nil {
			return nil
		}
		if out == nil {
			out = make([][]behaviour.Test, len(q.Info.Schema.Kinds))
		}
		out[k] = tests
	}
	return out
}

// Of returns want, limited to the window.
func (w *Window) Of(want layout.Want) layout.Want {
	want.Times, want.Newest, want.Where = w.Times, w.Newest, w.Where
	return want
}

// IsAll reports whether w is the whole trail.
func (w *Window) IsAll() bool { return w.Times == nil && w.Newest == 0 && w.Where == nil }

// Cut returns the bounds of the window in a user's trail, which is in order of time: its first
// event, and the event after its last.
func (w *Window) Cut(events []trail.Event) (from, to int) {
	to = len(events)
	if t := w.Times; t != nil {
		from = sort.Search(to, func(i int) bool { return events[i].Time >= t.First })
		to = max(from, sort.Search(to, func(i int) bool { return events[i].Time > t.Last }))
	}
	if w.Newest > 0 {
		from = max(from, to-w.Newest)
	}
	return from, to
}

// Passes reports whether an event of b passes the tests of w. Where is not nil.
func (w *Window) Passes(b *trail.Batch, e *trail.Event) bool {
	tests := w.Where[e.Kind]
	for i := range tests {
		if !tests[i].Passes(b.Value(b.Refs[int(e.Refs)+tests[i].Field])) {
			return false
		}
	}
	return tests != nil
}
