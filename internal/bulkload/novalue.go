package bulkload

import (
	"cmp"
	"log/slog"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
)

// A NoValue is a field of the job without a value, as NoValues reports it. Its column may have another name in the logs.
type NoValue struct {
	Behaviour string         `json:"behaviour"`
	Field     string         `json:"field"`
	Records   int64          `json:"records"` // of the behaviour on these days
	Dates     behaviour.Span `json:"dates"`   // includes the days
}

// NoValues finds the fields to report of the loads of a run. A field is one of them if no record of its behaviour and a day has a
// value, except in these cases:
//
//   - Another behaviour of the day has a value of the same column: a job may have the same fields for all behaviours of a log.
//   - The day has few records, compared with another day of the behaviour: they are late.
type NoValues struct {
	job *job.Job
	by  func(name, field string) string // by which settings the job reads a field

	days    map[dayOfKind]int32 // indexes of sets: the fields without a value of each day with records
	sets    []fieldSet          // each once
	numbers map[fieldSet]int32  // the indexes of sets
	records map[dayOfKind]int64 // of days with such fields
	most    map[int32]int64     // the records of the largest day of a kind
}

// A dayOfKind is a day of a kind of the job. A run may have hundreds of thousands of them.
type dayOfKind struct {
	kind int32
	date behaviour.Date
}

// A fieldSet has a bit for each field of a kind of the job. A run may have a set for each day.
type fieldSet string

// has reports whether s has field i.
func (s fieldSet) has(i int) bool { return s[i/8]&(1<<(i%8)) != 0 }

// A fieldOf is a field of a behaviour.
type fieldOf struct{ behaviour, field string }

// NewNoValues returns the NoValues of a job.
func NewNoValues(j *job.Job) *NoValues {
	return &NoValues{
		job: j, by: j.FieldsBy(), days: map[dayOfKind]int32{}, numbers: map[fieldSet]int32{}, records: map[dayOfKind]int64{}, most: map[int32]int64{},
	}
}

// add adds a load of the run. A field of a day has no value if it has none in any load.
func (n *NoValues) add(of *manifest.Load) {
	none := of.NoValue.Of(of.Days)
	for _, d := range of.Days {
		kind, ok := n.job.Schema.Kind(d.Behaviour)
		if d.Records == 0 || !ok {
			continue
		}
		set := n.setOf(kind, of.NoValue, none[manifest.DayOf{Date: d.Date, Behaviour: d.Behaviour}])
		day := dayOfKind{int32(kind), d.Date}
		if had, ok := n.days[day]; ok {
			for i := range set {
				set[i] &= n.sets[had][i]
			}
		}
		n.days[day] = n.number(fieldSet(set))
		n.most[day.kind] = max(n.most[day.kind], d.Records)
		if slices.ContainsFunc(set, func(b byte) bool { return b != 0 }) {
			n.records[day] += d.Records
		} else {
			delete(n.records, day)
		}
	}
}

// setOf returns the fields of a kind that an entry of none has as bits. The entry may be nil.
func (n *NoValues) setOf(kind int, none *manifest.NoValue, entry *manifest.NoValueDays) []byte {
	fields := n.job.Schema.Kinds[kind].Fields
	set := make([]byte, (len(fields)+7)/8)
	if entry == nil {
		return set
	}
	for of := range none.FieldsOf(entry) {
		if i := slices.IndexFunc(fields, func(f behaviour.Field) bool { return f.Name == of.Name }); i >= 0 {
			set[i/8] |= 1 << (i % 8)
		}
	}
	return set
}

// number returns the index of a set in sets.
func (n *NoValues) number(set fieldSet) int32 {
	i, ok := n.numbers[set]
	if !ok {
		i = int32(len(n.sets))
		n.sets, n.numbers[set] = append(n.sets, set), i
	}
	return i
}

