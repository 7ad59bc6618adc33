package split_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"usertrail/internal/split"
)

// keys generates n different keys of few letters, so that many are prefixes of others.
func keys(rng *rand.Rand, n int) [][]byte {
	seen := map[string]bool{}
	var out [][]byte
	for len(out) < n {
		k := make([]byte, 1+rng.IntN(6))
		for i := range k {
			k[i] = "\x00ab\xff"[rng.IntN(4)]
		}
		if !seen[string(k)] {
			seen[string(k)] = true
			out = append(out, k)
		}
	}
	return out
}

func TestOfAgreesWithLinearSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		all := keys(rng, 1+rng.IntN(100))
		p := split.Points(slices.Clone(all[:rng.IntN(len(all))]))
		slices.SortFunc(p, bytes.Compare)
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		regions := p.Regions()
		for _, row := range append(all, []byte{}, []byte("\xff\xff\xff\xff\xff\xff\xff")) {
			got := p.Of(row)
			if want := linear(p, row); got != want {
				t.Fatalf("round %d: %q is in region %d of %q, want %d", round, row, got, p, want)
			}
			for i, r := range regions {
				if r.Has(row) != (i == got) {
					t.Fatalf("round %d: region %d, %s, has %q: %v; it is in region %d", round, i, r, row, r.Has(row), got)
				}
			}
		}
	}
}

func TestRegionsJoinUp(t *testing.T) {
	p := split.Points{[]byte("b"), []byte("d"), []byte("d\x00")}
	r := p.Regions()
	if len(r) != 4 || len(r[0].Start) != 0 || len(r[3].End) != 0 {
		t.Fatalf("got %v, want 4 regions without bound at both ends", r)
	}
	for i := 1; i < len(r); i++ {
		if !bytes.Equal(r[i-1].End, r[i].Start) {
			t.Errorf("%s and %s do not join up", r[i-1], r[i])
		}
	}
}

func TestValidateRefuses(t *testing.T) {
	for _, p := range []split.Points{
		{[]byte("")},
		{nil, []byte("a")},
		{[]byte("a"), []byte("a")},
		{[]byte("b"), []byte("a")},
		{[]byte("a"), []byte("ab"), []byte("a\xff"), []byte("ac")},
	} {
		if err := p.Validate(); err == nil {
			t.Errorf("%q are no points, and nobody says so", p)
		}
	}
}

// sampled generates samples with a few heavy keys and many light ones.
func sampled(rng *rand.Rand) []split.Sample {
	var out []split.Sample
	for _, k := range keys(rng, 1+rng.IntN(60)) {
		out = append(out, split.Sample{Key: k, Weight: 1 + int64(math.Pow(rng.Float64(), 8)*1000)})
	}
	return out
}

// TestBalancedIsFair checks that no region is far above its share, except for the weight of
// one key, which cannot be divided. If regions are below their shares, the difference is
// spread over the later regions, which explains the logarithm.
func TestBalancedIsFair(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 2000 {
		samples, n := sampled(rng), 1+rng.IntN(12)
		p := split.Balanced(samples, n)
		if err := p.Validate(); err != nil || len(p) > n-1 {
			t.Fatalf("round %d: %d points for %d regions, %v", round, len(p), n, err)
		}
		var total, heaviest int64
		for _, s := range samples {
			total += s.Weight
			heaviest = max(heaviest, s.Weight)
		}
		bound := float64(total)/float64(n) + float64(heaviest)/2*(1+math.Log(float64(n))) + float64(n)
		for i, w := range weights(p, samples) {
			if w == 0 {
				t.Fatalf("round %d: region %d of %q is empty", round, i, p)
			}
			if float64(w) > bound {
				t.Fatalf("round %d: region %d of %d weighs %d; all %d, the heaviest key %d", round, i, n, w, total, heaviest)
			}
		}
		for _, point := range p {
			if !slices.ContainsFunc(samples, func(s split.Sample) bool { return bytes.Equal(s.Key, point) }) {
				t.Fatalf("round %d: point %q is no key", round, point)
			}
		}
	}
}

