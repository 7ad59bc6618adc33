package report

import "slices"

// Most is the greatest number of a kind in one period, for its colour.
func (d Days) Most(kind int) int64 {
	var most int64
	for _, p := range d.Periods {
		most = max(most, p.Events[kind])
	}
	return most
}

// MostAfter is the greatest number after one kind, for its colour; the rest does
// not count, since it may be more than all others.
func (r *Report) MostAfter(kind int) int64 {
	line := r.Follows.Counts[kind]
	if r.Rest() > 0 {
		line = line[:len(line)-1]
	}
	return slices.Max(line)
}

// Most is the greatest of the bins, for the lengths of bars.
func (l Lengths) Most() int64 {
	var most int64
	for _, b := range l.Bins {
		most = max(most, b.Users)
	}
	return most
}

// Most is the greatest of the bins, for the lengths of bars.
func (g Gap) Most() int64 {
	var most int64
	for _, b := range g.Bins {
		most = max(most, b.Users)
	}
	return most
}

// Empty reports whether nothing at all came out.
func (r *Report) Empty() bool { return r.Events == 0 }

// Levels are the classes of colours, from the lightest on.
func (r *Report) Levels() []string {
	var all []string
	for i := range heatLevels {
		all = append(all, heat(int64(i+1), heatLevels))
	}
	return all
}

// Many reports whether tables have so many columns that these must be narrow.
func (r *Report) Many() bool { return len(r.Kinds) > 7 }

// Rest is how many behaviours are summed up.
func (r *Report) Rest() int {
	if n := len(r.Kinds); n > 0 {
		return r.Kinds[n-1].Rest
	}
	return 0
}

// OneDay reports whether a single day was asked for.
func (a Asked) OneDay() bool { return a.Span.From == a.Span.To }

// Narrowed reports whether fewer days are shown than were asked for.
func (r *Report) Narrowed() bool { return r.Samples.Span != r.Asked.Span }

// Drawn is how many sample trails there are.
func (r *Report) Drawn() int64 { return int64(len(r.Samples.Trails)) }

// First is how many users came to the first step.
func (s *Sequence) First() int64 { return s.Steps[0].Users }

// Before is how many users came to the step before one.
func (s *Sequence) Before(i int) int64 { return s.Steps[i-1].Users }

// Name is the behaviour of a step, by its number from 1.
func (s *Sequence) Name(step int) string { return s.Steps[step-1].Behaviour }
