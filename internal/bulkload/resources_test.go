package bulkload_test

import (
	"testing"

	"usertrail/internal/bulkload"
)

// TestWorkersFitIntoTheMemory checks how many workers run with different amounts of memory.
func TestWorkersFitIntoTheMemory(t *testing.T) {
	for _, c := range []struct {
		memory        int64
		workers, want int
	}{
		{bulkload.MinMemory, 64, 4},
		{128 << 20, 64, 8},
		{128 << 20, 2, 2},
		{0, 200, 64}, // 1 GiB
		{1 << 40, 64, 64},
		{128 << 20, 0, 1},
	} {
		if r := (bulkload.Resources{Memory: c.memory, Workers: c.workers}).WithDefaults(); r.Workers != c.want {
			t.Errorf("%d bytes and %d workers: %d workers run, want %d", c.memory, c.workers, r.Workers, c.want)
		}
	}
}
