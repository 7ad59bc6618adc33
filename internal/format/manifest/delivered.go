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
// in its path, the load has the days of its records. A replay of a file with a day in its path adds no day.
func (l *Load) Delivered() []DaysOf {
	days := map[string][]behaviour.Span{}
	for i := range l.Inputs {
		in := &l.Inputs[i]
		of := l.daysOf(in)
		for _, name := range in.behaviours() {
			days[name] = append(days[name], of...)
		}
	}
	if len(l.Inputs) == 0 {
		days[""] = l.daysOf(&Input{})
	}
	for name, spans := range days {
		days[name] = behaviour.Join(spans)
	}
	return GroupDays(days)
}

// daysOf returns the days that the load has by one of its files.
func (l *Load) daysOf(in *Input) (out []behaviour.Span) {
	switch {
	case in.CopyOf != "":
	case in.Dates != nil: // the day in the path, plus and minus the slack
		day := in.Dates.Middle()
		if in.Part.dates().Has(day) { // the day was not dropped before the load
			out = append(out, behaviour.Span{From: day, To: day})
		}
	case in.Days != nil:
		out = in.Days
	case in.Offsets == nil, in.Undated: // an older version wrote the ledger
		names := in.behaviours()
		for _, d := range l.Days {
			if slices.Contains(names, "") || slices.Contains(names, d.Behaviour) {
				out = append(out, behaviour.Span{From: d.Date, To: d.Date})
			}
		}
	}
	return out
}

// GroupDays joins the behaviours that have the same days. The behaviour "" is all behaviours. It leaves out behaviours
// without days, and never returns nil.
func GroupDays(spans map[string][]behaviour.Span) []DaysOf {
	out := []DaysOf{}
	at := map[string]int{} // by the text of the days
	for _, name := range slices.Sorted(maps.Keys(spans)) {
		if len(spans[name]) == 0 {
			continue
		}
		if name == "" {
			out = append(out, DaysOf{Days: spans[name]})
			continue
		}
		key := fmt.Sprint(spans[name])
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, DaysOf{Days: spans[name]})
		}
		out[i].Behaviours = append(out[i].Behaviours, name)
	}
	return out
}
