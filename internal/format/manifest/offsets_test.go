package manifest_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"usertrail/internal/format/manifest"
)

// TestOffsetsStayWhatTheyAre writes offsets as JSON and reads them back.
func TestOffsetsStayWhatTheyAre(t *testing.T) {
	for _, list := range [][]int64{nil, {0}, {7, 7, 300}, {5, 0, math.MaxInt64}} {
		in := manifest.Input{BadAt: manifest.OffsetsOf(list), Counts: manifest.Counts{Quarantined: int64(len(list))}}
		text, err := json.Marshal(&in)
		if err != nil {
			t.Fatal(err)
		}
		var out manifest.Input
		if err := json.Unmarshal(text, &out); err != nil {
			t.Fatal(err)
		}
		slices.Sort(list)
		if got, known := out.BadOffsets(); !known || !slices.Equal(got, list) {
			t.Errorf("%v comes back as %v, known %t, of %s", list, got, known, text)
		}
	}
}

// TestOffsetsThatAreNotThere reads ledgers of older programs, which have no offsets, and
// damaged ledgers, which have too few.
func TestOffsetsThatAreNotThere(t *testing.T) {
	whole := manifest.OffsetsOf([]int64{1000, 2000})
	for _, bad := range []manifest.Offsets{nil, whole[:len(whole)-1], {0xff}} {
		in := manifest.Input{BadAt: bad, Counts: manifest.Counts{Quarantined: 2}}
		if list, known := in.BadOffsets(); known {
			t.Errorf("% x are taken to be the offsets %v of 2 records", []byte(bad), list)
		}
	}
}
