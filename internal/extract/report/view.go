package report

import "slices"

// Most returns the greatest count of a kind in one period, for its colour.
func (d Days) Most(kind int) int64 {
	var most int64
	for _, p := range d.Periods {
		most = max(most, p.Events[kind])
	}
	return most
}

// MostAfter returns the greatest count after one kind, for its colour. It ignores the rest,
// which may be more than all others.
func (r *Report) MostAfter(kind int) int64 {
	line := r.Follows.Counts[kind]
	if r.Rest() > 0 {
		line = line[:len(line)-1]
	}
	return slices.Max(line)
}

// Most returns the greatest count of the bins, for the lengths of bars.
func (l Lengths) Most() int64 {
	var most int64
	for _, b := range l.Bins {
		most = max(most, b.Users)
	}
	return most
}

// Most returns the greatest count of the bins, for the lengths of bars.
func (g Gap) Most() int64 {
	var most int64
	for _, b := range g.Bins {
		most = max(most, b.Users)
	}
	return most
}

// Empty reports whether the result has no events.
func (r *Report) Empty() bool { return r.Events == 0 }

// Levels returns the classes of colours, from the lightest to the darkest.
func (r *Report) Levels() []string {
	var all []string
	for i := range heatLevels {
		all = append(all, heat(int64(i+1), heatLevels))
	}
	return all
}

// Many reports whether tables have so many columns that these must be narrow.
func (r *Report) Many() bool { return len(r.Kinds) > 7 }

// Rest returns the number of behaviours that are summed up.
func (r *Report) Rest() int {
	if n := len(r.Kinds); n > 0 {
		return r.Kinds[n-1].Rest
	}
	return 0
}

// OneDay reports whether the query is for a single day.
func (a Asked) OneDay() bool { return a.Span.From == a.Span.To }

// Narrowed reports whether the page shows fewer days than the query has.
func (r *Report) Narrowed() bool { return r.Samples.Span != r.Asked.Span }

// Drawn returns the number of sample trails.
func (r *Report) Drawn() int64 { return int64(len(r.Samples.Trails)) }

// First returns the number of users that reached the first step.
func (s *Sequence) First() int64 { return s.Steps[0].Users }

// Before returns the number of users that reached the step before step i.
func (s *Sequence) Before(i int) int64 { return s.Steps[i-1].Users }

// Name returns the behaviour of a step, by its number from 1.
func (s *Sequence) Name(step int) string { return s.Steps[step-1].Behaviour }
