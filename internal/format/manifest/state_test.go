package manifest_test

import (
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/tally"
)

// TestLoadsAtAState finds the number of loads of earlier states, with and without dropped days, and finds
// none for a table that was made again.
func TestLoadsAtAState(t *testing.T) {
	table := func(digests ...tally.Digest) *manifest.Table {
		m := new(manifest.Table)
		for _, d := range digests {
			m.Loads = append(m.Loads, manifest.LoadRef{Tally: tally.Tally{Digest: d}})
		}
		return m
	}
	dropped := table(1, 2)
	dropped.DroppedBefore = new(behaviour.Date(16314))
	m := table(1, 2, 3)
	for _, c := range []struct {
		state string
		loads int
		ok    bool
	}{
		{table().State(), 0, true},
		{table(1).State(), 1, true},
		{dropped.State(), 2, true},
		{m.State(), 3, true},
		{table(1, 3).State(), 0, false},
		{table(1, 2, 3, 4).State(), 0, false},
		{"snapshot nightly of 1409529600000", 0, false},
		{"-1/0000000000000001", 0, false},
		{"", 0, false},
	} {
		if n, ok := m.LoadsAt(c.state); ok != c.ok || ok && n != c.loads {
			t.Errorf("at state %q there were %d loads, %v, want %d, %v", c.state, n, ok, c.loads, c.ok)
		}
	}
	if at := manifest.DroppedAt(dropped.State()); at == nil || *at != *dropped.DroppedBefore {
		t.Errorf("%s has the drop %v, want %s", dropped.State(), at, dropped.DroppedBefore)
	}
	for _, state := range []string{m.State(), "", "1/2/3", "snapshot a/b/2014-09-01x of 1"} {
		if at := manifest.DroppedAt(state); at != nil {
			t.Errorf("%s has the drop %s, want none", state, at)
		}
	}
	for version, want := range map[string]bool{m.State(): true, dropped.State(): true, "snapshot nightly of 1409529600000": false, "": false} {
		if manifest.IsState(version) != want {
			t.Errorf("%q is a state: %v, want %v", version, !want, want)
		}
	}
}
