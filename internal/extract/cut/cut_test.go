package cut

import (
	"fmt"
	"testing"

	"usertrail/internal/split"
)

// TestShareJoinsGetFewer joins shares of one behaviour to pieces of more and more.
func TestShareJoinsGetFewer(t *testing.T) {
	var shares []share
	for i := range 1000 {
		shares = append(shares, share{split.Region{Start: fmt.Appendf(nil, "%04d", i), End: fmt.Appendf(nil, "%04d", i+1)}, 1})
	}
	for size, want := range map[int64]int{1: 1000, 2: 500, 4: 250, 1 << 20: 1} {
		if got := len(join(shares, size)); got != want {
			t.Errorf("of %d events each there are %d pieces, want %d", size, got, want)
		}
	}
}
