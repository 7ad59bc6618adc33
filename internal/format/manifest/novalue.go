package manifest

import (
	"fmt"

	"usertrail/internal/behaviour"
)

// A NoValue has the fields of a behaviour of which no record of some days has a value. Each field has a digest of the settings
// by which the job of the load read it.
type NoValue struct {
	Behaviour string            `json:"behaviour"`
	Fields    map[string]string `json:"fields"`
	Days      []behaviour.Span  `json:"days"` // in order
}

// A DayFields has fields of a behaviour on a day, each with its digest.
type DayFields struct {
	Date      behaviour.Date
	Behaviour string
	Fields    map[string]string
}

// GroupNoValue groups days of the same fields. The days come in order of the behaviours, and then of the dates. Days without fields are
// left out.
func GroupNoValue(days []DayFields) (out []NoValue) {
	var dates [][]behaviour.Date // of out
	at := map[string]int{}
	for _, d := range days {
		if len(d.Fields) == 0 {
			continue
		}
		key := fmt.Sprintf("%q %q", d.Behaviour, d.Fields) // package fmt sorts the fields
		i, ok := at[key]
		if !ok {
			i, at[key] = len(out), len(out)
			out, dates = append(out, NoValue{Behaviour: d.Behaviour, Fields: d.Fields}), append(dates, nil)
		}
		dates[i] = append(dates[i], d.Date)
	}
	for i := range out {
		out[i].Days = behaviour.SpansOf(dates[i])
	}
	return out
}

// FieldsWithoutValue returns the NoValue of each of some days of a load by its date and behaviour. Days with a value of each field are
// not among them.
func FieldsWithoutValue(days []Day, none []NoValue) map[DayOf]*NoValue {
	of := map[string][]*NoValue{}
	for i := range none {
		of[none[i].Behaviour] = append(of[none[i].Behaviour], &none[i])
	}
	out := map[DayOf]*NoValue{}
	for i := range days {
		d := &days[i]
		for _, n := range of[d.Behaviour] {
			if d.Records > 0 && n.Has(d.Date) {
				out[DayOf{d.Date, d.Behaviour}] = n
			}
		}
	}
	return out
}

// A DayOf is a day of a behaviour.
type DayOf struct {
	Date      behaviour.Date
	Behaviour string
}

// Has reports whether d is one of the days.
func (n *NoValue) Has(d behaviour.Date) bool {
	for _, s := range n.Days {
		if s.Has(d) {
			return true
		}
	}
	return false
}
