// Package split cuts the key space into regions, and finds the region of a row.
package split

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"sort"
)

// Points are the first rows of all regions except the first, ascending. n points cut the key
// space into n+1 regions. Without points it is one region.
type Points [][]byte

// PointsOf returns the points between regions, which are in order and without a gap.
func PointsOf(regions []Region) Points {
	var p Points
	for _, r := range regions[1:] {
		p = append(p, r.Start)
	}
	return p
}

// A Region is the rows from Start up to, but not including, End. Empty means no bound.
type Region struct {
	Start, End []byte
}

// Has reports whether row is in r.
func (r Region) Has(row []byte) bool {
	return bytes.Compare(row, r.Start) >= 0 && (len(r.End) == 0 || bytes.Compare(row, r.End) < 0)
}

func (r Region) String() string {
	show := func(b []byte, open string) string {
		if len(b) == 0 {
			return open
		}
		return fmt.Sprintf("%q", b)
	}
	return "[" + show(r.Start, "-") + ", " + show(r.End, "+") + ")"
}

// Words describes the rows of r.
func (r Region) Words() string {
	switch {
	case len(r.Start) == 0 && len(r.End) == 0:
		return "all rows"
	case len(r.Start) == 0:
		return fmt.Sprintf("rows before %q", r.End)
	case len(r.End) == 0:
		return fmt.Sprintf("rows from %q on", r.Start)
	}
	return fmt.Sprintf("rows from %q to before %q", r.Start, r.End)
}

// Of returns the index of the region in Regions that holds row, by binary search.
func (p Points) Of(row []byte) int {
	return sort.Search(len(p), func(i int) bool { return bytes.Compare(p[i], row) > 0 })
}

// Regions returns the regions that p makes, in order.
func (p Points) Regions() []Region {
	out := make([]Region, len(p)+1)
	for i := range out {
		if i > 0 {
			out[i].Start = p[i-1]
		}
		if i < len(p) {
			out[i].End = p[i]
		}
	}
	return out
}

// Validate returns an error if a point is empty or not greater than the point before it.
func (p Points) Validate() error {
	for i, b := range p {
		if len(b) == 0 {
			return fmt.Errorf("split: point %d is empty", i)
		}
		if i > 0 && bytes.Compare(p[i-1], b) >= 0 {
			return fmt.Errorf("split: point %d, %q, does not come after %q", i, b, p[i-1])
		}
	}
	return nil
}

// A Sample is a key and the weight of its rows, such as their number or bytes.
type Sample struct {
	Key    []byte
	Weight int64
}

// Balanced returns at most n-1 points. They cut the sampled keys into regions whose
// weights are as equal as whole keys allow. If there are enough regions, a key that is
// much heavier than a fair share gets a region of its own, and the other keys share the
// remaining regions. The order of the samples does not matter, and several samples may
// have the same key. If n is 1 or less, Balanced returns no points.
func Balanced(samples []Sample, n int) Points {
	keys := merge(samples)
	var total int64
	for _, k := range keys {
		total += k.Weight
	}
	return BalancedSorted(slices.Values(keys), total, n)
}

// BalancedSorted is Balanced for samples whose keys ascend. total is the sum of their weights. BalancedSorted
// keeps no reference to a key.
func BalancedSorted(samples iter.Seq[Sample], total int64, n int) Points {
	var out Points
	left, have := total, int64(0)
	for k := range samples {
		regions := int64(n - len(out)) // number of regions still to fill, including this one
		if regions <= 1 {
			break
		}
		share := left / regions
		// Cut before k if the region is then closer to a fair share than with k.
		if have > 0 && have+k.Weight-share > share-have {
			out = append(out, bytes.Clone(k.Key))
			left -= have
			have = 0
		}
		have += k.Weight
	}
	return out
}

// merge sorts samples by key and adds up the weights of equal keys.
func merge(samples []Sample) []Sample {
	s := slices.Clone(samples)
	slices.SortFunc(s, func(a, b Sample) int { return bytes.Compare(a.Key, b.Key) })
	out := s[:0]
	for _, k := range s {
		if n := len(out); n > 0 && bytes.Equal(out[n-1].Key, k.Key) {
			out[n-1].Weight += k.Weight
			continue
		}
		out = append(out, k)
	}
	return out
}
