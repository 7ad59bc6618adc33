package bulkload_test

import (
	"errors"
	"strings"
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

// TestListsFitIntoTheMemory checks how many files and days fit into different amounts of memory, and that the memory which the
// error advises is enough.
func TestListsFitIntoTheMemory(t *testing.T) {
	for _, c := range []struct {
		memory      int64
		files, days int
		advice      string
	}{
		{1 << 20, 5242, 125_829, "128 MiB"}, // as MinMemory
		{bulkload.MinMemory, 5242, 125_829, "128 MiB"},
		{128 << 20, 6757, 162_179, "256 MiB"},
		{1 << 30, 111_149, 2_667_577, "2.0 GiB"},
	} {
		r := bulkload.Resources{Memory: c.memory}
		if err := r.FitFiles(c.files, 200*int64(c.files)); err != nil {
			t.Errorf("%d bytes and %d files: %v", c.memory, c.files, err)
		}
		if err := r.FitFiles(c.files+1, 0); !errors.Is(err, bulkload.ErrRequest) || !strings.HasSuffix(err.Error(), "raise --memory to "+c.advice) {
			t.Errorf("%d bytes and %d files: %v, want the advice %s", c.memory, c.files+1, err, c.advice)
		}
		if err := r.FitFiles(c.files, 201*int64(c.files)); !errors.Is(err, bulkload.ErrRequest) {
			t.Errorf("%d bytes and %d files of long paths: %v, want ErrRequest", c.memory, c.files, err)
		}
		if err := r.FitDays(c.days, 0); err != nil {
			t.Errorf("%d bytes and %d days: %v", c.memory, c.days, err)
		}
		if err := r.FitDays(c.days+1, 0); !errors.Is(err, bulkload.ErrRequest) {
			t.Errorf("%d bytes and %d days: %v, want ErrRequest", c.memory, c.days+1, err)
		}
		if err := r.FitDays(16_384, c.files); err != nil {
			t.Errorf("%d bytes, %d files and few days: %v", c.memory, c.files, err)
		}
		if err := r.FitDays(c.days, c.files); !errors.Is(err, bulkload.ErrRequest) {
			t.Errorf("%d bytes, %d files and %d days: %v, want ErrRequest", c.memory, c.files, c.days, err)
		}
	}
}

// TestWritersFitIntoTheMemory checks how many writers run if each needs some bytes more.
func TestWritersFitIntoTheMemory(t *testing.T) {
	for _, c := range []struct {
		memory, bytes int64
		want          int
	}{
		{bulkload.MinMemory, 0, 9},
		{bulkload.MinMemory, 2 << 20, 9},
		{bulkload.MinMemory, 6 << 20, 3},
		{bulkload.MinMemory, 12 << 20, 1},
		{bulkload.MinMemory, 1 << 40, 1},
		{1 << 30, 12 << 20, 9},
	} {
		r := bulkload.Resources{Memory: c.memory, Workers: 8}
		if got := r.Fitting(c.bytes); got != c.want {
			t.Errorf("%d bytes of memory, and %d for each: %d writers, want %d", c.memory, c.bytes, got, c.want)
		}
	}
}
