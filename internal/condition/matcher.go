package condition

import (
	"time"

	"usertrail/internal/trail"
)

// A Matcher looks for a sequence in one trail after the other. Of all matches it
// finds the one that ends first, and of those the one whose earlier steps come
// last, the last of them counting most. For each step it holds the times of one
// chain, whatever the length of the trail.
//
// That is enough: a step is bound only to the one before it, so of the chains
// that have come to a step the one that came last can go on whenever another can.
type Matcher struct {
	steps  []Step
	within []int64   // by step, microseconds; -1: however long
	byKind [][]int   // steps of each kind, the last first
	chains [][]int64 // by step, when the steps up to it were taken, microseconds; empty: not yet
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

// Add takes the trail's next behaviour. After a match it does nothing.
func (m *Matcher) Add(ev *trail.Event) {
	if m.far == len(m.steps) {
		return
	}
	// From the last step to the first: a behaviour is one step only, and must not
	// find itself as the step before.
	for _, step := range m.byKind[ev.Kind] {
		m.take(step, ev.Time)
	}
}

// take lets a behaviour be a step, where a chain has come to the step before it
// in time.
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

// Reached is how many steps, from the first, the trail has gone through in order:
// all of them if it matches.
func (m *Matcher) Reached() int { return m.far }

// Times are when each step of the match was taken, in microseconds since
// 1970-01-01 UTC, or nil if there is none. They are valid until Begin.
func (m *Matcher) Times() []int64 {
	if m.far < len(m.steps) {
		return nil
	}
	return m.chains[len(m.steps)-1]
}
