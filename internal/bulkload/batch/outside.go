package batch

import (
	"maps"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
)

// mostDates is the largest number of dates that a dateSet keeps.
const mostDates = 4096

// A dateSet has the dates of the records of a file that are outside the dates of a load.
type dateSet struct {
	dates map[behaviour.Date]bool
	last  behaviour.Date // that was added
	many  bool           // there are more than mostDates
}

func (s *dateSet) add(d behaviour.Date) {
	if s.many || s.dates != nil && d == s.last {
		return
	}
	if s.dates == nil {
		s.dates = map[behaviour.Date]bool{}
	}
	s.dates[d], s.last = true, d
	if len(s.dates) > mostDates {
		s.dates, s.many = nil, true
	}
}

func (s *dateSet) merge(o *dateSet) {
	for d := range o.dates {
		s.add(d)
	}
	if o.many {
		s.dates, s.many = nil, true
	}
}

// spans returns the dates for the ledger. It returns nil if there are none, or too many.
func (s *dateSet) spans() []behaviour.Span {
	if len(s.dates) == 0 {
		return nil
	}
	return manifest.OutsideOf(behaviour.SpansOf(slices.Collect(maps.Keys(s.dates))))
}
