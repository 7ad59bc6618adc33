package extract

import (
	"usertrail/internal/format/manifest"
	"usertrail/internal/trail"
)

// read counts the data that was read of some users. Screening does not change the counts. The counts add up over all
// runs that the extract needed.
type read struct {
	Rows       int64 `json:"rows"`
	Behaviours int64 `json:"behaviours"`
	Cells      int64 `json:"cells"`
}

func (r *read) add(o *read) {
	r.Rows += o.Rows
	r.Behaviours += o.Behaviours
	r.Cells += o.Cells
}

// measure counts the rows, behaviours and cells that were read of a user, as the table's
// layout stores them. judged is the number of those cells that judging the user takes.
// Events that a server may skip are not counted, even if they were read to judge the user.
func (s *filter) measure(b *trail.Batch, events []trail.Event) (r read, judged int64) {
	f := &s.q.footprint
	var judges [][]bool
	if s.q.screen != nil {
		judges = s.q.screen.want.Fields
	}
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
			if judges != nil && judges[e.Kind][i] {
				judged++
			}
		}
	}
	return r, judged
}

// tested returns the user's events that pass the window's tests. The result is valid until the next call.
func (s *filter) tested(b *trail.Batch, events []trail.Event) []trail.Event {
	w := &s.q.window
	if w.where == nil {
		return events
	}
	s.passed = s.passed[:0]
	for i := range events {
		if w.passes(b, &events[i]) {
			s.passed = append(s.passed, events[i])
		}
	}
	return s.passed
}

// cost returns the estimated cost of the query and its actual cost.
func (f *facts) cost(outcome *counts) *manifest.Cost {
	p := f.Expected()
	r := &outcome.Read
	return &manifest.Cost{
		Estimate: manifest.Amount{Users: p.Users, Rows: p.Rows, Behaviours: p.Behaviours, Cells: p.Cells},
		Outcome:  manifest.Amount{Users: outcome.Active, Rows: r.Rows, Behaviours: r.Behaviours, Cells: r.Cells},
	}
}
