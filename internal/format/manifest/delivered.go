package manifest

import (
	"fmt"
	"maps"
	"slices"

	"usertrail/internal/behaviour"
)

// A DaysOf has days of some behaviours.
type DaysOf struct {
	Behaviours []string         `json:"behaviours,omitempty"` // in order; none are all behaviours
	Days       []behaviour.Span `json:"days"`                 // in order
}

// Of reports whether d has days of a behaviour.
func (d *DaysOf) Of(behaviour string) bool {
	return len(d.Behaviours) == 0 || slices.Contains(d.Behaviours, behaviour)
}

// Delivered returns the days that the load has of each behaviour. It never returns nil. A load has the days in the paths
// of its delivered files, also if a file had no records, of the behaviours that it took from the file. A file that is only a copy of
// a file of another day has no day of its own: see Input.CopyOf. If a file has no day
// in its path, the load has the days of its records: see Input.Days. A replay of a file with a day in its path adds no day.
func (l *Load) Delivered() []DaysOf {
	inputs := l.Inputs
	if len(inputs) == 0 {
		inputs = []Input{{}} // the load has the days of its records
	}
	days := map[string][]behaviour.Span{}
	joined := map[string]int{} // number of spans after the last join
	for i := range inputs {
		in := &inputs[i]
		for _, of := range l.daysOf(in) {
			names := of.Behaviours
			if len(names) == 0 {
				names = in.behaviours()
			}
			for _, name := range names {
				had := days[name]
				if slices.Equal(of.Days, had[max(0, len(had)-len(of.Days)):]) { // many files have the same days
					continue
				}
				if had = append(had, of.Days...); len(had) > max(2*joined[name], leastJoined) {
					had = behaviour.Join(had)
					joined[name] = len(had)
				}
				days[name] = had
			}
		}
	}
	return GroupDays(days)
}

// leastJoined is the number of spans of a behaviour from which on Delivered joins them.
const leastJoined = 64

// daysOf returns the days that the load has by one of its files. Without behaviours they are days of all behaviours of the file.
func (l *Load) daysOf(in *Input) []DaysOf {
	var days []behaviour.Span
	switch {
	case in.CopyOf != "":
	case in.Dates != nil: // the day in the path, plus and minus the slack
		day := in.Dates.Middle()
		if in.Part.Dates().Has(day) { // the day was not dropped before the load
			days = append(days, behaviour.Span{From: day, To: day})
		}
	case in.Days != nil:
		return in.Days
	case in.Offsets == nil, in.Undated: // an older version wrote the ledger
		names := in.behaviours()
		for _, d := range l.Days {
			if slices.Contains(names, "") || slices.Contains(names, d.Behaviour) {
				days = append(days, behaviour.Span{From: d.Date, To: d.Date})
			}
		}
	}
	return []DaysOf{{Days: days}}
}

// GroupDays joins the days of each behaviour as behaviour.Join does, and then the behaviours that have the same days. The
// behaviour "" is all behaviours. It leaves out behaviours without days, and never returns nil.
func GroupDays(spans map[string][]behaviour.Span) []DaysOf {
	out := []DaysOf{}
	at := map[string]int{} // by the text of the days
	for _, name := range slices.Sorted(maps.Keys(spans)) {
		days := slices.Clone(behaviour.Join(spans[name])) // the spans may have much more memory
		if len(days) == 0 {
			continue
		}
		if name == "" {
			out = append(out, DaysOf{Days: days})
			continue
		}
		key := fmt.Sprint(days)
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, DaysOf{Days: days})
		}
		out[i].Behaviours = append(out[i].Behaviours, name)
	}
	return out
}