// Of returns the fields to report of a day. without has, for each behaviour with records, its fields without a value.
func (n *NoValues) Of(without map[string][]string) map[string][]string {
	valued := map[string]bool{} // by the settings
	for _, kind := range n.job.Schema.Kinds {
		fields, records := without[kind.Name]
		for _, f := range kind.Fields {
			if records && !slices.Contains(fields, f.Name) {
				valued[n.by(kind.Name, f.Name)] = true
			}
		}
	}
	out := map[string][]string{}
	for name, fields := range without {
		for _, field := range fields {
			if by := n.by(name, field); by != "" && !valued[by] {
				out[name] = append(out[name], field)
			}
		}
	}
	return out
}

// lateShare divides the records of the largest day of a behaviour: a day with fewer records has only late ones.
const lateShare = 20

// list returns the fields to report, in order of the job's behaviours.
func (n *NoValues) list() []NoValue {
	dates := map[behaviour.Date]bool{}
	for day := range n.records {
		dates[day.date] = true
	}
	sums := map[fieldOf]*NoValue{}
	for date := range dates {
		for name, fields := range n.Of(n.without(date)) {
			n.addDay(sums, date, name, fields)
		}
	}
	var out []NoValue
	for _, sum := range sums {
		out = append(out, *sum)
	}
	slices.SortFunc(out, func(a, b NoValue) int {
		ka, _ := n.job.Schema.Kind(a.Behaviour)
		kb, _ := n.job.Schema.Kind(b.Behaviour)
		return cmp.Or(cmp.Compare(ka, kb), cmp.Compare(a.Field, b.Field))
	})
	return out
}

// without returns the fields without a value of each behaviour with records on a date.
func (n *NoValues) without(date behaviour.Date) map[string][]string {
	out := map[string][]string{}
	for k := range n.job.Schema.Kinds {
		at, ok := n.days[dayOfKind{int32(k), date}]
		if !ok {
			continue
		}
		kind := &n.job.Schema.Kinds[k]
		out[kind.Name] = nil // it has records
		for i, f := range kind.Fields {
			if n.sets[at].has(i) {
				out[kind.Name] = append(out[kind.Name], f.Name)
			}
		}
	}
	return out
}

// addDay adds the fields to report of a behaviour and a date to sums, unless the records are late.
func (n *NoValues) addDay(sums map[fieldOf]*NoValue, date behaviour.Date, name string, fields []string) {
	kind, _ := n.job.Schema.Kind(name)
	records := n.records[dayOfKind{int32(kind), date}]
	if records*lateShare < n.most[int32(kind)] {
		return
	}
	for _, field := range fields {
		sum, ok := sums[fieldOf{name, field}]
		if !ok {
			sum = &NoValue{Behaviour: name, Field: field, Dates: behaviour.NoDays}
			sums[fieldOf{name, field}] = sum
		}
		sum.Records += records
		sum.Dates.AddDay(date)
	}
}

// addNoValue adds a field of another day.
func (r *Result) addNoValue(o NoValue) {
	i := slices.IndexFunc(r.NoValue, func(n NoValue) bool { return n.Behaviour == o.Behaviour && n.Field == o.Field })
	if i < 0 {
		r.NoValue = append(r.NoValue, o)
		return
	}
	r.NoValue[i].Records += o.Records
	r.NoValue[i].Dates.Add(o.Dates)
}

// NoValueAdvice is the next step for a NoValue.
const NoValueAdvice = "if the logs have values of the field, correct its column, or nulls, in the job, and read the files again with --reread"

// ToWarn is the least number of records without a value that are worth a warning. An optional field of fewer records often has no value.
const ToWarn = 20

// SetNoValue sets NoValue from Values, and logs the fields of at least ToWarn records.
func (r *Result) SetNoValue(log *slog.Logger) {
	r.NoValue = r.Values.list()
	warn := slices.DeleteFunc(slices.Clone(r.NoValue), func(n NoValue) bool { return n.Records < ToWarn })
	for i, n := range warn {
		if i == Shown {
			log.Warn("no record has a value of more fields of the job", "fields", len(warn)-i, "see", "fields_without_value of the last line")
			return
		}
		log.Warn("no record has a value of a field of the job", "behaviour", n.Behaviour, "field", n.Field, "records", n.Records, "dates", n.Dates.String(), "advice", NoValueAdvice)
	}
}
