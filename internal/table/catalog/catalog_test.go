package catalog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/tally"
	"usertrail/internal/test/testkit"
)

func newCatalog(t *testing.T, dir string) *catalog.Catalog {
	t.Helper()
	c, err := catalog.New(local.New(), dir, &manifest.Table{
		Layout: "reversed", Family: "d",
		Schema: &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "login"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestALayoutIsKeptByItsName stores layouts with sizes, and checks the error of an unknown
// layout.
func TestALayoutIsKeptByItsName(t *testing.T) {
	dir := t.TempDir()
	schema := &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "login"}}}
	c, err := catalog.New(local.New(), dir, &manifest.Table{Layout: "fixed/8", Family: "d", Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Commit(t.Context(), &manifest.Load{Version: manifest.Version, Number: 1}, nil); err != nil {
		t.Fatal(err)
	}
	again, err := catalog.Open(t.Context(), local.New(), dir)
	if err != nil || again.Layout().Name() != "fixed/8" {
		t.Fatalf("opened again: %+v, %v; want the layout fixed/8", again, err)
	}

	name := filepath.Join(dir, catalog.ManifestName)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`(?m)^ "sha256": .*\n`).ReplaceAll(text, nil) // as a person edits it
	testkit.WriteFile(t, name, string(bytes.Replace(text, []byte("fixed/8"), []byte("unheard-of"), 1)))
	_, err = catalog.Open(t.Context(), local.New(), dir)
	if !errors.Is(err, table.ErrUnfit) || !strings.Contains(err.Error(), `"unheard-of" is not known; there is `) || !strings.Contains(err.Error(), dir) {
		t.Errorf("%v, want ErrUnfit that names the table and the layout", err)
	}
}

func TestLoadsAddUp(t *testing.T) {
	dir := t.TempDir()
	c := newCatalog(t, dir)
	for n := 1; n <= 3; n++ {
		load := &manifest.Load{
			Version: manifest.Version, Number: n,
			Inputs: []manifest.Input{{Path: "a", Counts: manifest.Counts{Read: 5, Loaded: 4}}, {Path: "b", Counts: manifest.Counts{Read: 2, Loaded: 2}}},
			Days:   []manifest.Day{{Records: 6, Tally: tally.Tally{Cells: 10, Bytes: 100, Digest: 7}}},
		}
		if err := c.Commit(t.Context(), load, nil); err != nil {
			t.Fatal(err)
		}
	}
	again, err := catalog.Open(t.Context(), local.New(), dir)
	if err != nil {
		t.Fatal(err)
	}
	m := again.Manifest()
	if m.Loads[2].Records != 6 || m.Total() != (tally.Tally{Cells: 30, Bytes: 300, Digest: 21}) || again.NextLoad() != 4 {
		t.Errorf("after three loads: %+v, next %d", m.Loads, again.NextLoad())
	}
}

// TestBegunIsWhatNoLedgerHolds runs loads of puts that end, loads that are killed, and loads
// that repeat the files of a killed load.
func TestBegunIsWhatNoLedgerHolds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "t")
	inputs := func(paths ...string) []manifest.Input {
		var out []manifest.Input
		for i, p := range paths {
			out = append(out, manifest.Input{Path: p, Number: uint32(i + 1), SHA256: "sum of " + p})
		}
		return out
	}
	begun := filepath.Join(dir, "begun.json")
	for _, step := range []struct {
		what string
		do   func(*catalog.Catalog, context.Context) error
		want []string
	}{
		{"nothing", func(*catalog.Catalog, context.Context) error { return nil }, nil},
		{"a finish without a begin", func(c *catalog.Catalog, ctx context.Context) error { return c.Finish(ctx, inputs("a")) }, nil},
		{"a begin of nothing", func(c *catalog.Catalog, ctx context.Context) error { return c.Leave(ctx, new(manifest.Begun)) }, nil},
		{"a begin", func(c *catalog.Catalog, ctx context.Context) error {
			return c.Leave(ctx, &manifest.Begun{Inputs: inputs("a", "b")})
		}, []string{"a", "b"}},
		{"another, of one of them too", func(c *catalog.Catalog, ctx context.Context) error {
			return c.Leave(ctx, &manifest.Begun{Inputs: inputs("b", "c")})
		}, []string{"a", "b", "c"}},
		{"a finish", func(c *catalog.Catalog, ctx context.Context) error { return c.Finish(ctx, inputs("b", "c", "d")) }, []string{"a"}},
		{"the last finish", func(c *catalog.Catalog, ctx context.Context) error { return c.Finish(ctx, inputs("a")) }, nil},
	} {
		c := newCatalog(t, dir)
		if err := step.do(c, t.Context()); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		got, err := c.Begun(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		if _, err := os.Stat(begun); (err == nil) != (len(step.want) > 0) {
			t.Errorf("after %s: begun.json is there: %t", step.what, err == nil)
		}
		var paths []string
		for _, in := range got {
			if in.SHA256 != "sum of "+in.Path {
				t.Errorf("%s: %s has the digest %q", step.what, in.Path, in.SHA256)
			}
			paths = append(paths, in.Path)
		}
		if !slices.Equal(paths, step.want) {
			t.Errorf("after %s %q are begun, want %q", step.what, paths, step.want)
		}
	}
}

