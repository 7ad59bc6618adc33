package extract

import (
	"cmp"
	"maps"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/trail"
	"usertrail/internal/trailfile"
)

// A leaf is what of a part lies in one file.
type leaf struct {
	dir    string // below the answer's; none where it is not partitioned
	users  int64
	events int64
	picks  []pick // the behaviours, in order; nil is all of the part's
}

// A pick is a behaviour of a part: which user's, and which of that user's.
type pick struct{ user, event int32 }

// leaves cuts the sorted users of a part into files. A value of the column that
// partitions has a file in every part that has rows with it.
func (w *partWriter) leaves(p *part) []leaf {
	if w.q.output.Partition == "" {
		return []leaf{{users: int64(len(p.users)), events: p.events}}
	}
	value := func(e *trail.Event) int32 { return e.Date }
	name := func(v int32) string { return behaviour.Date(v).String() }
	if w.q.output.Partition == trailfile.BehaviourColumn {
		index, names := w.q.indexes(), w.q.names()
		value = func(e *trail.Event) int32 { return int32(index[e.Kind]) }
		name = func(v int32) string { return names[v] }
	}
	all := map[int32]*leaf{}
	for i := range w.users {
		for j, events := 0, w.users[i].events(); j < len(events); j++ {
			v := value(&events[j])
			l := all[v]
			if l == nil {
				l = &leaf{dir: w.q.output.Partition + "=" + name(v)}
				all[v] = l
			}
			if n := len(l.picks); n == 0 || l.picks[n-1].user != int32(i) {
				l.users++
			}
			l.events++
			l.picks = append(l.picks, pick{int32(i), int32(j)})
		}
	}
	var out []leaf
	for _, v := range slices.SortedFunc(maps.Keys(all), cmp.Compare[int32]) {
		out = append(out, *all[v])
	}
	return out
}
