package testkit

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// SeedVariable is the environment variable that sets the only random world to test.
const SeedVariable = "USERTRAIL_SEED"

// Seeds returns the seeds of the random worlds of a test: the first of the known ones. A run
// that covers everything uses all known ones and a new one, which is logged, so that
// $USERTRAIL_SEED can repeat a failure.
func Seeds(t testing.TB, known ...uint64) []uint64 {
	t.Helper()
	if text := os.Getenv(SeedVariable); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("$%s: %v", SeedVariable, err)
		}
		return []uint64{seed}
	}
	if !All() {
		return known[:1]
	}
	fresh := 1 + rand.Uint64N(1<<32)
	t.Logf("worlds %d, and a new one: %s=%d", known, SeedVariable, fresh)
	return append(known, fresh)
}

// Scratch returns a new directory, which is removed at t's end. It is in memory if the system
// has a directory for that, because tests of faults sync thousands of files.
func Scratch(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "usertrail-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// WriteFile writes a file, and makes its folder if there is none.
func WriteFile(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
