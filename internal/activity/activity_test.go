package activity_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/activity"
)

func TestSetsHoldWhatWasPutIn(t *testing.T) {
	s := activity.Of(0, 5, 63, 5)
	if s.Len() != 3 || !s.Has(0) || !s.Has(5) || !s.Has(63) || s.Has(1) || s.Has(62) {
		t.Errorf("the set of 0, 5 and 63 is %v", s)
	}
	if activity.Of() != (activity.Set{}) || activity.Of().Len() != 0 || !activity.Of().Empty() {
		t.Error("the set of nothing is not empty")
	}
}

func TestParseReadsAllAnyAndMin(t *testing.T) {
	asked := activity.Of(1, 2, 7)
	for text, least := range map[string]int{"all": 3, "any": 1, "min:1": 1, "min:2": 2, "min:3": 3, "min:03": 3} {
		r, err := activity.Parse(text, asked)
		if err != nil || r != (activity.Rule{Asked: asked, Least: least}) {
			t.Errorf("%s: %+v, %v; want at least %d", text, r, err, least)
		}
	}
	for text, says := range map[string]string{
		"": "all, any or min:N", "ALL": "all, any or min:N", "min": "all, any or min:N", "2": "all, any or min:N",
		"min:": "at least 1", "min:0": "at least 1", "min:-1": "at least 1", "min:two": "at least 1", "min:1.5": "at least 1",
		"min:4": "requested behaviours, 3: write min:3 or less", "min:99999999999999999999": "at least 1",
	} {
		if _, err := activity.Parse(text, asked); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want an error that says %q", text, err, says)
		}
	}
}

// places are kinds in the word and beyond it.
var places = []int{3, 63, 64, 1023}

// spread returns the set of the places whose bits are set.
func spread(bits int) activity.Set {
	var s activity.Set
	for i, k := range places {
		if bits>>i&1 != 0 {
			s.Add(k)
		}
	}
	return s
}

// TestOperationsAreThoseOfSets compares all operations on random sets with a map.
func TestOperationsAreThoseOfSets(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		most := []int{5, 64, 70, 1024}[rnd.IntN(4)]
		a, b := random(rnd, most), random(rnd, most)
		x, y := set(a), set(b)
		check := func(what string, got activity.Set, want func(k int) bool) {
			var kinds []int
			for k := range 1024 {
				if want(k) {
					kinds = append(kinds, k)
				}
				if got.Has(k) != want(k) {
					t.Errorf("%s of %v and %v has %d: %t", what, a, b, k, got.Has(k))
				}
			}
			if !slices.Equal(slices.Collect(got.Kinds()), kinds) || got.Len() != len(kinds) || got != activity.Of(kinds...) || got.Empty() != (len(kinds) == 0) {
				t.Errorf("%s of %v and %v is %v, want %v", what, a, b, got, kinds)
			}
		}
		check("and", x.And(y), func(k int) bool { return a[k] && b[k] })
		check("or", x.Or(y), func(k int) bool { return a[k] || b[k] })
		check("without", x.Without(y), func(k int) bool { return a[k] && !b[k] })
		check("first", activity.First(most), func(k int) bool { return k < most })
		if x.Meets(y) != !x.And(y).Empty() {
			t.Errorf("%v meets %v: %t", a, b, x.Meets(y))
		}
	}
	if activity.Word(1<<63|5) != activity.Of(0, 2, 63) {
		t.Error("a word is not the set of its bits")
	}
}

// random returns a few kinds below most.
func random(rnd *rand.Rand, most int) map[int]bool {
	out := map[int]bool{}
	for range rnd.IntN(6) {
		out[rnd.IntN(most)] = true
	}
	return out
}

func set(kinds map[int]bool) activity.Set { return activity.Of(slices.Collect(maps.Keys(kinds))...) }

// TestJudgeCountsWhatWasAsked tries all sets of four kinds.
func TestJudgeCountsWhatWasAsked(t *testing.T) {
	for a := range 15 {
		asked := spread(a + 1)
		for least := 1; least <= asked.Len(); least++ {
			rule := activity.Rule{Asked: asked, Least: least}
			for d := range 16 {
				did, n := spread(d), 0
				for _, k := range places {
					if asked.Has(k) && did.Has(k) {
						n++
					}
				}
				want := activity.Active
				if n == 0 {
					want = activity.Absent
				} else if n < least {
					want = activity.TooFew
				}
				if got := rule.Judge(did); got != want {
					t.Errorf("asked %04b, at least %d, did %04b: %s, want %s", a+1, least, d, got, want)
				}
			}
		}
	}
}

func Example() {
	const play, order, visit, login = 0, 1, 2, 3
	rule, err := activity.Parse("min:2", activity.Of(play, order, visit))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rule.Judge(activity.Of(play, order)))
	fmt.Println(rule.Judge(activity.Of(play, login)))
	fmt.Println(rule.Judge(activity.Of(login)))
	// Output:
	// active
	// too few behaviours
	// not found
}
