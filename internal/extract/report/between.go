package report

import (
	"maps"
	"slices"
	"time"

	"usertrail/internal/format/trailfile"
	"usertrail/internal/run/quantity"
)

// between holds the times between the steps of a sequence.
type between struct {
	steps int
	gaps  []gap // between each step and the next; with three steps or more, also between the first and the last
}

func newBetween(steps int) between {
	b := between{steps: steps}
	for i := range steps - 1 {
		b.gaps = append(b.gaps, newGap(i, i+1))
	}
	if steps > 2 {
		b.gaps = append(b.gaps, newGap(0, steps-1))
	}
	return b
}

// add adds the user of a row, by the columns of steps.
func (b *between) add(steps []trailfile.Values, row int) {
	for i := range b.gaps {
		g := &b.gaps[i]
		from, to := &steps[g.from], &steps[g.to]
		if from.Valid[row] && to.Valid[row] {
			g.add(to.Int[row] - from.Int[row])
		}
	}
}

func (b *between) merge(o between) {
	for i := range b.gaps {
		b.gaps[i].merge(&o.gaps[i])
	}
}

// gap counts users by the time from one step to another.
type gap struct {
	from, to int             // steps
	fine     map[int64]int64 // by time in µs, as round returns it
	bins     []int64         // by index in timeBins
}

func newGap(from, to int) gap {
	return gap{from: from, to: to, fine: map[int64]int64{}, bins: make([]int64, len(timeBins))}
}

// timeBins lists the starts of the bins of times.
var timeBins = []time.Duration{
	0, time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour,
	24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour,
}

func (g *gap) add(micros int64) {
	g.fine[round(micros)]++
	i := len(timeBins) - 1
	for i > 0 && micros < timeBins[i].Microseconds() {
		i--
	}
	g.bins[i]++
}

// round keeps the first four digits of n. For each power of ten there are then at most nine
// thousand different times.
func round(n int64) int64 {
	unit := int64(1)
	for n/unit >= 10_000 {
		unit *= 10
	}
	return (n + unit/2) / unit * unit
}

func (g *gap) merge(o *gap) {
	for n, users := range o.fine {
		g.fine[n] += users
	}
	for i, users := range o.bins {
		g.bins[i] += users
	}
}

func (g *gap) draw() Gap {
	out := Gap{From: g.from + 1, To: g.to + 1, Bins: []TimeBin{}}
	times := slices.Sorted(maps.Keys(g.fine))
	if len(times) == 0 {
		return out
	}
	users := make([]int64, len(times))
	for i, n := range times {
		users[i] = g.fine[n]
		out.Users += users[i]
	}
	out.Median = float64(times[quantile(users, 50)]) / 1e6
	out.P90 = float64(times[quantile(users, 90)]) / 1e6
	first, last := -1, 0
	for i, n := range g.bins {
		if n > 0 {
			last = i
			if first < 0 {
				first = i
			}
		}
	}
	for i := first; i <= last; i++ {
		b := TimeBin{From: timeBins[i].Seconds(), Users: g.bins[i]}
		if i+1 < len(timeBins) {
			b.To = timeBins[i+1].Seconds()
		}
		out.Bins = append(out.Bins, b)
	}
	return out
}

// sequence returns the report on the steps; nil if the query has none.
func (s *source) sequence(all *sums) *Sequence {
	if len(s.m.Sequence) == 0 {
		return nil
	}
	out := &Sequence{Text: s.m.Query.Sequence, Gaps: []Gap{}}
	for _, step := range s.m.Sequence {
		out.Steps = append(out.Steps, Step{Behaviour: step.Behaviour, Within: within(step.Within), Users: step.Users})
	}
	for i := range all.between.gaps {
		out.Gaps = append(out.Gaps, all.between.gaps[i].draw())
	}
	return out
}

// within returns a step's limit as readable text.
func within(text string) string {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return text
	}
	day := 24 * time.Hour
	switch {
	case d%day == 0:
		return quantity.Of(int64(d/day), "day")
	case d%time.Hour == 0:
		return quantity.Of(int64(d/time.Hour), "hour")
	case d%time.Minute == 0:
		return quantity.Of(int64(d/time.Minute), "minute")
	case d%time.Second == 0:
		return quantity.Of(int64(d/time.Second), "second")
	}
	return d.String()
}
