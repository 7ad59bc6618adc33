package trailfile

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

func TestLongBoundsAreCut(t *testing.T) {
	a := strings.Repeat("a", 62)
	for _, c := range []struct{ s, low, high string }{
		{"", "", ""},
		{a + "bc", a + "bc", a + "bc"},
		{a + "bcd", a + "bc", a + "bd"},
		{a + "b节", a + "b", a + "c"},
		{a + "é and more", a + "é", a + "ê"},
		{strings.Repeat("a", 61) + "\ud7ff and more", strings.Repeat("a", 61) + "\ud7ff", strings.Repeat("a", 61) + "\ue000"},
		{strings.Repeat("a", 60) + "\U0010ffff and more", strings.Repeat("a", 60) + "\U0010ffff", strings.Repeat("a", 59) + "b"},
		{strings.Repeat("\U0010ffff", 17), strings.Repeat("\U0010ffff", 16), strings.Repeat("\U0010ffff", 17)},
	} {
		if got := string(cutLow([]byte(c.s))); got != c.low {
			t.Errorf("lower bound of %q is %q, want %q", c.s, got, c.low)
		}
		if got := string(cutHigh([]byte(c.s))); got != c.high {
			t.Errorf("upper bound of %q is %q, want %q", c.s, got, c.high)
		}
		if high := string(cutHigh([]byte(c.s))); high < c.s {
			t.Errorf("upper bound %q is less than %q", high, c.s)
		}
	}
}

func TestZerosBoundBothZeros(t *testing.T) {
	minus := math.Copysign(0, -1)
	for _, values := range [][]float64{{0}, {minus}, {0, minus}, {minus, 0}} {
		d := doubles{newDoubles()}
		d.addAll(values)
		lo, hi, ok := d.bounds(0, len(values))
		if !ok || !bytes.Equal(lo, appendDoubles(nil, []float64{minus})) || !bytes.Equal(hi, appendDoubles(nil, []float64{0})) {
			t.Errorf("bounds of %v are %x, %x, %v; want -0 and +0", values, lo, hi, ok)
		}
	}
}
