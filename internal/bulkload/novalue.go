package bulkload

import (
	"log/slog"
	"maps"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
)

// A NoValue is a field of the job of which no record of some days has a value. Its column may have another name in the logs.
type NoValue struct {
	Behaviour string         `json:"behaviour"`
	Field     string         `json:"field"`
	Records   int64          `json:"records"` // of the behaviour on these days
	Dates     behaviour.Span `json:"dates"`   // includes the days
}

// addNoValue adds o to a list, which has one entry for each field of a behaviour.
func addNoValue(list []NoValue, o NoValue) []NoValue {
	i := slices.IndexFunc(list, func(n NoValue) bool { return n.Behaviour == o.Behaviour && n.Field == o.Field })
	if i < 0 {
		return append(list, o)
	}
	list[i].Records += o.Records
	list[i].Dates.Add(o.Dates)
	return list
}

// noValuesOf returns the fields without a value of the days of a load.
func noValuesOf(days []manifest.Day) (out []NoValue) {
	type key struct{ behaviour, field string }
	at := map[key]int{}
	for i := range days {
		d := &days[i]
		for _, field := range slices.Sorted(maps.Keys(d.NoValue.Fields())) {
			k, span := key{d.Behaviour, field}, behaviour.Span{From: d.Date, To: d.Date}
			n, ok := at[k]
			if !ok {
				n, at[k] = len(out), len(out)
				out = append(out, NoValue{Behaviour: d.Behaviour, Field: field, Dates: span})
			}
			out[n].Records += d.Records
			out[n].Dates.Add(span)
		}
	}
	return out
}

// NoValueAdvice is the next step for a NoValue.
const NoValueAdvice = "if the logs have values of the field, correct its column in the job, and read the files again with --reread"

// WarnNoValue logs the fields without a value.
func (r *Result) WarnNoValue(log *slog.Logger) {
	for i, n := range r.NoValue {
		if i == Shown {
			log.Warn("no record has a value of more fields of the job", "fields", len(r.NoValue)-i, "see", "fields_without_value of the last line")
			return
		}
		log.Warn("no record has a value of a field of the job", "behaviour", n.Behaviour, "field", n.Field, "records", n.Records, "dates", n.Dates.String(), "advice", NoValueAdvice)
	}
}
