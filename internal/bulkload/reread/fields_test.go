package reread

import (
	"math/rand/v2"
	"slices"
	"testing"

	"usertrail/internal/behaviour"
)

// TestSetsOfDays compares sets of random days with lists of the days.
func TestSetsOfDays(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	days := func(n int) (out []behaviour.Date) {
		for range n {
			out = append(out, behaviour.Date(random.IntN(30)))
		}
		return out
	}
	setOf := func(days []behaviour.Date) (s daySet) {
		for _, d := range days {
			s.add(d)
		}
		return s
	}
	only := func(days []behaviour.Date, keep func(behaviour.Date) bool) daySet {
		return slices.Clip(daySet(behaviour.SpansOf(slices.DeleteFunc(slices.Clone(days), func(d behaviour.Date) bool { return !keep(d) }))))
	}
	for range 2000 {
		a, b := days(random.IntN(12)), days(random.IntN(12))
		sa, sb := setOf(a), setOf(b)
		both := slices.Clone(sa)
		both.addAll(sb)
		for _, c := range []struct {
			what      string
			got, want daySet
		}{
			{"add", sa, only(a, func(behaviour.Date) bool { return true })},
			{"addAll", both, only(slices.Concat(a, b), func(behaviour.Date) bool { return true })},
			{"and", sa.and(sb), only(a, func(d behaviour.Date) bool { return slices.Contains(b, d) })},
			{"without", sa.without(sb), only(a, func(d behaviour.Date) bool { return !slices.Contains(b, d) })},
		} {
			if !slices.Equal(c.got, c.want) {
				t.Fatalf("%s of %v and %v: %v, want %v", c.what, a, b, c.got, c.want)
			}
		}
	}
}