func TestQuarantineFilesLieInOneDirectory(t *testing.T) {
	if got, want := catalog.Quarantine("trails", "2014-09-01/play.csv"), "trails/quarantine/2014-09-01__play.csv.jsonl"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestAPlanIsInItsFolder has a plan with the ID of another plan. Without the check, the folder
// of the other plan would be removed with it.
func TestAPlanIsInItsFolder(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "trails")
	precious := filepath.Join(root, "precious", "file")
	testkit.WriteFile(t, precious, "kept")
	c := newCatalog(t, dir)
	folder := catalog.Folder{FS: local.New(), Plans: catalog.Plans(dir), ID: "5d0c"}
	if err := folder.Begin(t.Context(), &manifest.Plan{Pieces: 1}); err != nil {
		t.Fatal(err)
	}
	if all, err := c.Plans(t.Context()); err != nil || len(all) != 1 {
		t.Fatalf("%v, %v; want one plan", all, err)
	}
	for _, id := range []string{"../../precious", "..", "", "/", "other"} {
		name := filepath.Join(dir, "plans", "5d0c", "plan.json")
		testkit.WriteFile(t, name, string(fmt.Appendf(nil, `{"version":1,"plan":%q}`, id)))
		if all, err := c.Plans(t.Context()); !errors.Is(err, manifest.ErrDamaged) || !strings.Contains(err.Error(), "5d0c") {
			t.Errorf("plan %q: %v, %v; want ErrDamaged that names the folder", id, all, err)
		}
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
}

// TestForeignFilesAreNoReports puts files beside the reports of a plan whose names are similar to the names of reports.
func TestForeignFilesAreNoReports(t *testing.T) {
	plans := t.TempDir()
	for _, name := range []string{"00002.json", "100000.json", "000002.json", "99999999999999999999.json", "2.json", "00003.jsonl"} {
		testkit.WriteFile(t, filepath.Join(plans, "5d0c", name), "{}")
	}
	folder := catalog.Folder{FS: local.New(), Plans: plans, ID: "5d0c"}
	if got, err := folder.Reported(t.Context()); err != nil || !slices.Equal(got, []int{2, 100000}) {
		t.Errorf("%v, %v; want 2 and 100000", got, err)
	}
}

// TestQuarantineNamesDiffer makes the names of all short paths of some signs, and of long ones.
func TestQuarantineNamesDiffer(t *testing.T) {
	paths := []string{""}
	for n := 0; n < len(paths) && len(paths[n]) < 6; n++ {
		for _, sign := range []string{"a", "_", "/", "%", "~", "5F"} {
			paths = append(paths, paths[n]+sign)
		}
	}
	long := strings.Repeat("folder/", 60)
	paths = append(paths, long+"a", long+"b", long+"a_", strings.Repeat("ü", 150)+"a", strings.Repeat("ü", 150)+"b")
	have := map[string]string{}
	for _, path := range paths {
		name := catalog.Quarantine("trails", path)
		base := dfs.Base(name)
		if dfs.Dir(name) != "trails/quarantine" || len(base) > 220 || !utf8.ValidString(base) {
			t.Fatalf("%q has the quarantine file %q", path, name)
		}
		if other, ok := have[name]; ok && other != path {
			t.Fatalf("%q and %q have the quarantine file %q", path, other, name)
		}
		have[name] = path
	}
	if got := catalog.Quarantine("trails", "2014-09-01/play_list.csv"); got != "trails/quarantine/2014-09-01__play_list.csv.jsonl" {
		t.Errorf("a name without need of it was changed to %s", got)
	}
}
