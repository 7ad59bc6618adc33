//go:build linux || darwin

package lineage_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"usertrail/internal/run/lineage"
	"usertrail/internal/test/testkit"
)

// limitFiles limits the size of files that the process writes until restore is called. A write
// beyond the limit is cut, as on a full disk.
func limitFiles(t *testing.T, size int) (restore func()) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	limit := before
	limit.Cur = uint64(size)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Error(err)
		}
	}
}

// TestAFullDiskLeavesWholeLines sends events to a file that has space for a part of an event.
func TestAFullDiskLeavesWholeLines(t *testing.T) {
	name := filepath.Join(t.TempDir(), "events.jsonl")
	send(t, name, lineage.Start)
	whole := readText(t, name)
	for _, text := range []string{"", whole, whole + whole[:40]} {
		testkit.WriteFile(t, name, text)
		restore := limitFiles(t, len(text)+300)
		errs := send(t, name, lineage.Complete)
		restore()
		if !errors.Is(errs[0], syscall.EFBIG) {
			t.Errorf("after %d bytes: %v, want EFBIG", len(text), errs[0])
		}
		if got := readText(t, name); got != text {
			t.Errorf("after %d bytes: the file has %d bytes", len(text), len(got))
		}
	}
}
