package reread

import (
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
