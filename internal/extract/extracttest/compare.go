package extracttest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/extract/notfound"
	"usertrail/internal/extract/place"
	"usertrail/internal/table/catalog"
	"usertrail/internal/test/testworld"
)

// Same reports the first difference between a result and the wanted result.
func Same(t testing.TB, what string, got, want testworld.Result) {
	t.Helper()
	if got.Users != want.Users || got.Found != want.Found || got.Active != want.Active {
		t.Errorf("%s: %d users, %d found, %d active; want %d, %d, %d", what, got.Users, got.Found, got.Active, want.Users, want.Found, want.Active)
	}
	for i := range min(len(got.Rows), len(want.Rows)) {
		if g, w := got.Rows[i], want.Rows[i]; g.String() != w.String() {
			t.Fatalf("%s: row %d of %d is\n%s\nwant\n%s", what, i, len(want.Rows), g, w)
		}
	}
	if len(got.Rows) != len(want.Rows) {
		t.Fatalf("%s: %d rows, want %d", what, len(got.Rows), len(want.Rows))
	}
}

// Named returns the files that a table's manifest names and the manifest itself. Exactly
// these files can be read as the table.
func Named(all map[string]string) map[string]string {
	out := maps.Clone(all)
	m := all[catalog.ManifestName]
	maps.DeleteFunc(out, func(name, _ string) bool {
		return name != catalog.ManifestName && !strings.Contains(m, name)
	})
	return out
}

// Differ names a file in which two snapshots differ. It returns "" if they are equal.
func Differ(got, want map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if have, ok := got[name]; !ok {
			return name + " is missing"
		} else if have != want[name] {
			return name + " differs"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			return name + " is there"
		}
	}
	return ""
}

// Leftovers returns the files below dir that are neither of a result in out nor its lock. Hidden files
// count.
func Leftovers(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		base := filepath.Base(name)
		ours := strings.HasPrefix(name, filepath.Join(dir, "out")+"/") &&
			(strings.HasPrefix(base, "part-") || base == place.ManifestName || base == place.SuccessName || base == notfound.FileName)
		if !ours && base != ".out.lock" {
			out = append(out, strings.TrimPrefix(name, dir))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
