package reread

import (
	"cmp"
	"slices"

	"usertrail/internal/behaviour"
)

// A lacking has the fields that a file is read for, by kind and field of the table, with the days on which the records of the file were
// loaded without them. A kind or field that is not read is nil.
type lacking [][][]behaviour.Span

// add adds days of field i of n of a kind.
func (l lacking) add(kind, i, n int, days []behaviour.Span) {
	if l[kind] == nil {
		l[kind] = make([][]behaviour.Span, n)
	}
	l[kind][i] = days
}

// has reports whether the records of a kind and date lack field i.
func (l lacking) has(kind, i int, d behaviour.Date) bool { return behaviour.HasDay(l[kind][i], d) }

// some reports whether the records of a kind and date lack a field.
func (l lacking) some(kind int, d behaviour.Date) bool {
	return slices.ContainsFunc(l[kind], func(days []behaviour.Span) bool { return behaviour.HasDay(days, d) })
}

// A daySet is a set of days, as behaviour.Join returns them. A file may have records of many days, and most of them are in a row.
type daySet []behaviour.Span

// add adds d.
func (s *daySet) add(d behaviour.Date) {
	i, _ := slices.BinarySearchFunc(*s, d, func(o behaviour.Span, d behaviour.Date) int { return cmp.Compare(o.To+1, d) })
	switch {
	case i == len(*s) || (*s)[i].From > d+1: // no span has d, or a day next to it
		*s = slices.Insert(*s, i, behaviour.Span{From: d, To: d})
		return
	case (*s)[i].Has(d):
		return
	}
	(*s)[i].AddDay(d)
	if i+1 < len(*s) && (*s)[i+1].From == (*s)[i].To+1 {
		(*s)[i].To = (*s)[i+1].To
		*s = slices.Delete(*s, i+1, i+2)
	}
}

// addAll adds the days of o.
func (s *daySet) addAll(o daySet) {
	if !slices.Equal(*s, o) {
		*s = behaviour.Join(append(*s, o...))
	}
}

// and returns the days that are also in o.
func (s daySet) and(o []behaviour.Span) (out daySet) {
	for i, j := 0, 0; i < len(s) && j < len(o); {
		if both := s[i].Common(o[j]); both.From <= both.To {
			out = append(out, both)
		}
		if s[i].To < o[j].To {
			i++
		} else {
			j++
		}
	}
	return out
}

// without returns the days that are not in o.
func (s daySet) without(o daySet) (out daySet) {
	for _, span := range s {
		out = append(out, span.Gaps(o)...)
	}
	return out
}
