package inspect_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"usertrail/internal/format/manifest"
	"usertrail/internal/inspect"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/test/testkit"
)

// TestDamageNamesTheFile changes the files of a result. Path reports their states, and Damage
// names the first of them.
func TestDamageNamesTheFile(t *testing.T) {
	dir := filepath.Join(makeWorld(t), "out")
	part := filepath.Join(dir, "part-00000.parquet")
	whole, err := os.ReadFile(part)
	if err != nil {
		t.Fatal(err)
	}
	look := func() (inspect.Report, error) {
		r, err := inspect.Path(t.Context(), local.New(), dir, inspect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r, r.Damage()
	}
	for _, x := range []struct {
		what, want string
		change     func() error
		state      manifest.FileState
	}{
		{"missing", "part-00000.parquet: damaged file: it is gone", func() error { return os.Remove(part) }, manifest.Missing},
		{"shorter", "part-00000.parquet: damaged file: its size is not", func() error { return os.WriteFile(part, whole[:len(whole)-1], 0o644) }, manifest.OtherSize},
		{"longer", "part-00000.parquet: damaged file: its size is not", func() error { return os.WriteFile(part, append(whole[:len(whole):len(whole)], 0), 0o644) }, manifest.OtherSize},
		{"another byte", "part-00000.parquet: damaged file: its digest is not", func() error { return os.WriteFile(part, otherByte(whole), 0o644) }, manifest.OtherBytes},
	} {
		if err := x.change(); err != nil {
			t.Fatal(err)
		}
		r, err := look()
		if !errors.Is(err, dfs.ErrDamaged) || !strings.Contains(err.Error(), x.want) || !strings.Contains(err.Error(), "--overwrite") {
			t.Errorf("%s: %v, want %q", x.what, err, x.want)
		}
		if r.Extract.Parts[0].State != x.state {
			t.Errorf("%s: state %q, want %q", x.what, r.Extract.Parts[0].State, x.state)
		}
	}
	// The other part of this result is missing.
	testkit.WriteFile(t, part, string(whole))
	if _, err := look(); !errors.Is(err, dfs.ErrDamaged) || !strings.Contains(err.Error(), "part-00001.parquet: damaged file: it is gone: ") {
		t.Errorf("a result with one part of two: %v", err)
	}
}

// otherByte returns b with another byte in the middle.
func otherByte(b []byte) []byte {
	out := slices.Clone(b)
	out[len(out)/2] ^= 1
	return out
}

// TestATableIsComparedWithItsManifest changes files next to the manifest of a table. Path reports
// the table, and Damage names the first fault.
func TestATableIsComparedWithItsManifest(t *testing.T) {
	dir := filepath.Join(makeWorld(t), "trails")
	hfile, roll, later := filepath.Join(dir, "d/000001-0001.hfile"), filepath.Join(dir, "d/000001-0001.roll"), filepath.Join(dir, "loads/000099.json")
	whole, err := os.ReadFile(hfile)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		want         string
		change, undo func() error
	}{
		{"d/000001-0001.hfile has", func() error { return os.Truncate(hfile, int64(len(whole))-1) }, func() error { return os.WriteFile(hfile, whole, 0o644) }},
		{"d/000001-0001.hfile is missing", func() error { return os.Remove(hfile) }, func() error { return os.WriteFile(hfile, whole, 0o644) }},
		{"d/000001-0001.roll is missing", func() error { return os.Rename(roll, roll+".away") }, func() error { return os.Rename(roll+".away", roll) }},
		{"manifest.json is an older one, which does not name loads/000099.json", func() error { return os.WriteFile(later, []byte("{}"), 0o644) }, func() error { return os.Remove(later) }},
	} {
		if err := x.change(); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{dir, filepath.Join(dir, "manifest.json")} {
			r, err := inspect.Path(t.Context(), local.New(), path, inspect.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Damage(); !errors.Is(err, table.ErrDamaged) || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%s: %v, want %q", path, err, x.want)
			}
			if r.Kind != inspect.KindTable || r.Table.Total.Records == 0 {
				t.Errorf("%s: %s: the report has kind %q and no records", path, x.want, r.Kind)
			}
		}
		if err := x.undo(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUnchangedFilesAreNotDamaged expects nothing from Damage. Path itself refuses other damaged
// files.
func TestUnchangedFilesAreNotDamaged(t *testing.T) {
	dir := makeWorld(t)
	for _, name := range []string{"trails", "trails/manifest.json", "trails/d/000001-0001.hfile", "trails/quarantine/2014-09-01__play.csv.jsonl"} {
		r, err := inspect.Path(t.Context(), local.New(), filepath.Join(dir, name), inspect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Damage(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPipesAreNotRead puts a pipe in the place of a file. To read it would block.
func TestPipesAreNotRead(t *testing.T) {
	dir := makeWorld(t)
	for name, want := range map[string]error{
		"out/part-00000.parquet":     inspect.ErrUnknown,
		"out/_manifest.json":         manifest.ErrDamaged,
		"trails/d/000001-0001.hfile": inspect.ErrUnknown,
		"trails/loads/000001.json":   inspect.ErrUnknown,
		"trails/manifest.json":       dfs.ErrSpecial,
	} {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.Remove(name), syscall.Mkfifo(name, 0o600)); err != nil {
			t.Fatal(err)
		}
		path := name
		if want != inspect.ErrUnknown {
			path = filepath.Dir(name)
		}
		if _, err := inspect.Path(t.Context(), local.New(), path, inspect.Options{}); !errors.Is(err, want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %v that names %s", err, want, name)
		}
	}
}

// TestAPipeInAQuarantineFolderIsNamed puts a pipe next to a quarantine file.
func TestAPipeInAQuarantineFolderIsNamed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "quarantine")
	testkit.WriteFile(t, filepath.Join(dir, "a.jsonl"), `{"path":"a.csv","line":1,"offset":0,"reason":"too long","raw":"x","detail":"too long"}`+"\n")
	name := filepath.Join(dir, "b.jsonl")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := inspect.Path(t.Context(), local.New(), dir, inspect.Options{})
	if !errors.Is(err, inspect.ErrUnknown) || !strings.Contains(err.Error(), name) || !strings.HasSuffix(err.Error(), ": move it away") {
		t.Errorf("%v, want ErrUnknown that names %s and the next step", err, name)
	}
}

// TestFilesOfOthersAreNamed puts files next to the parts of a whole result. Other programs would read them.
func TestFilesOfOthersAreNamed(t *testing.T) {
	dir := filepath.Join(makeWorld(t), "whole")
	if err := dfs.WriteFile(t.Context(), local.New(), filepath.Join(dir, manifest.SuccessName), nil); err != nil {
		t.Fatal(err)
	}
	m := &manifest.Extract{Version: manifest.Version, Table: "trails", Query: manifest.Query{Types: []string{"play"}, Active: "any", Users: manifest.Everyone, Format: "parquet"}}
	if err := manifest.Write(t.Context(), local.New(), filepath.Join(dir, manifest.ExtractName), m); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ add, want string }{
		{"", ""},
		{"part-00000.parquet", dir + ": part-00000.parquet is not of the result: "},
		{"part-00001.parquet", dir + ": part-00000.parquet and 1 more are not of the result: "},
	} {
		if x.add != "" {
			testkit.WriteFile(t, filepath.Join(dir, x.add), "another part")
		}
		r, err := inspect.Path(t.Context(), local.New(), dir, inspect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = r.Damage()
		if x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want+manifest.ForeignStep)) {
			t.Errorf("with %q: %v, want %q", x.add, err, x.want)
		}
	}
}