// TestBalancedIsNearTheBest compares with all ways to cut a few keys.
func TestBalancedIsNearTheBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for round := range 2000 {
		samples, n := sampled(rng), 1+rng.IntN(4)
		samples = samples[:min(len(samples), 8)]
		got := slices.Max(weights(split.Balanced(samples, n), samples))
		slices.SortFunc(samples, func(a, b split.Sample) int { return bytes.Compare(a.Key, b.Key) })
		var heaviest int64
		for _, s := range samples {
			heaviest = max(heaviest, s.Weight)
		}
		if want := best(samples, n); got > want+heaviest/2 {
			t.Errorf("round %d: %v in %d regions: the heaviest is %d, %d can be had", round, samples, n, got, want)
		}
	}
}

// best returns the smallest possible weight of the heaviest of n regions.
func best(sorted []split.Sample, n int) int64 {
	var total int64
	for _, s := range sorted {
		total += s.Weight
	}
	if n == 1 {
		return total
	}
	least := total
	var first int64
	for i, s := range sorted {
		first += s.Weight
		least = min(least, max(first, best(sorted[i+1:], n-1)))
	}
	return least
}

// TestBalancedDependsOnWhatNotOnHow checks that samples may come from many workers, in any
// order, and that a key's weight may come in several samples.
func TestBalancedDependsOnWhatNotOnHow(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for round := range 300 {
		samples, n := sampled(rng), 1+rng.IntN(12)
		want := split.Balanced(samples, n)
		var pieces []split.Sample
		for _, s := range samples {
			for s.Weight > 0 {
				w := 1 + rng.Int64N(s.Weight)
				pieces = append(pieces, split.Sample{Key: s.Key, Weight: w})
				s.Weight -= w
			}
		}
		rng.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
		before := fmt.Sprint(pieces)
		if got := split.Balanced(pieces, n); !slices.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("round %d: shuffled pieces give %q, want %q", round, got, want)
		}
		if fmt.Sprint(pieces) != before {
			t.Fatalf("round %d: the caller's samples were changed", round)
		}
	}
}

func TestPointsShareNoBytesWithSamples(t *testing.T) {
	samples := []split.Sample{{Key: []byte("a"), Weight: 1}, {Key: []byte("b"), Weight: 1}}
	p := split.Balanced(samples, 2)
	clear(samples[1].Key)
	if len(p) != 1 || string(p[0]) != "b" {
		t.Errorf("got %q, want b", p)
	}
}

func TestRegionsThatMakeNoSense(t *testing.T) {
	samples := []split.Sample{{Key: []byte("a"), Weight: 1}, {Key: []byte("b"), Weight: 1}}
	for _, n := range []int{0, -1, math.MinInt} {
		if p := split.Balanced(samples, n); len(p) != 0 {
			t.Errorf("%d regions have points %q", n, p)
		}
	}
}

func ExampleBalanced() {
	points := split.Balanced([]split.Sample{
		{Key: []byte("24u,"), Weight: 4},
		{Key: []byte("51u,"), Weight: 3},
		{Key: []byte("77u,"), Weight: 4},
		{Key: []byte("93u,"), Weight: 3},
	}, 2)
	for _, r := range points.Regions() {
		fmt.Println(r)
	}
	fmt.Println(points.Of([]byte("80u,20140901,00003")))
	// Output:
	// [-, "77u,")
	// ["77u,", +)
	// 1
}

func BenchmarkOf(b *testing.B) {
	for _, n := range []int{2, 64, 1000} {
		b.Run(fmt.Sprintf("regions=%d", n), func(b *testing.B) {
			var p split.Points
			for i := 1; i < n; i++ {
				p = append(p, fmt.Appendf(nil, "%04d,", i))
			}
			row := []byte("0500,20140901,00003")
			for b.Loop() {
				if i := p.Of(row); i > n {
					b.Fatal(i)
				}
			}
		})
	}
}
