package faults_test

import (
	"slices"
	"testing"
)

// killClients kills the programs themselves, and types the same commands again. The
// files are on a disk: on HDFS a lock falls only a minute after its holder's death.
func killClients(t *testing.T, r *reference) {
	w := begin(t, r, t.TempDir(), questions()[:2], nil)
	all := append(slices.Clone(w.extracts), w.load)
	goOn(t, all...)
	for _, p := range all {
		p.kill()
		if got := p.wait(t).status; got != -1 {
			t.Errorf("%s ended with status %d before it was killed", p.name, got)
		}
	}
	if w.holds(t, last(t)) {
		t.Error("the load was done when it was killed")
	}
	w.load = w.house.load(t)
	for i := range w.questions {
		w.extracts[i] = w.extract(t, i)
	}
	w.checkEnds(t)
	const nothing = 99
	if got := w.house.load(t).wait(t); got.status != nothing {
		t.Errorf("the same load once more ended with status %d, want %d: %s", got.status, nothing, got.stderr)
	}
}
