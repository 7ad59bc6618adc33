package files_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/files"
	"usertrail/internal/table/tabletest"
	"usertrail/internal/test/testkit"
)

func TestFilesAreATable(t *testing.T) {
	tabletest.Run(t, tabletest.Files, func(t *testing.T, _ layout.Layout) table.Store {
		return files.Store{FS: local.New(), Dir: filepath.Join(t.TempDir(), "trails")}
	})
}

func points(p split.Points) func(context.Context) (split.Points, error) {
	return func(context.Context) (split.Points, error) { return p, nil }
}

func plan() table.Plan {
	return table.Plan{
		Layout: "reversed", Compression: "zstd",
		Schema: &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "login"}}},
		Splits: points(nil),
	}
}

func TestWrongPlansAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(*table.Plan){
		"no schema":       func(p *table.Plan) { p.Schema = nil },
		"empty schema":    func(p *table.Plan) { p.Schema = &behaviour.Schema{Kinds: []behaviour.Kind{{}}} },
		"unknown layout":  func(p *table.Plan) { p.Layout = "upside-down" },
		"points descend":  func(p *table.Plan) { p.Splits = points(split.Points{[]byte("b"), []byte("a")}) },
		"an empty point":  func(p *table.Plan) { p.Splits = points(split.Points{{}}) },
		"points repeated": func(p *table.Plan) { p.Splits = points(split.Points{[]byte("a"), []byte("a")}) },
	} {
		p := plan()
		spoil(&p)
		if _, err := files.New(t.Context(), local.New(), "trails", p); err == nil || !strings.Contains(err.Error(), "trails") {
			t.Errorf("%s: %v, want an error that names the table", name, err)
		}
	}
}

// TestDamagedManifestsAreRefused damages a manifest. The errors distinguish a missing manifest
// from a damaged one.
func TestDamagedManifestsAreRefused(t *testing.T) {
	dir := t.TempDir()
	made, err := files.New(t.Context(), local.New(), dir, plan())
	if err != nil {
		t.Fatal(err)
	}
	if err := made.TakeIn(t.Context(), &manifest.Load{Version: manifest.Version, Number: 1}, nil); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, catalog.ManifestName)
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := files.Open(t.Context(), local.New(), dir); err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{
		"nothing":       "",
		"half of it":    string(good[:len(good)/2]),
		"another digit": strings.Replace(string(good), `"version": 1`, `"version": 0`, 1),
		"no schema":     `{"version": 1, "layout": "reversed"}`,
	} {
		testkit.WriteFile(t, name, text)
		want := manifest.ErrDamaged
		if what == "another version" {
			want = manifest.ErrNewer
		}
		if _, err := files.Open(t.Context(), local.New(), dir); !errors.Is(err, want) || errors.Is(err, table.ErrNoTable) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	newer := strings.Replace(string(good), `"version": 1`, `"version": 99`, 1)
	testkit.WriteFile(t, name, newer)
	if _, err := files.Open(t.Context(), local.New(), dir); !errors.Is(err, manifest.ErrNewer) || errors.Is(err, manifest.ErrDamaged) {
		t.Errorf("a manifest of version 99: %v, want ErrNewer", err)
	}
}

// TestACatalogIsNoTableOfFiles opens the catalog of a table in HBase. A load into it would not be in HBase.
func TestACatalogIsNoTableOfFiles(t *testing.T) {
	const address = "hbase://zk:2181/app:trails"
	dir := t.TempDir()
	c, err := catalog.New(local.New(), dir, &manifest.Table{
		Address: address, Layout: "reversed", Family: "d", Compression: "zstd", Schema: plan().Schema,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Commit(t.Context(), &manifest.Load{Version: manifest.Version, Number: 1}, nil); err != nil {
		t.Fatal(err)
	}
	_, err = files.Open(t.Context(), local.New(), dir)
	if !errors.Is(err, table.ErrUnfit) || !strings.Contains(err.Error(), "the catalog of "+address) || errors.Is(err, table.ErrNoTable) {
		t.Errorf("%v, want an error that names the table in HBase", err)
	}
}

// TestAStagedFileNeverReplacesAnother stages one name twice, as a run does that was frozen
// and has lost the lock. A piece may be done again.
func TestAStagedFileNeverReplacesAnother(t *testing.T) {
	dir := t.TempDir()
	made, err := files.New(t.Context(), local.New(), dir, plan())
	if err != nil {
		t.Fatal(err)
	}
	stage := func(name, text string) error {
		p, err := made.Stage(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Abort()
		if _, err := p.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return p.Commit()
	}
	for name, again := range map[string]bool{made.FileName(1, 0) + ".hfile": false, catalog.PieceName("1234", 0, 0) + ".hfile": true} {
		if err := stage(name, "first"); err != nil {
			t.Fatal(err)
		}
		want := "first"
		err := stage(name, "second")
		if again {
			want = "second"
		}
		if again != (err == nil) || !again && (!errors.Is(err, dfs.ErrLockLost) || errors.Is(err, os.ErrExist) || !strings.Contains(err.Error(), name)) {
			t.Errorf("%s again: %v", name, err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != want {
			t.Errorf("%s holds %q, %v; want %q", name, b, err, want)
		}
	}
}
