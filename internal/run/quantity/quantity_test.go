package quantity_test

import (
	"testing"

	"usertrail/internal/run/quantity"
)

func TestOf(t *testing.T) {
	for n, want := range map[int]string{0: "0 records", 1: "1 record", 2: "2 records", 12000: "12,000 records"} {
		if got := quantity.Of(n, "record"); got != want {
			t.Errorf("Of(%d) is %q, want %q", n, got, want)
		}
		if got := quantity.Of(int64(n), "record"); got != want {
			t.Errorf("Of(int64(%d)) is %q, want %q", n, got, want)
		}
	}
}
