package judge

import (
	"bytes"

	"usertrail/internal/split"
)

// A stretch is a region, or the part of a region that belongs to a piece.
type stretch struct {
	split.Region
	piece int
}

// stretches returns the intersections of the pieces with the regions, in order.
func stretches(pieces, regions []split.Region) []stretch {
	var out []stretch
	for i, p := range pieces {
		for _, r := range regions {
			if both, ok := intersect(p, r); ok {
				out = append(out, stretch{both, i})
			}
		}
	}
	return out
}

// intersect returns the intersection of two ranges. It returns false if the intersection is empty.
func intersect(a, b split.Region) (split.Region, bool) {
	if bytes.Compare(b.Start, a.Start) > 0 {
		a.Start = b.Start
	}
	if len(a.End) == 0 || len(b.End) > 0 && bytes.Compare(b.End, a.End) < 0 {
		a.End = b.End
	}
	return a, len(a.End) == 0 || bytes.Compare(a.Start, a.End) < 0
}
