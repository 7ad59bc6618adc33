package condition

import (
	"time"

	"usertrail/internal/trail"
)

// A Matcher searches for a sequence in one trail after the other. It finds the match that ends first. If
// several matches end there, it chooses the match whose earlier steps are latest, and compares the last
// step first. For each step it holds the times of one chain, whatever the length of the trail.
//
// One chain for each step is enough: a step depends only on the step before it. If any
// chain that has reached a step can continue, the chain that reached it last can continue
// too.
type Matcher struct {
	steps  []Step
	within []int64   // by step, microseconds; -1: however long
	byKind [][]int   // steps of each kind, the last first
	chains [][]int64 // by step, the times of the chain that reached it, in microseconds; empty: not yet
	far    int       // steps that some chain has taken
}

// Matcher returns a matcher for one goroutine.
func (q *Sequence) Matcher() *Matcher {
	m := &Matcher{steps: q.steps, byKind: make([][]int, len(q.schema.Kinds))}
	for i := range q.steps {
		within := int64(-1)
		if d := q.steps[i].Within; d > 0 {
			within = int64(d / time.Microsecond)
		}
		m.within = append(m.within, within)
		m.chains = append(m.chains, make([]int64, 0, i+1))
	}
	for i := len(q.steps) - 1; i >= 0; i-- {
		kind := q.steps[i].Kind
		m.byKind[kind] = append(m.byKind[kind], i)
	}
	return m
}

// Begin begins a trail.
func (m *Matcher) Begin() {
	m.far = 0
	for i := range m.chains {
		m.chains[i] = m.chains[i][:0]
	}
}

// Add adds the trail's next event. After a match it does nothing.
func (m *Matcher) Add(ev *trail.Event) {
	if m.far == len(m.steps) {
		return
	}
	// From the last step to the first, because an event can be only one step of a chain. It
	// must not find itself as the step before.
	for _, step := range m.byKind[ev.Kind] {
		m.take(step, ev.Time)
	}
}

// take adds an event as a step, if a chain has reached the previous step in time.
func (m *Matcher) take(step int, at int64) {
	chain := m.chains[step][:0]
	if step > 0 {
		before := m.chains[step-1]
		if len(before) == 0 || m.within[step] >= 0 && at-before[step-1] > m.within[step] {
			return
		}
		chain = append(chain, before...)
	}
	m.chains[step] = append(chain, at)
	m.far = max(m.far, step+1)
}

// Reached returns the number of steps, from the first, that the trail has taken in order:
// all steps if it matches.
func (m *Matcher) Reached() int { return m.far }

// Times returns the time of each step of the match, in microseconds since
// 1970-01-01 UTC, or nil if there is no match. The slice is valid until Begin.
func (m *Matcher) Times() []int64 {
	if m.far < len(m.steps) {
		return nil
	}
	return m.chains[len(m.steps)-1]
}
