package report

// follows counts pairs of events: by the number of the first behaviour, and of the behaviour
// right after it.
type follows [][]int64

func newFollows(kinds int) follows {
	f := make(follows, kinds)
	for i := range f {
		f[i] = make([]int64, kinds)
	}
	return f
}

func (f follows) merge(o follows) {
	for i := range f {
		for j := range f[i] {
			f[i][j] += o[i][j]
		}
	}
}

func (f follows) draw(shown shown) Follows {
	out := Follows{Counts: newFollows(len(shown.kinds)), Totals: make([]int64, len(shown.kinds))}
	for i := range f {
		shown.fold(out.Counts[shown.at[i]], f[i])
	}
	for i, line := range out.Counts {
		for _, n := range line {
			out.Totals[i] += n
		}
		out.Pairs += out.Totals[i]
	}
	return out
}
