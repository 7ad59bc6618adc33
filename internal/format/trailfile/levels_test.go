package trailfile

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestLevelsAreReadAsTheyWereAdded adds runs of random lengths, in pieces of random lengths, and reads them in other pieces.
func TestLevelsAreReadAsTheyWereAdded(t *testing.T) {
	var l levels
	for seed := range uint64(200) {
		dice := rand.New(rand.NewPCG(seed, 2))
		longest := []int{1, 2, 50, 200_000}[dice.IntN(4)]
		var want []byte
		l.reset()
		for range dice.IntN(10) {
			valid, is := make([]bool, dice.IntN(3*longest)), dice.IntN(2) == 0
			for left, i := 0, 0; i < len(valid); i++ {
				if left == 0 {
					left, is = 1+dice.IntN(longest), !is
				}
				valid[i] = is
				left--
			}
			l.add(valid)
			for _, v := range valid {
				want = append(want, bit(v))
			}
		}
		var got []byte
		r := l.reader()
		for len(got) < len(want) {
			n := 1 + dice.IntN(min(longest, len(want)-len(got)))
			page, values := r.next(nil, n)
			if len(page) != n || values != bytes.Count(page, []byte{1}) {
				t.Fatalf("seed %d: %d rows with %d values, want %d rows with %d values", seed, len(page), values, n, bytes.Count(page, []byte{1}))
			}
			got = append(got, page...)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("seed %d: the rows that were read differ from those that were added", seed)
		}
	}
	l.reset()
	if l.add(make([]bool, 100_000)); len(l.runs) != 3 {
		t.Errorf("%d runs for 100,000 rows without a value, want 3", len(l.runs))
	}
}
