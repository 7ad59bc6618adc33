package report

import (
	"cmp"
	"slices"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
)

// sums are the counts of a pass over trails. The sums of two passes can be added.
type sums struct {
	names   map[string]int // number of each behaviour, in the order of the query
	kinds   []Kind
	users   int64
	events  int64
	days    days
	lengths lengths
	follows follows
	between between
	samples *samples
}

func newSums(s *source) *sums {
	types := s.m.Query.Types
	out := &sums{
		names: map[string]int{}, days: days{}, lengths: lengths{},
		follows: newFollows(len(types)), between: newBetween(len(s.m.Sequence)), samples: newSamples(s.span, s.zone),
	}
	for i, name := range types {
		out.names[name] = i
		out.kinds = append(out.kinds, Kind{Name: name})
	}
	return out
}

// trail holds the state of the trail that is being read.
type trail struct {
	events int64
	did    activity.Set
	last   int // kind
	sample *sample
}

// begin resets t for the next trail.
func (t *trail) begin(s *sums, user []byte) {
	*t = trail{last: -1, sample: s.samples.begin(user)}
}

// behaviour adds the next event of a trail; time is in microseconds.
func (s *sums) behaviour(t *trail, kind int, date behaviour.Date, time int64) {
	t.events++
	t.did.Add(kind)
	s.kinds[kind].Events++
	s.days.add(date, kind, len(s.kinds))
	if t.last >= 0 {
		s.follows[t.last][kind]++
	}
	t.last = kind
	if t.sample != nil {
		s.samples.mark(t.sample, kind, time)
	}
}

// end ends a trail.
func (s *sums) end(t *trail) {
	s.users++
	s.events += t.events
	s.lengths[t.events]++
	for k := range t.did.Kinds() {
		s.kinds[k].Users++
	}
	if t.sample != nil {
		s.samples.end(t.sample, t.events)
	}
}

// add adds o, which must not be used afterwards.
func (s *sums) add(o *sums) {
	s.users += o.users
	s.events += o.events
	for i := range s.kinds {
		s.kinds[i].Events += o.kinds[i].Events
		s.kinds[i].Users += o.kinds[i].Users
	}
	s.days.merge(o.days)
	s.lengths.merge(o.lengths)
	s.follows.merge(o.follows)
	s.between.merge(o.between)
	s.samples.merge(o.samples)
}

// MostKinds is the maximum number of behaviours in a table; the less
// frequent ones are summed up.
const MostKinds = 12

// shown returns the place of a behaviour in a report.
type shown struct {
	kinds []Kind
	at    []int // by number of the behaviour: its index in kinds
}

// choose selects the most frequent behaviours, in the order of the query, and sums up the
// rest.
func choose(types []string, all []Kind) shown {
	order := make([]int, len(types))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[b].Events, all[a].Events) })
	if len(order) > MostKinds {
		order = order[:MostKinds]
	}
	slices.Sort(order)
	s := shown{at: make([]int, len(types))}
	for i := range s.at {
		s.at[i] = len(order)
	}
	for i, k := range order {
		s.at[k] = i
		s.kinds = append(s.kinds, all[k])
	}
	if n := len(types) - len(order); n > 0 {
		rest := Kind{Name: restName, Rest: n}
		for i := range all {
			if s.at[i] == len(order) {
				rest.Events += all[i].Events
			}
		}
		s.kinds = append(s.kinds, rest)
	}
	return s
}

// restName is the name for the behaviours that are summed up. The name of a behaviour
// never has two words.
const restName = "the rest"

// fold adds counts by behaviour to counts by kind.
func (s *shown) fold(to, byBehaviour []int64) {
	for i, n := range byBehaviour {
		to[s.at[i]] += n
	}
}
