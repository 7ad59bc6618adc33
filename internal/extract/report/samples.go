package report

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/behaviour"
)

const (
	// SampleTrails is the number of sample trails.
	SampleTrails = 10
	// Positions is the number of positions of a time line. Marks of one kind at the same
	// position are drawn as one. A position is about six pixels wide on a desktop.
	Positions = 160
)

// samples holds the trails of the users with the smallest hashes. This spreads the sample
// over all users, whatever their order.
type samples struct {
	begins, ends int64     // ends of the time line, µs
	best         []*sample // by hash and user
}

// sample is a trail that may become a sample.
type sample struct {
	hash   uint64
	user   string
	events int64
	marks  map[place]int64
}

type place struct{ kind, position int }

func newSamples(span behaviour.Span, zone *time.Location) *samples {
	return &samples{begins: span.From.Start(zone).UnixMicro(), ends: span.To.End(zone).UnixMicro()}
}

// begin returns the sample for a user's trail, or nil if the trail will not be drawn.
func (s *samples) begin(user []byte) *sample {
	h := xxhash.Sum64(user)
	if len(s.best) == SampleTrails {
		last := s.best[len(s.best)-1]
		if h > last.hash || h == last.hash && string(user) > last.user {
			return nil
		}
	}
	return &sample{hash: h, user: string(user), marks: map[place]int64{}}
}

// mark adds an event to a trail; time is in microseconds.
func (s *samples) mark(to *sample, kind int, time int64) {
	at := int(float64(time-s.begins) / float64(s.ends-s.begins) * Positions)
	to.marks[place{kind, min(max(at, 0), Positions-1)}]++
}

// end adds a complete trail.
func (s *samples) end(t *sample, events int64) {
	t.events = events
	s.take(t)
}

func (s *samples) take(t *sample) {
	at, _ := slices.BinarySearchFunc(s.best, t, func(a, b *sample) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.user, b.user))
	})
	s.best = slices.Insert(s.best, at, t)
	s.best = s.best[:min(len(s.best), SampleTrails)]
}

func (s *samples) merge(o *samples) {
	for _, t := range o.best {
		s.take(t)
	}
}

// draw returns the trails in order of user.
func (s *samples) draw(span behaviour.Span, shown shown) Samples {
	out := Samples{Span: span, Positions: Positions, Trails: []Trail{}}
	for _, t := range s.best {
		folded := map[place]int64{}
		for p, n := range t.marks {
			folded[place{shown.at[p.kind], p.position}] += n
		}
		d := Trail{User: t.user, Events: t.events}
		for _, p := range slices.SortedFunc(maps.Keys(folded), func(a, b place) int {
			return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.position, b.position))
		}) {
			d.Marks = append(d.Marks, Mark{Kind: p.kind, Position: p.position, Events: folded[p]})
		}
		out.Trails = append(out.Trails, d)
	}
	slices.SortFunc(out.Trails, func(a, b Trail) int { return cmp.Compare(a.User, b.User) })
	return out
}
