package manifest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// written writes a ledger, changed by change, and returns its directory and its entry.
func written(t *testing.T, change func(*manifest.Load)) (dir string, ref *manifest.LoadRef) {
	t.Helper()
	l := &manifest.Load{
		Version: manifest.Version, Number: 7, Job: "j", Inputs: []manifest.Input{{Path: "a.csv", Behaviour: "play"}}, Days: []manifest.Day{},
		Table: &manifest.Table{
			Version: manifest.Version, Layout: "reversed", Family: "d", Schema: &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "play"}}},
			Files: []manifest.File{{Name: "d/a.hfile", Roll: "d/a.roll", Load: 7}}, Loads: []manifest.LoadRef{},
		},
	}
	change(l)
	dir, ref = t.TempDir(), &manifest.LoadRef{Number: 7, Name: "000007.json"}
	if err := manifest.WriteLedger(t.Context(), local.New(), dir, ref, l); err != nil {
		t.Fatal(err)
	}
	return dir, ref
}

// TestTheManifestOfALedgerIsDecodedWhenItIsNeeded reads ledgers with and without a manifest.
func TestTheManifestOfALedgerIsDecodedWhenItIsNeeded(t *testing.T) {
	for what, change := range map[string]func(*manifest.Load){
		"with a manifest": func(*manifest.Load) {},
		"of an older version": func(l *manifest.Load) {
			l.Table = nil
		},
	} {
		dir, ref := written(t, change)
		l, err := manifest.ReadLedger(t.Context(), local.New(), dir, ref)
		if err != nil {
			t.Fatal(err)
		}
		got, err := l.Manifest()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if (got == nil) != (what != "with a manifest") || l.Table != nil || l.Number != 7 || len(l.Inputs) != 1 || l.Inputs[0].Path != "a.csv" {
			t.Errorf("%s: the ledger is %+v with the manifest %+v", what, l, got)
		}
		if got != nil && (got.Layout != "reversed" || got.Schema.Kinds[0].Name != "play" || len(got.Files) != 1 || got.Files[0].Name != "d/a.hfile") {
			t.Errorf("%s: the manifest is %+v", what, got)
		}
		if unread, err := l.UnreadOf(&behaviour.Schema{Kinds: []behaviour.Kind{{ID: 1, Name: "play", Fields: []behaviour.Field{{Name: "x"}}}}}); err != nil || (unread[0] != nil) != (got != nil) {
			t.Errorf("%s: the fields that were not read are %v, %v", what, unread, err)
		}
	}
}

// TestADamagedManifestOfALedgerIsRefused changes the manifest in a ledger. A changed byte is noticed when the
// ledger is read; a name that leads out of the table, when the manifest is needed.
func TestADamagedManifestOfALedgerIsRefused(t *testing.T) {
	dir, ref := written(t, func(*manifest.Load) {})
	name := filepath.Join(dir, ref.Name)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	testkit.WriteFile(t, name, strings.Replace(string(text), "reversed", "reverseD", 1))
	if _, err := manifest.ReadLedger(t.Context(), local.New(), dir, ref); !errors.Is(err, manifest.ErrDamaged) {
		t.Errorf("a changed manifest: %v, want ErrDamaged", err)
	}
	for what, change := range map[string]func(*manifest.Load){
		"a family outside": func(l *manifest.Load) { l.Table.Family = "../precious" },
		"a file outside":   func(l *manifest.Load) { l.Table.Files[0].Name = "../precious" },
	} {
		dir, ref := written(t, change)
		l, err := manifest.ReadLedger(t.Context(), local.New(), dir, ref)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := l.Manifest(); got != nil || !errors.Is(err, manifest.ErrDamaged) || !strings.Contains(err.Error(), "load 7") {
			t.Errorf("%s: %+v, %v; want ErrDamaged and the load", what, got, err)
		}
		if err := l.SetUnread(&behaviour.Schema{}); !errors.Is(err, manifest.ErrDamaged) {
			t.Errorf("%s: SetUnread gives %v, want ErrDamaged", what, err)
		}
	}
}
