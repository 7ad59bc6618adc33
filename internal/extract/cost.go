package extract

import (
	"usertrail/internal/activity"
	"usertrail/internal/manifest"
	"usertrail/internal/trail"
)

// read is what was read of some users. It is the same whether they were screened or
// not, and adds up over the runs that it took to get to the end.
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

// measure counts what was read of a user, and how many cells of it judging takes. Rows
// are told apart by the date, which goes on with the time. One cell tells that a
// behaviour is there, the first field's or the marker, and one more of its microseconds.
func (s *sifter) measure(b *trail.Batch, events []trail.Event) (r read, judged int64) {
	kinds := s.q.info.Schema.Kinds
	var judges [][]bool
	if s.q.screen != nil {
		judges = s.q.screen.want.Fields
	}
	r.Behaviours = int64(len(events))
	var date int32
	var did activity.Set
	for i := range events {
		e := &events[i]
		if e.Date != date {
			r.Rows += int64(did.Len())
			date, did = e.Date, 0
		}
		did |= activity.Of(int(e.Kind))
		there := int64(1)
		if e.Time%1000 != 0 {
			there++
		}
		r.Cells += there
		judged += there
		for i, ref := range b.Refs[e.Refs : int(e.Refs)+len(kinds[e.Kind].Fields)] {
			if ref.End == 0 || i == 0 {
				continue
			}
			r.Cells++
			if judges != nil && judges[e.Kind][i] {
				judged++
			}
		}
	}
	r.Rows += int64(did.Len())
	return r, judged
}

// cost is what the question was estimated to take, and what it took.
func (f *facts) cost(outcome *counts) *manifest.Cost {
	p := f.Expected()
	r := &outcome.Read
	return &manifest.Cost{
		Estimate: manifest.Amount{Users: p.Users, Rows: p.Rows, Behaviours: p.Behaviours, Cells: p.Cells},
		Outcome:  manifest.Amount{Users: outcome.Active, Rows: r.Rows, Behaviours: r.Behaviours, Cells: r.Cells},
	}
}
