package manifest_test

import (
	"errors"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs/local"
)

// TestTablesHaveTheLowestVersion checks that only tables with names that earlier releases refuse have
// NamesVersion.
func TestTablesHaveTheLowestVersion(t *testing.T) {
	for name, want := range map[string]int{"play": 1, "播放_1": 1, "Course viewed": 2, "0": 2, "_": 2} {
		m := &manifest.Table{Layout: "reversed", Family: "d", Files: []manifest.File{}, Loads: []manifest.LoadRef{}}
		m.SetSchema(&behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: name}}})
		if m.Version != want {
			t.Errorf("a table with the behaviour %q has version %d, want %d", name, m.Version, want)
		}
		file := t.TempDir() + "/manifest.json"
		if err := manifest.Write(t.Context(), local.New(), file, m); err != nil {
			t.Fatal(err)
		}
		back := new(manifest.Table)
		if err := manifest.Read(t.Context(), local.New(), file, back); err != nil || back.Schema.Kinds[0].Name != name {
			t.Errorf("%q is read as %+v, %v", name, back.Schema, err)
		}
		if err := manifest.Read(t.Context(), local.New(), file, new(manifest.Loading)); errors.Is(err, manifest.ErrNewer) != (want == 2) {
			t.Errorf("a record of a load of version %d: %v", want, err)
		}
	}
}

// TestRereadsRaiseTheVersion writes a ledger with a reread, and a table with its load. Earlier releases refuse both.
func TestRereadsRaiseTheVersion(t *testing.T) {
	l := &manifest.Load{Number: 1, Inputs: []manifest.Input{{Path: "a.csv", Offsets: []int64{}, Reread: map[string][]string{"play": {"device"}}}}}
	l.SetVersion()
	m := &manifest.Table{Layout: "reversed", Family: "d", Files: []manifest.File{}, Loads: []manifest.LoadRef{manifest.RefOf(l, "loads/000001.json")}}
	m.SetSchema(&behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "play"}}})
	if l.Version != manifest.RereadLedgerVersion || m.Version != manifest.RereadVersion {
		t.Errorf("the ledger has version %d, the table %d", l.Version, m.Version)
	}
	file := t.TempDir() + "/ledger.json"
	if err := manifest.Write(t.Context(), local.New(), file, l); err != nil {
		t.Fatal(err)
	}
	back := new(manifest.Load)
	if err := manifest.Read(t.Context(), local.New(), file, back); err != nil || !back.Rereads() || back.Inputs[0].Offsets == nil {
		t.Errorf("the ledger is read as %+v, %v", back, err)
	}
	l.Inputs[0].Reread = nil
	if l.SetVersion(); l.Version != manifest.Version {
		t.Errorf("a ledger without a reread has version %d", l.Version)
	}
}
