package behaviour_test

import (
	"testing"

	"usertrail/internal/behaviour"
)

func TestRangesHaveWhatLiesInThem(t *testing.T) {
	for _, c := range []struct {
		r       behaviour.Range
		has     []string
		hasNot  []string
		onlyOne bool
	}{
		{behaviour.Range{}, []string{"", "a", "\xff\xff"}, nil, false},
		{behaviour.Range{From: []byte("a")}, []string{"a", "a\x00", "b"}, []string{"", "Z"}, false},
		{behaviour.Range{Before: []byte("a")}, []string{"", "Z"}, []string{"a", "aa"}, false},
		{behaviour.Range{From: []byte("a"), Before: []byte("b")}, []string{"a", "az"}, []string{"", "b"}, false},
		{behaviour.Range{From: []byte("a"), Before: []byte("b\x00")}, []string{"a", "b"}, []string{"b\x00"}, false},
		{behaviour.One([]byte("a")), []string{"a"}, []string{"", "a\x00", "aa", "b"}, true},
		{behaviour.One(nil), []string{""}, []string{"\x00", "a"}, true},
	} {
		test := behaviour.Test{In: []behaviour.Range{behaviour.One([]byte("elsewhere")), c.r}}
		for _, v := range c.has {
			if !c.r.Has([]byte(v)) || !test.Passes([]byte(v)) {
				t.Errorf("%q does not have %q", c.r, v)
			}
		}
		for _, v := range c.hasNot {
			if c.r.Has([]byte(v)) || test.Passes([]byte(v)) {
				t.Errorf("%q has %q", c.r, v)
			}
		}
		if c.r.IsOne() != c.onlyOne || test.Passes(nil) {
			t.Errorf("%q: one value %t, and of null %t", c.r, c.r.IsOne(), test.Passes(nil))
		}
	}
}
