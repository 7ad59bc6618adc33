package faults_test

import (
	"testing"

	"usertrail/internal/run/breakpoint"
)

// nothing is the exit status of a load that finds no file to load.
const nothing = 99

// killClients kills each program after a part of its work, and runs the same commands again.
// The files are on a local disk, because HDFS keeps the lock of a dead process for a minute.
func killClients(t *testing.T, r *reference) {
	w := begin(t, r, t.TempDir(), pairs(cut)[0], at(breakpoint.Part, 1), nil)
	for _, p := range w.all() {
		p.crash(t)
	}
	w.checkPartly(t)
	w.load = w.fixture.load(t)
	for i := range w.queries {
		w.extracts[i] = w.extract(t, i, nowhere)
	}
	w.checkEnds(t)
	if got := w.fixture.load(t).wait(t); got.status != nothing {
		t.Errorf("the same load once more ended with status %d, want %d: %s", got.status, nothing, got.stderr)
	}
}
