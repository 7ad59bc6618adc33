package live

import (
	"testing"

	"usertrail/internal/split"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/table"
)

// TestScansJumpFromRangeToRange checks that a scan has a time range only if its ranges do not
// determine the times, or if it has only one range.
func TestScansJumpFromRangeToRange(t *testing.T) {
	a := request{times: wire.TimeRange{From: 5, To: 9}}
	one := []split.Region{{Start: []byte("b"), End: []byte("c")}}
	two := append(one, split.Region{Start: []byte("x"), End: []byte("y")})
	for _, x := range []struct {
		name   string
		ranges []split.Region
		timed  bool
		want   wire.TimeRange
		jumps  bool
	}{
		{"one range", one, false, a.times, false},
		{"one range of its times", one, true, a.times, false},
		{"two ranges", two, false, a.times, true},
		{"two ranges of their times", two, true, wire.TimeRange{}, true},
	} {
		s, err := a.scanOver(x.ranges, &table.Query{Hints: table.Hints{Timed: x.timed}})
		if err != nil {
			t.Fatal(err)
		}
		last := x.ranges[len(x.ranges)-1]
		if string(s.Start) != "b" || string(s.Stop) != string(last.End) || s.Time != x.want || (s.Filter != nil) != x.jumps {
			t.Errorf("%s: from %q to %q, times %v, filter %v", x.name, s.Start, s.Stop, s.Time, s.Filter)
		}
	}
}
