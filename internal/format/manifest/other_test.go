package manifest_test

import (
	"testing"

	"usertrail/internal/format/manifest"
)

// TestOtherTextsBelongToTheirBehaviour checks which records a load of a job with other: true has
// loaded.
func TestOtherTextsBelongToTheirBehaviour(t *testing.T) {
	p := &manifest.Part{Behaviours: []string{"play", "rest"}, Texts: map[string]string{"p": "play", "o": "order", "order": "order"}, Other: "rest"}
	left := &manifest.Part{Behaviours: []string{"play"}, Texts: map[string]string{"rest": "rest"}, Other: "rest"}
	for _, c := range []struct {
		part            *manifest.Part
		behaviour, text string
		want            bool
	}{
		{p, "play", "p", true}, {p, "play", "play", true}, {p, "order", "o", false}, {p, "order", "order", false},
		{p, "rest", "rest", true}, {p, "login", "login", true}, {p, "login", "in", true},
		{left, "play", "play", true}, {left, "login", "login", false}, {left, "rest", "rest", false},
	} {
		if got := c.part.Names(c.behaviour, &c.text); got != c.want {
			t.Errorf("%+v has records of %s by the text %q: %v, want %v", *c.part, c.behaviour, c.text, got, c.want)
		}
	}
	if !p.Names("rest", nil) || left.Names("rest", nil) {
		t.Error("a record of rest with an unknown text belongs to the loads that took rest, and to no other load")
	}
	in := &manifest.Input{Part: left, TextsBy: "x"}
	more := &manifest.Part{Behaviours: []string{"play"}, Texts: map[string]string{"new": "play", "rest": "rest"}, Other: "rest"}
	if in.HasAll(more, manifest.Selection{TextsBy: "x"}) {
		t.Error("a load that skipped rest has all records of a text that was one of rest")
	}
}
