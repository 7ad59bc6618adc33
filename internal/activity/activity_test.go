package activity_test

import (
	"fmt"
	"strings"
	"testing"

	"usertrail/internal/activity"
)

func TestSetsHoldWhatWasPutIn(t *testing.T) {
	s := activity.Of(0, 5, 63, 5)
	if s.Len() != 3 || !s.Has(0) || !s.Has(5) || !s.Has(63) || s.Has(1) || s.Has(62) {
		t.Errorf("the set of 0, 5 and 63 is %b", s)
	}
	if activity.Of() != 0 || activity.Of().Len() != 0 {
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
		"min:4": "only 3", "min:99999999999999999999": "at least 1",
	} {
		if _, err := activity.Parse(text, asked); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want an error that says %q", text, err, says)
		}
	}
}

// TestJudgeCountsWhatWasAsked tries all sets of four kinds.
func TestJudgeCountsWhatWasAsked(t *testing.T) {
	for asked := activity.Set(1); asked < 16; asked++ {
		for least := 1; least <= asked.Len(); least++ {
			rule := activity.Rule{Asked: asked, Least: least}
			for did := activity.Set(0); did < 16; did++ {
				n := 0
				for k := range 4 {
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
					t.Errorf("asked %04b, at least %d, did %04b: %s, want %s", asked, least, did, got, want)
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
