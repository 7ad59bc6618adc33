package manifest

import (
	"fmt"
	"slices"

	"usertrail/internal/behaviour"
)

// A NoValue has the fields of a behaviour of which no record of some days has a value. Each field has a digest of the settings
// by which the job of the load read it.
type NoValue struct {
	Behaviour string            `json:"behaviour"`
	Fields    map[string]string `json:"fields"`
	Days      []behaviour.Span  `json:"days"` // in order
}

// NoValues groups days of the same fields without a value. The zero NoValues has no days.
type NoValues struct {
	groups []NoValue          // in order of the first calls of Group
	dates  [][]behaviour.Date // of groups
	at     map[string]int     // the indexes of groups
}

// Group returns the index of the group of the fields of a behaviour. Each field has its digest. If there are no fields, the group
// is NoGroup.
func (n *NoValues) Group(name string, fields map[string]string) int {
	if len(fields) == 0 {
		return NoGroup
	}
	key := fmt.Sprintf("%q %q", name, fields) // package fmt sorts the fields
	i, ok := n.at[key]
	if !ok {
		if n.at == nil {
			n.at = map[string]int{}
		}
		i = len(n.groups)
		n.groups, n.dates, n.at[key] = append(n.groups, NoValue{Behaviour: name, Fields: fields}), append(n.dates, nil), i
	}
	return i
}

// NoGroup is the group of the days with a value of each field. List leaves them out.
const NoGroup = -1

// Add adds a day to a group. The dates of a group must ascend.
func (n *NoValues) Add(group int, d behaviour.Date) {
	if group != NoGroup {
		n.dates[group] = append(n.dates[group], d)
	}
}

// List returns the groups in order of the first calls of Group. A group must have a day.
func (n *NoValues) List() []NoValue {
	for i := range n.groups {
		n.groups[i].Days = slices.Clone(behaviour.SpansOf(n.dates[i])) // the dates have more memory
	}
	return n.groups
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
