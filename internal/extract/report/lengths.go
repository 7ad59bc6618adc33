package report

import (
	"maps"
	"slices"
)

// lengths counts users by the number of events in their trails.
type lengths map[int64]int64

func (l lengths) merge(o lengths) {
	for n, users := range o {
		l[n] += users
	}
}

func (l lengths) draw() Lengths {
	sorted := slices.Sorted(maps.Keys(l))
	if len(sorted) == 0 {
		return Lengths{Bins: []Bin{}}
	}
	users := make([]int64, len(sorted))
	for i, n := range sorted {
		users[i] = l[n]
	}
	out := Lengths{
		Median: sorted[quantile(users, 50)], P90: sorted[quantile(users, 90)], Longest: sorted[len(sorted)-1],
	}
	for from := int64(1); from <= out.Longest; {
		next := nextBin(from)
		b := Bin{From: from, To: next - 1}
		for n, users := range l {
			if from <= n && n < next {
				b.Users += users
			}
		}
		if b.Users > 0 || len(out.Bins) > 0 {
			out.Bins = append(out.Bins, b)
		}
		from = next
	}
	return out
}

// nextBin returns the next number in the series 1, 2, 5, 10, 20, 50 and so on.
func nextBin(from int64) int64 {
	first := from
	for first >= 10 {
		first /= 10
	}
	if first == 2 {
		return from / 2 * 5
	}
	return from * 2
}

// quantile returns the index of the first count at which at least the given percentage is
// reached.
func quantile(counts []int64, percent int64) int {
	var all, sum int64
	for _, n := range counts {
		all += n
	}
	for i, n := range counts {
		if sum += n; sum*100 >= all*percent {
			return i
		}
	}
	return len(counts) - 1
}
