package testkit

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// SeedVariable is the environment variable that names the only random world to try.
const SeedVariable = "USERTRAIL_SEED"

// Seeds are the random worlds that a test tries: the first of the known ones. A run that
// covers everything tries all known ones and a new one, which is logged, so that a
// failure can be had again by $USERTRAIL_SEED.
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

// Scratch is a new directory, which is removed at t's end. It is in memory where the
// system has a directory for that: tests of faults sync thousands of files.
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
