package load_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"usertrail/internal/extract/extracttest"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/table/catalog"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

func TestMain(m *testing.M) { extracttest.Main(m) }

// killsOf are the moments at which a load of so many commits is killed: each step, the
// first time or, if whole, each time.
func killsOf(commits int, whole bool) []extracttest.Moment {
	all := []extracttest.Moment{{Step: breakpoint.Read, N: 1}, {Step: breakpoint.Read, N: commits}}
	for i, step := range []string{breakpoint.Batch, breakpoint.Segment, breakpoint.Commit, breakpoint.Ledger, breakpoint.Loaded} {
		for n := 1; n <= commits; n++ {
			if whole || n == 1+i%commits {
				all = append(all, extracttest.Moment{Step: step, N: n})
			}
		}
	}
	return all
}

// TestKilledLoadsContinue kills loads with SIGKILL. After each kill the table holds
// some whole days; the same load then ends with the undisturbed one's table.
func TestKilledLoadsContinue(t *testing.T) {
	w := testworld.World(12, 25)
	h := extracttest.Delivered(t, w)
	extracttest.SaveJob(t, h, w.Job())
	e := extracttest.Task{Dir: h.Dir, Table: "clean", Span: w.Span}
	extracttest.RunProcess(t, e)
	want := h.Lasting(t, e.Table)
	var m manifest.Table
	if err := json.Unmarshal([]byte(want[catalog.ManifestName]), &m); err != nil || len(m.Loads) < 2 {
		t.Fatalf("the undisturbed table has %d loads, %v, want several", len(m.Loads), err)
	}
	for i, at := range killsOf(len(m.Loads), testkit.All()) {
		e.Table = fmt.Sprint("killed at ", at)
		extracttest.KillProcess(t, e, at)
		checkPrefix(t, h.Lasting(t, e.Table), want)
		if i%2 == 0 && at.N < len(m.Loads) { // with a load left to be killed
			extracttest.KillProcess(t, e, extracttest.Moment{Step: breakpoint.Ledger, N: 1})
			checkPrefix(t, h.Lasting(t, e.Table), want)
		}
		if err := h.RunTask(t.Context(), e); err != nil {
			t.Fatalf("after a kill at %s: %v", at, err)
		}
		if diff := extracttest.Differ(h.Lasting(t, e.Table), want); diff != "" {
			t.Errorf("killed at %s: in the end %s", at, diff)
		}
	}
}

// checkPrefix checks that a table holds the first loads of another, whole.
func checkPrefix(t *testing.T, got, want map[string]string) {
	t.Helper()
	text, ok := got[catalog.ManifestName]
	if !ok {
		return
	}
	var m, all manifest.Table
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want[catalog.ManifestName]), &all); err != nil {
		t.Fatal(err)
	}
	if len(m.Files) > len(all.Files) || len(m.Loads) > len(all.Loads) {
		t.Fatalf("it has %d files of %d loads, want at most %d of %d", len(m.Files), len(m.Loads), len(all.Files), len(all.Loads))
	}
	for i, f := range m.Files {
		if f.Name != all.Files[i].Name || got[f.Name] != want[f.Name] || got[f.Roll] != want[f.Roll] {
			t.Errorf("%s is not as in the undisturbed table", f.Name)
		}
	}
	for i, l := range m.Loads {
		if !l.Same(all.Loads[i]) || got[l.Name] != want[l.Name] {
			t.Errorf("%s is not as in the undisturbed table", l.Name)
		}
	}
}
