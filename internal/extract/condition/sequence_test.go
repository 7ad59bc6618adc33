package condition_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/condition"
	"usertrail/internal/trail"
)

// match tries every choice of events, in the order of the trail, and returns the best one. It
// is the choice that ends first, then the one whose last step but one is latest, and so on.
// match also returns the largest number of steps that any choice reaches.
func match(steps []condition.Step, trl []trail.Event) (best []int, far int) {
	var chosen []int
	var choose func(from int)
	choose = func(from int) {
		far = max(far, len(chosen))
		if len(chosen) == len(steps) {
			if best == nil || better(chosen, best) {
				best = slices.Clone(chosen)
			}
			return
		}
		step := steps[len(chosen)]
		for i := from; i < len(trl); i++ {
			if int(trl[i].Kind) != step.Kind {
				continue
			}
			if step.Within > 0 && time.UnixMicro(trl[i].Time).Sub(time.UnixMicro(trl[chosen[len(chosen)-1]].Time)) > step.Within {
				continue
			}
			chosen = append(chosen, i)
			choose(i + 1)
			chosen = chosen[:len(chosen)-1]
		}
	}
	choose(0)
	return best, far
}

func better(a, b []int) bool {
	last := len(a) - 1
	if a[last] != b[last] {
		return a[last] < b[last]
	}
	for i := last - 1; i >= 0; i-- {
		if a[i] != b[i] {
			return a[i] > b[i]
		}
	}
	return false
}

// TestSequenceIsTheBestOfAllChoices generates sequences and short trails of few kinds, with
// many equal times, and steps just within the limit or just too late.
func TestSequenceIsTheBestOfAllChoices(t *testing.T) {
	s := schema()
	rng := rand.New(rand.NewPCG(5, 5))
	matched, asked := 0, 0
	for range 4000 {
		text, kinds := s.Kinds[rng.IntN(3)].Name, 2+rng.IntN(2)
		for range 1 + rng.IntN(4) {
			text += " -> " + s.Kinds[rng.IntN(kinds)].Name
			if rng.IntN(2) == 0 {
				text += " within " + []string{"1s", "2s", "5s", "1m"}[rng.IntN(4)]
			}
		}
		q, err := condition.ParseSequence(text, s)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		m := q.Matcher()
		for range 5 {
			trl := steady(rng, kinds)
			m.Begin()
			for i := range trl {
				m.Add(&trl[i])
			}
			want, far := match(q.Steps(), trl)
			var times []int64
			for _, i := range want {
				times = append(times, trl[i].Time)
			}
			if m.Reached() != far || !slices.Equal(m.Times(), times) {
				t.Fatalf("%s in %v:\ngot  %d steps, at %v\nwant %d, at %v", text, trl, m.Reached(), m.Times(), far, times)
			}
			asked++
			if want != nil {
				matched++
			}
		}
	}
	if matched < asked/10 || matched > asked*9/10 {
		t.Errorf("%d of %d match: these tell little", matched, asked)
	}
}

// steady returns a trail whose times advance by whole seconds, by a microsecond more, or not
// at all.
func steady(rng *rand.Rand, kinds int) []trail.Event {
	var out []trail.Event
	at := int64(1409529600e6)
	for i := range rng.IntN(11) {
		at += []int64{0, 0, 1, 1e6, 2e6, 2e6 + 1, 60e6}[rng.IntN(7)]
		out = append(out, trail.Event{Time: at, ID: int64(i), Kind: uint16(rng.IntN(kinds))})
	}
	return out
}

func TestSequenceOfALongTrailHoldsNothingOfIt(t *testing.T) {
	q, err := condition.ParseSequence("play -> order within 1s -> play -> login", schema())
	if err != nil {
		t.Fatal(err)
	}
	m := q.Matcher()
	ev := trail.Event{}
	if n := testing.AllocsPerRun(10, func() {
		m.Begin()
		for i := range 10_000 {
			ev.Time, ev.Kind = int64(i)*5e5, uint16(1+i%2)
			m.Add(&ev)
		}
	}); n > 0 {
		t.Errorf("%v allocations for a trail of ten thousand", n)
	}
	if m.Reached() != 3 || m.Times() != nil {
		t.Errorf("reached %d, at %v; nobody logs in", m.Reached(), m.Times())
	}
}

func ExampleParseSequence() {
	s := &behaviour.Schema{Zone: "Asia/Shanghai", Kinds: []behaviour.Kind{{ID: 1, Name: "visit"}, {ID: 2, Name: "play"}, {ID: 3, Name: "order"}}}
	q, err := condition.ParseSequence("visit -> play within 1h -> order within 1d", s)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := q.Matcher()
	m.Begin()
	for _, at := range strings.Fields("0visit 10visit 40play 60play 90order") {
		var minutes int64
		var name string
		if _, err := fmt.Sscanf(at, "%d%s", &minutes, &name); err != nil {
			fmt.Println(err)
			return
		}
		kind, _ := s.Kind(name)
		m.Add(&trail.Event{Time: minutes * 60e6, Kind: uint16(kind)})
	}
	for _, at := range m.Times() {
		fmt.Println(time.UnixMicro(at).UTC().Format(time.TimeOnly))
	}
	// Output:
	// 00:10:00
	// 01:00:00
	// 01:30:00
}
