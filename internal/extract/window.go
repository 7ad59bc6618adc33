package extract

import (
	"slices"
	"sort"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/table/fetch"
	"usertrail/internal/trail"
)

// A window is how much of a user's trail can matter, where it is known without the trail
// whether the user is found, and active. The rest is not read then.
type window struct {
	times  *layout.Times      // nil is all of the span
	newest int                // the last so many behaviours; 0 is all
	where  [][]behaviour.Test // by kind; nil is all
}

// windowOf finds out how much of a trail q looks at.
//
//	--hours      bounds all that is kept, and so all that is judged by what is kept
//	--where      does too, as far as a server can tell by the bytes of single fields
//	--at         bounds what comes out, but not what judges users before
//	--latest     bounds what comes out, where nothing of a trail is left out before, neither
//	             by --hours nor by --at
//	--context    brings back what was left out: nothing is bounded
func (q *question) windowOf() (w window, err error) {
	c := &q.asked
	if c.Context > 0 {
		return w, nil
	}
	if w.times, err = q.times(); err != nil {
		return w, err
	}
	w.where = q.tests()
	judged := q.where != nil || q.having != nil || q.steps != nil
	everything := len(q.kinds) == len(q.info.Schema.Kinds) && !q.hours.some && c.At == nil
	if !judged && everything && q.info.Layout.Traits().Newest != layout.NotNewest {
		w.newest = c.Latest
	}
	return w, nil
}

// times are those that --hours and --at leave of the span, nil if that is all of it.
func (q *question) times() (*layout.Times, error) {
	c := &q.asked
	at := c.At != nil && q.having == nil && q.steps == nil && !c.WhereFirst
	if !q.hours.some && !at {
		return nil, nil
	}
	all, err := layout.TimesOf(q.span, nil, q.info.Schema)
	if err != nil {
		return nil, err
	}
	t := all
	if q.hours.some {
		t = q.hours.within(t)
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
func (q *question) tests() [][]behaviour.Test {
	if q.where == nil || !q.info.Narrow || !q.info.Layout.Traits().OneRecord {
		return nil
	}
	var out [][]behaviour.Test
	for _, k := range q.want.Kinds {
		if !q.where.Kinds().Has(k) {
			continue
		}
		tests := q.where.Tests(k)
		if tests == nil {
			return nil
		}
		if out == nil {
			out = make([][]behaviour.Test, len(q.info.Schema.Kinds))
		}
		out[k] = tests
	}
	return out
}

// of returns want, limited to the window.
func (w *window) of(want layout.Want) layout.Want {
	want.Times, want.Newest, want.Where = w.times, w.newest, w.where
	return want
}

func (w *window) isAll() bool { return w.times == nil && w.newest == 0 && w.where == nil }

// Rows in order of time take a scan for each user to read the newest alone, where one scan
// reads some hundreds of users whole.
const (
	scansAtOnce = 16  // of a batch, that take no longer than one
	cellsInScan = 256 // that a scan passes over in the time of another call, taken for 0.15 ms
)

// pays says whether reading a batch's window alone takes less than reading all.
func (q *question) pays(p *fetch.Batch) bool {
	scans := q.info.Narrow && q.window.newest > 0 && q.info.Layout.Traits().Newest == layout.NewestRows
	users := int64(p.Keys.Len())
	return !scans || users <= scansAtOnce || p.Records == 0 || p.Records > users*cellsInScan
}

// cut returns where in a user's trail, which is in order of time, the window begins and
// ends.
func (w *window) cut(events []trail.Event) (from, to int) {
	to = len(events)
	if t := w.times; t != nil {
		from = sort.Search(to, func(i int) bool { return events[i].Time >= t.First })
		to = max(from, sort.Search(to, func(i int) bool { return events[i].Time > t.Last }))
	}
	if w.newest > 0 {
		from = max(from, to-w.newest)
	}
	return from, to
}

// passes says whether a behaviour of b passes w's tests, which there are.
func (w *window) passes(b *trail.Batch, e *trail.Event) bool {
	tests := w.where[e.Kind]
	for i := range tests {
		if !tests[i].Passes(b.Value(b.Refs[int(e.Refs)+tests[i].Field])) {
			return false
		}
	}
	return tests != nil
}

// within narrows times to the first and the last moment of h in them. Where there is
// none, First comes after Last.
func (h *hours) within(t layout.Times) layout.Times {
	for t.First <= t.Last && !h.has(t.First) {
		t.First = h.after(t.First)
	}
	for t.First <= t.Last && !h.has(t.Last) {
		t.Last = h.before(t.Last)
	}
	return t
}

// after is when the local hour of a time is over, or another offset holds.
func (h *hours) after(micros int64) int64 {
	at := time.UnixMicro(micros).In(h.zone)
	next := at.Add(time.Hour - intoHour(at)).UnixMicro()
	if _, end := at.ZoneBounds(); !end.IsZero() {
		next = min(next, end.UnixMicro())
	}
	return next
}

// before is the last moment before the local hour of a time began, or its offset held.
func (h *hours) before(micros int64) int64 {
	at := time.UnixMicro(micros).In(h.zone)
	began := at.Add(-intoHour(at)).UnixMicro()
	if start, _ := at.ZoneBounds(); !start.IsZero() {
		began = max(began, start.UnixMicro())
	}
	return began - 1
}

func intoHour(at time.Time) time.Duration {
	return time.Duration(at.Minute())*time.Minute + time.Duration(at.Second())*time.Second + time.Duration(at.Nanosecond())
}

// absent adds the active users of whom the window has no event. users is in order. batch is
// the number of users in the batch, all of whom are active.
func absent(users []judged, batch int) []judged {
	out := make([]judged, 0, batch)
	for i := range batch {
		at, there := slices.BinarySearchFunc(users, i, func(u judged, i int) int { return u.user - i })
		if there {
			out = append(out, users[at])
		} else {
			out = append(out, judged{user: i, active: true})
		}
	}
	return out
}
