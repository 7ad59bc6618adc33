package manifest

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"usertrail/internal/behaviour"
)

// A NoValue has the fields of which no record of some days of a load has a value. A nil NoValue has none.
type NoValue struct {
	Fields []FieldBy     `json:"fields"` // each once
	Days   []NoValueDays `json:"days"`
}

// A FieldBy is a field with a digest of the settings by which the job of a load read it.
type FieldBy struct {
	Name string `json:"field"`
	By   string `json:"by"`
}

// A NoValueDays has days of a behaviour on which the same fields have no value.
type NoValueDays struct {
	Behaviour string           `json:"behaviour"`
	Fields    indexes          `json:"fields"`
	Days      []behaviour.Span `json:"days"` // in order
}

// Indexes are indexes of NoValue.Fields in ascending order, as runs: "0-3 7" has the first four fields and the eighth one. A load may
// have tens of thousands of them.
type indexes string

// indexesOf returns a sorted list of different numbers as indexes.
func indexesOf(list []int32) indexes {
	var b []byte
	for i := 0; i < len(list); i++ {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, int64(list[i]), 10)
		first := i
		for i+1 < len(list) && list[i+1] == list[i]+1 {
			i++
		}
		if i > first {
			b = strconv.AppendInt(append(b, '-'), int64(list[i]), 10)
		}
	}
	return indexes(b)
}

// parse returns the numbers of x. It returns an error if one of them is not below n, or if they do not ascend.
func (x indexes) parse(n int) ([]int32, error) {
	var out []int32
	for run := range strings.FieldsSeq(string(x)) {
		first, last, ranged := strings.Cut(run, "-")
		if !ranged {
			last = first
		}
		from, err := strconv.ParseUint(first, 10, 31)
		to, errTo := strconv.ParseUint(last, 10, 31)
		if err != nil || errTo != nil || to < from || int(to) >= n || len(out) > 0 && int32(from) <= out[len(out)-1] {
			return nil, fmt.Errorf("%w: %q are not the indexes of some of %d fields", ErrDamaged, run, n)
		}
		for i := from; i <= to; i++ {
			out = append(out, int32(i))
		}
	}
	return out, nil
}

// check returns an error if indexes are wrong.
func (n *NoValue) check() error {
	if n == nil {
		return nil
	}
	for i := range n.Days {
		if _, err := n.Days[i].Fields.parse(len(n.Fields)); err != nil {
			return fmt.Errorf("the fields without a value of %s: %w", n.Days[i].Behaviour, err)
		}
	}
	return nil
}

// FieldsOf returns the fields without a value on d, which are days of n.
func (n *NoValue) FieldsOf(d *NoValueDays) iter.Seq[FieldBy] {
	list, _ := d.Fields.parse(len(n.Fields)) // check was called when n was read
	return func(yield func(FieldBy) bool) {
		for _, i := range list {
			if !yield(n.Fields[i]) {
				return
			}
		}
	}
}

// Of returns the entry of n of each of some days of a load by its date and behaviour. Days with a value of each field are not
// among them.
func (n *NoValue) Of(days []Day) map[DayOf]*NoValueDays {
	if n == nil {
		return nil
	}
	of := map[string][]*NoValueDays{}
	for i := range n.Days {
		of[n.Days[i].Behaviour] = append(of[n.Days[i].Behaviour], &n.Days[i])
	}
	out := map[DayOf]*NoValueDays{}
	for i := range days {
		d := &days[i]
		for _, entry := range of[d.Behaviour] {
			if d.Records > 0 && entry.Has(d.Date) {
				out[DayOf{d.Date, d.Behaviour}] = entry
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
func (n *NoValueDays) Has(d behaviour.Date) bool { return behaviour.HasDay(n.Days, d) }

// NoValues makes a NoValue: it groups days of the same fields. The zero NoValues has no days.
type NoValues struct {
	out    NoValue
	places map[FieldBy]int32  // in out.Fields
	dates  [][]behaviour.Date // of out.Days
	at     map[string]int     // in out.Days
}

// Indexes returns the indexes of fields, in ascending order. It adds fields that n does not have.
func (n *NoValues) Indexes(fields iter.Seq[FieldBy]) (out []int32) {
	if n.places == nil {
		n.places = map[FieldBy]int32{}
	}
	for f := range fields {
		i, ok := n.places[f]
		if !ok {
			i = int32(len(n.out.Fields))
			n.out.Fields, n.places[f] = append(n.out.Fields, f), i
		}
		out = append(out, i)
	}
	slices.Sort(out)
	return out
}

// NoGroup is the group of the days with a value of each field. They are not in the result.
const NoGroup = -1

// Group returns the group of the fields of a behaviour that have these indexes. If there are none, the group is NoGroup.
func (n *NoValues) Group(name string, fields []int32) int {
	if len(fields) == 0 {
		return NoGroup
	}
	list := indexesOf(fields)
	key := name + "\x00" + string(list)
	i, ok := n.at[key]
	if !ok {
		if n.at == nil {
			n.at = map[string]int{}
		}
		i = len(n.out.Days)
		n.out.Days, n.dates, n.at[key] = append(n.out.Days, NoValueDays{Behaviour: name, Fields: list}), append(n.dates, nil), i
	}
	return i
}

// Add adds a day to a group.
func (n *NoValues) Add(group int, d behaviour.Date) {
	if group != NoGroup {
		n.dates[group] = append(n.dates[group], d)
	}
}

// AddSpans adds the days of spans without a value of one field. Days that are added for several fields are in several groups.
func (n *NoValues) AddSpans(name string, field FieldBy, spans []behaviour.Span) {
	group := n.Group(name, n.Indexes(func(yield func(FieldBy) bool) { yield(field) }))
	for _, s := range spans {
		for d := s.From; d <= s.To; d++ {
			n.Add(group, d)
		}
	}
}

// AddAll adds the days of other.
func (n *NoValues) AddAll(other *NoValue) {
	if other == nil {
		return
	}
	for i := range other.Days {
		days := &other.Days[i]
		group := n.Group(days.Behaviour, n.Indexes(other.FieldsOf(days)))
		for _, s := range days.Days {
			for d := s.From; d <= s.To; d++ {
				n.Add(group, d)
			}
		}
	}
}

// Result returns the groups in order of the first calls of Group, and nil if there are none.
func (n *NoValues) Result() *NoValue {
	if len(n.out.Days) == 0 {
		return nil
	}
	for i := range n.out.Days {
		n.out.Days[i].Days = slices.Clone(behaviour.SpansOf(n.dates[i])) // the dates have more memory
	}
	return &n.out
}
