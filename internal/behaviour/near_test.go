package behaviour_test

import (
	"testing"

	"usertrail/internal/behaviour"
)

// TestUnknownNames looks at the hints for names that a schema does not have, with names near to them and
// without.
func TestUnknownNames(t *testing.T) {
	s := &behaviour.Schema{Kinds: []behaviour.Kind{{Name: "Course viewed", ID: 1, As: "viewed"}, {Name: "play", ID: 2}, {Name: "a,b", ID: 3}, {Name: "0", ID: 4}}}
	const all = `Course viewed (as viewed), play, "a,b", 0`
	for _, c := range []struct{ name, unknown, instead string }{
		{"plya", `no behaviour "plya" (did you mean play?); it has ` + all, "did you mean play?"},
		{"view", `no behaviour "view" (did you mean viewed?); it has ` + all, "did you mean viewed?"},
		{"course Viewed", `no behaviour "course Viewed" (did you mean Course viewed?); it has ` + all, "did you mean Course viewed?"},
		{"x", `no behaviour "x"; it has ` + all, "there are " + all},
		{"purchases", `no behaviour "purchases"; it has ` + all, "there are " + all},
	} {
		if got := s.Unknown(c.name).Error(); got != c.unknown {
			t.Errorf("%s: %s, want %s", c.name, got, c.unknown)
		}
		if got := s.Instead(c.name); got != c.instead {
			t.Errorf("%s: %s, want %s", c.name, got, c.instead)
		}
	}
	const composed, decomposed = "R\u00fcckgabe", "Ru\u0308ckgabe" // they look equal
	for name, want := range map[string]string{
		decomposed:  "did you mean " + composed + "? this name has the same characters in the decomposed form: write the composed form",
		"한글":        "did you mean \u1112\u1161\u11ab\u1100\u1173\u11af? this name has the same characters in the composed form: write the decomposed form",
		"Rückgaben": "did you mean " + composed + "?",
	} {
		if got := behaviour.DidYouMean(name, []string{"x", composed, "\u1112\u1161\u11ab\u1100\u1173\u11af"}); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
	words := []string{"count", "sum"}
	for name, want := range map[string]string{"coutn": "did you mean count?", "median": "there are count, sum"} {
		if got := behaviour.Instead(name, words); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := behaviour.Instead("count", nil); got != "there are none" {
		t.Errorf("instead of no words: %s", got)
	}
	if word, near := behaviour.Nearest("play", nil); word != "" || near {
		t.Errorf("nearest of no words is %q, %v", word, near)
	}
}
