package convert_test

import (
	"bytes"
	"errors"
	iofs "io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/bulkload/convert"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// TestWhoDoesNotFitIsNamed expects an error that names the user, before a file is written. The
// same directory then works for a layout that all users fit.
func TestWhoDoesNotFitIsNamed(t *testing.T) {
	h := newFixture(t, testworld.World(3, 12))
	h.live(t, h.draw(rand.New(rand.NewPCG(3, 3))), []string{"reversed"})
	_, err := convert.Run(t.Context(), h.conversion("reversed", "fixed", "out"))
	if !errors.Is(err, convert.ErrRequest) || !strings.Contains(err.Error(), "choose another layout") || !strings.Contains(err.Error(), "of user ") {
		t.Errorf("%v, want who does not fit and what to do", err)
	}
	if left := h.lasting(t, "out"); len(left) > 0 {
		t.Errorf("there is %v", left)
	}
	h.convert(t, "reversed", "wide", "out")
	h.Verified(t, "wide", "out")
}

// TestWhatCannotBeMadeIsRefused expects an error, and expects existing files to stay unchanged.
func TestWhatCannotBeMadeIsRefused(t *testing.T) {
	h := small(t)
	h.convert(t, "reversed", "tall", "made")
	testkit.WriteFile(t, filepath.Join(h.Dir, "mine"), "mine")
	h.halfway(t, "reversed", "tall", "half")
	for name, target := range map[string]string{"link": "reversed", "deep": "reversed/loads"} {
		if err := os.Symlink(target, filepath.Join(h.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	before := h.lasting(t, "")
	for name, c := range map[string]struct {
		from, to, out string
		want          error
		says          string
	}{
		"a table":              {"reversed", "wide", "made", iofs.ErrExist, "is a table"},
		"its own place":        {"reversed", "wide", "reversed", convert.ErrRequest, "reversed is the table "},
		"below it":             {"reversed", "wide", "reversed/new", convert.ErrRequest, "new is inside the table "},
		"above it":             {"reversed", "wide", "", convert.ErrRequest, " holds the table "},
		"its place by a link":  {"reversed", "wide", "link", convert.ErrRequest, "link is the table "},
		"below it by a link":   {"reversed", "wide", "logs/../link/new", convert.ErrRequest, "new is inside the table "},
		"up from a link":       {"reversed", "wide", "deep/../new", convert.ErrRequest, "after a symbolic link"},
		"below another table":  {"reversed", "wide", "made/new", convert.ErrRequest, "is inside the table"},
		"files of others":      {"reversed", "wide", "logs", iofs.ErrExist, "and no table"},
		"another's half":       {"reversed", "wide", "half", iofs.ErrExist, "unfinished conversion of"},
		"the same layout":      {"reversed", "reversed", "out", convert.ErrRequest, "has the layout reversed already"},
		"no such layout":       {"reversed", "upside-down", "out", convert.ErrRequest, "there is "},
		"sizes that are wrong": {"reversed", "fixed/99", "out", convert.ErrRequest, "fixed/99"},
		"no table":             {"nowhere", "wide", "out", table.ErrNoTable, "nowhere"},
		"half a table":         {"half", "wide", "out", table.ErrUnfit, "wait for bulkload convert"},
	} {
		_, err := convert.Run(t.Context(), h.conversion(c.from, c.to, c.out))
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v that says %q", name, err, c.want, c.says)
		}
	}
	if !maps.Equal(h.lasting(t, ""), before) {
		t.Error("something was changed")
	}
}

// TestALinkToItselfInThePlaceOfTheManifest expects the next step.
func TestALinkToItselfInThePlaceOfTheManifest(t *testing.T) {
	h := small(t)
	name := filepath.Join(h.Dir, "out", "manifest.json")
	if err := errors.Join(os.Mkdir(filepath.Dir(name), 0o700), os.Symlink("manifest.json", name)); err != nil {
		t.Fatal(err)
	}
	_, err := convert.Run(t.Context(), h.conversion("reversed", "tall", "out"))
	if err == nil || !strings.HasSuffix(err.Error(), "out/manifest.json: too many levels of symbolic links: move it away, then type the same command again") {
		t.Errorf("%v, want what to do with %s", err, name)
	}
	h.remove(t, "out/manifest.json")
	h.convert(t, "reversed", "tall", "out")
}

// halfway starts a conversion and stops it before its end.
func (h *fixture) halfway(t testing.TB, from, to, out string) {
	t.Helper()
	for n := 1; ; n++ {
		faulty := *h
		faulty.FS = dfstest.FaultAt(h.FS, n, dfstest.Dead)
		if _, err := convert.Run(t.Context(), faulty.conversion(from, to, out)); err == nil {
			t.Fatal("it was not to be stopped")
		}
		if done, err := filepath.Glob(filepath.Join(h.Dir, out, "convert", "0*.json")); err != nil {
			t.Fatal(err)
		} else if len(done) > 0 {
			return
		}
	}
}

// TestTheSameWithAnyMemoryAndWorkers expects the same bytes, with any amount of spilled data
// and any number of workers.
func TestTheSameWithAnyMemoryAndWorkers(t *testing.T) {
	h := newFixture(t, testworld.World(7, 40))
	h.live(t, h.draw(rand.New(rand.NewPCG(7, 7))), []string{"game"})
	h.convert(t, "game", "hashed", "want")
	want := h.lasting(t, "want")
	for _, workers := range []int{1, 4} {
		cfg := h.conversion("game", "hashed", "got")
		cfg.Workers, cfg.Memory = workers, int64(workers)*(64<<10)
		if _, err := convert.Run(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(h.lasting(t, "got"), want) {
			t.Errorf("%d workers with little memory make other files", workers)
		}
		h.remove(t, "got")
	}
}

// TestRegionsAreAsManyAsAsked expects the requested number of regions. By default it expects as
// many as in the old table.
func TestRegionsAreAsManyAsAsked(t *testing.T) {
	h := newFixture(t, testworld.World(7, 40))
	h.live(t, h.draw(rand.New(rand.NewPCG(7, 7))), []string{"reversed"})
	for _, to := range []string{"tall", "hashed"} {
		for asked, want := range map[int]int{0: 3, 1: 1, 5: 5} {
			out := place(to, string(rune('0'+asked)))
			cfg := h.conversion("reversed", to, out)
			cfg.Regions = asked
			r, err := convert.Run(t.Context(), cfg)
			if err != nil || r.Regions != want || len(h.Opened(t, out).Manifest().Splits) != want-1 {
				t.Errorf("%s, %d regions asked: %+v, %v", to, asked, r, err)
			}
			h.Verified(t, out, out)
		}
	}
}

// TestDamageIsNotCarriedOver flips a byte of a file, and removes a record from a ledger.
func TestDamageIsNotCarriedOver(t *testing.T) {
	h := small(t)
	spoil := func(name string, change func([]byte) []byte) func() {
		path := filepath.Join(h.Dir, "reversed", name)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		testkit.WriteFile(t, path, string(change(append([]byte(nil), good...))))
		return func() {
			testkit.WriteFile(t, path, string(good))
		}
	}
	m := h.Opened(t, "reversed").Manifest()
	for what, c := range map[string]struct {
		name   string
		change func([]byte) []byte
		says   string
	}{
		"an HFile": {m.Files[0].Name, func(b []byte) []byte { b[40] ^= 1; return b }, m.Files[0].Name},
		"a roll":   {m.Files[0].Roll, func(b []byte) []byte { b[len(b)-1] ^= 1; return b }, m.Files[0].Roll},
		"a ledger": {m.Loads[len(m.Loads)-1].Name, func(b []byte) []byte {
			return []byte(strings.ReplaceAll(string(b), `"records": `, `"records": 1`))
		}, m.Loads[len(m.Loads)-1].Name},
	} {
		mend := spoil(c.name, c.change)
		_, err := convert.Run(t.Context(), h.conversion("reversed", "tall", "out"))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s is damaged: %v, want an error that says %q", what, err, c.says)
		}
		if _, err := h.Store("out").Open(t.Context()); err == nil {
			t.Errorf("%s is damaged, and there is a table", what)
		}
		mend()
		h.remove(t, "out")
	}
	h.convert(t, "reversed", "tall", "out")
	h.Verified(t, "once all is mended", "out")
}

// TestNothingElseIsRemoved converts a table whose manifest names a folder next to the new table
// as its family.
func TestNothingElseIsRemoved(t *testing.T) {
	h := small(t)
	precious := filepath.Join(h.Dir, "precious", "file")
	if err := os.Mkdir(filepath.Dir(precious), 0o777); err != nil {
		t.Fatal(err)
	}
	testkit.WriteFile(t, precious, "kept")
	name := filepath.Join(h.Dir, "reversed", catalog.ManifestName)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ = bytes.Cut(text, []byte(",")) // without its checksum, as after an edit by hand
	text = append([]byte("{"), text...)
	testkit.WriteFile(t, name, string(bytes.Replace(text, []byte(`"family": "d"`), []byte(`"family": "../precious"`), 1)))
	_, err = convert.Run(t.Context(), h.conversion("reversed", "tall", "made"))
	if !errors.Is(err, manifest.ErrDamaged) || !strings.Contains(err.Error(), "family") {
		t.Errorf("%v, want ErrDamaged that names the family", err)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
}
