package convert_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/bulkload/convert"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/files"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// small returns a fixture with a table of three loads. After the second load its files were
// merged.
func small(t testing.TB) *fixture {
	t.Helper()
	h := newFixture(t, testworld.Numbered(5, 2))
	h.Job.Table.Regions = 2
	p := h.draw(rand.New(rand.NewPCG(5, 5)))
	p.compact = []bool{false, true, false, false}
	h.live(t, p, []string{"reversed"})
	return h
}

// TestConversionSurvivesAnyFault fails the first file operation, then the second, and so on, in
// every mode. After each fault, the error names what failed, and the new table is either
// invisible or complete. The same conversion then ends as if no fault had happened. The old
// table is unchanged.
func TestConversionSurvivesAnyFault(t *testing.T) {
	h := small(t)
	source := h.lasting(t, "reversed")
	for _, to := range []string{"wide", "hashed"} { // one of the layouts sorts its roll
		h.convert(t, "reversed", to, "clean")
		want := h.lasting(t, "clean")
		t.Run(to, func(t *testing.T) {
			dfstest.Sweep(t, dfstest.Modes, 30, func(t *testing.T, n int, mode dfstest.Mode) bool {
				h.remove(t, "out")
				return h.withFault(t, to, n, mode, want)
			})
		})
		if !maps.Equal(h.lasting(t, "reversed"), source) {
			t.Error("the table it was made of is not as it was")
		}
		h.remove(t, "clean")
	}
}

func (h *fixture) remove(t testing.TB, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(h.Dir, name)); err != nil {
		t.Fatal(err)
	}
}

// withFault converts with a fault in operation n, and then without a fault. It returns true if
// the conversion made fewer than n operations.
func (h *fixture) withFault(t *testing.T, to string, n int, mode dfstest.Mode, want map[string]string) (past bool) {
	t.Helper()
	fault := dfstest.FaultAt(h.FS, n, mode)
	faulty := *h
	faulty.FS = fault
	_, err := convert.Run(t.Context(), faulty.conversion("reversed", to, "out"))
	past = fault.Count() <= n
	if past && err != nil {
		t.Fatalf("fault at %d was not reached, and yet: %v", n, err)
	}
	if err != nil && !errors.Is(err, dfstest.ErrInjected) {
		t.Fatalf("fault at %d: lost the cause: %v", n, err)
	}
	made, open := h.Store("out").Open(t.Context())
	switch {
	case open == nil:
		h.Verified(t, fmt.Sprintf("fault at %d (%v)", n, err), "out")
		if err := made.Close(); err != nil {
			t.Error(err)
		}
	case !errors.Is(open, table.ErrNoTable) && !errors.Is(open, table.ErrUnfit):
		t.Fatalf("fault at %d (%v): to be seen is %v", n, err, open)
	}
	_, again := convert.Run(t.Context(), h.conversion("reversed", to, "out"))
	if again != nil && (open != nil || !errors.Is(again, iofs.ErrExist)) {
		t.Fatalf("fault at %d (%v): again: %v", n, err, again)
	}
	if got := h.lasting(t, "out"); !maps.Equal(got, want) {
		t.Fatalf("fault at %d (%v): in the end there are other files: %d, want %d", n, err, len(got), len(want))
	}
	if _, err := convert.Run(t.Context(), h.conversion("reversed", to, "out")); !errors.Is(err, iofs.ErrExist) {
		t.Errorf("fault at %d: the third conversion returns %v, want that the target exists", n, err)
	}
	return past
}

// TestAConversionContinues stops a conversion after some of its loads. The same conversion then
// makes only the other loads. If the old table got a new load meanwhile, the conversion starts
// from the beginning.
func TestAConversionContinues(t *testing.T) {
	h := small(t)
	clean := h.convert(t, "reversed", "tall", "clean")
	h.halfway(t, "reversed", "tall", "out")
	for what, open := range map[string]func() error{
		"open": func() error { _, err := files.Open(t.Context(), h.FS, dfs.Join(h.Tables, "out")); return err },
		"load": func() error { _, err := h.loads(t.Context(), "out", "tall"); return err },
	} {
		if err := open(); !errors.Is(err, table.ErrUnfit) {
			t.Errorf("%s of half a table: %v, want ErrUnfit", what, err)
		}
	}
	r := h.convert(t, "reversed", "tall", "out")
	if r.Already == 0 || r.Already >= r.Files || r.Records != clean.Records || r.Read >= clean.Read {
		t.Errorf("the continued conversion did %+v, a whole one does %+v", r, clean)
	}
	if !maps.Equal(h.lasting(t, "out"), h.lasting(t, "clean")) {
		t.Error("it ended with other files")
	}

	h.remove(t, "out")
	h.halfway(t, "reversed", "tall", "out")
	h.Deliver(t, h.w.Files...)
	h.load(t, "reversed", "reversed")
	after := h.convert(t, "reversed", "tall", "out")
	if after.Already > 0 || after.Loads != clean.Loads+1 {
		t.Errorf("after one more night %+v, before it %+v", after, clean)
	}
	h.Verified(t, "after one more night", "out")
}

// finished returns the name of a file of the first part that a stopped conversion has finished.
func (h *fixture) finished(t testing.TB, out, ending string) string {
	t.Helper()
	reports, err := filepath.Glob(filepath.Join(h.Dir, out, "convert", "0*.json"))
	if err != nil || len(reports) == 0 {
		t.Fatal(reports, err)
	}
	load := strings.TrimSuffix(filepath.Base(reports[0]), ".json")
	all, err := filepath.Glob(filepath.Join(h.Dir, out, "d", load+"-*"+ending))
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	return filepath.Join("d", filepath.Base(all[0]))
}

// TestADamagedPartIsConvertedAgain stops a conversion, and damages a file of a finished part. The same conversion makes the part again, and
// the new table has the same bytes.
func TestADamagedPartIsConvertedAgain(t *testing.T) {
	h := small(t)
	h.convert(t, "reversed", "tall", "clean")
	want := h.lasting(t, "clean")
	h.halfway(t, "reversed", "tall", "half")
	text := func(change func(b []byte) []byte) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			testkit.WriteFile(t, path, string(change(b)))
		}
	}
	for what, spoil := range map[string]func(t *testing.T, path string){
		"whole":   func(*testing.T, string) {},
		"missing": func(*testing.T, string) {},
		"cut":     text(func(b []byte) []byte { return b[:len(b)/2] }),
		"changed": text(func(b []byte) []byte { b[len(b)/2] ^= 1; return b }),
		"a link to itself": func(t *testing.T, path string) {
			if err := errors.Join(os.Remove(path), os.Symlink(filepath.Base(path), path)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		for _, ending := range []string{".hfile", ".roll"} {
			h.remove(t, "out")
			if err := os.CopyFS(filepath.Join(h.Dir, "out"), os.DirFS(filepath.Join(h.Dir, "half"))); err != nil {
				t.Fatal(err)
			}
			name := h.finished(t, "half", ending)
			spoil(t, filepath.Join(h.Dir, "out", name))
			if what == "missing" {
				h.remove(t, filepath.Join("out", name))
			}
			var log bytes.Buffer
			cfg := h.conversion("reversed", "tall", "out")
			cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
			r, err := convert.Run(t.Context(), cfg)
			if err != nil || (r.Already > 0) != (what == "whole") {
				t.Errorf("%s: %s: %+v, %v", name, what, r, err)
			}
			if warned := strings.Contains(log.String(), "level=WARN") && strings.Contains(log.String(), name); warned != (what != "whole") {
				t.Errorf("%s: %s: the log is\n%s", name, what, log.String())
			}
			if !maps.Equal(h.lasting(t, "out"), want) {
				t.Errorf("%s: %s: the new table has other files", name, what)
			}
		}
	}
}

// TestALinkToNothingIsNoReport has such a link in the place of the report of a finished part. The conversion makes the part again.
func TestALinkToNothingIsNoReport(t *testing.T) {
	h := small(t)
	h.convert(t, "reversed", "tall", "clean")
	h.halfway(t, "reversed", "tall", "out")
	reports, err := filepath.Glob(filepath.Join(h.Dir, "out", "convert", "0*.json"))
	if err != nil || len(reports) == 0 {
		t.Fatal(reports, err)
	}
	if err := errors.Join(os.Remove(reports[0]), os.Symlink("nothing", reports[0])); err != nil {
		t.Fatal(err)
	}
	h.convert(t, "reversed", "tall", "out")
	if !maps.Equal(h.lasting(t, "out"), h.lasting(t, "clean")) {
		t.Error("it ended with other files")
	}
}

// TestADirectoryInThePlaceOfAPartIsNamed has a directory in the place of an HFile of a finished part.
func TestADirectoryInThePlaceOfAPartIsNamed(t *testing.T) {
	h := small(t)
	h.halfway(t, "reversed", "tall", "out")
	name := filepath.Join("out", h.finished(t, "out", ".hfile"))
	h.remove(t, name)
	if err := os.Mkdir(filepath.Join(h.Dir, name), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := convert.Run(t.Context(), h.conversion("reversed", "tall", "out"))
	if err == nil || !strings.HasSuffix(err.Error(), "a directory is in its place: remove it, then type the same command again") || !strings.Contains(err.Error(), name) {
		t.Errorf("%v, want what to do with %s", err, name)
	}
	h.remove(t, name)
	h.convert(t, "reversed", "tall", "out")
	h.Verified(t, "without the directory", "out")
}

// TestAMadeTableOfAnEarlierState has the workshop of a conversion that was killed after it had made the table. The same conversion has
// nothing left to make. If the old table has changed, or with another number of regions, it is refused.
func TestAMadeTableOfAnEarlierState(t *testing.T) {
	h := small(t)
	h.halfway(t, "reversed", "tall", "out")
	killed := filepath.Join(h.Dir, "killed")
	if err := os.CopyFS(killed, os.DirFS(filepath.Join(h.Dir, "out", "convert"))); err != nil {
		t.Fatal(err)
	}
	made := h.convert(t, "reversed", "tall", "out")
	killedAgain := func() {
		if err := os.CopyFS(filepath.Join(h.Dir, "out", "convert"), os.DirFS(killed)); err != nil {
			t.Fatal(err)
		}
	}
	killedAgain()
	if r := h.convert(t, "reversed", "tall", "out"); r.Records != made.Records || r.Already != made.Files {
		t.Errorf("the same conversion did %+v, want that all of %+v is there", r, made)
	}
	killedAgain()
	want := h.lasting(t, "out")
	refused := func(what string, cfg convert.Config) {
		t.Helper()
		if _, err := convert.Run(t.Context(), cfg); !errors.Is(err, iofs.ErrExist) || !strings.Contains(err.Error(), "an earlier state of") {
			t.Errorf("%s: %v, want that the table is of an earlier state", what, err)
		}
		if !maps.Equal(h.lasting(t, "out"), want) {
			t.Errorf("%s: something was changed", what)
		}
	}
	regions := h.conversion("reversed", "tall", "out")
	regions.Regions = 3
	refused("other regions", regions)
	h.Deliver(t, h.w.Files...)
	h.load(t, "reversed", "reversed")
	refused("one more night", h.conversion("reversed", "tall", "out"))
}

// TestAConvertedTableWithoutItsManifestIsLost has the workshop of a conversion that was killed after it had made the table. Then nights are
// loaded into the table, and its manifest is lost. No conversion removes these nights.
func TestAConvertedTableWithoutItsManifestIsLost(t *testing.T) {
	h := small(t)
	h.halfway(t, "reversed", "tall", "half")
	h.convert(t, "reversed", "tall", "out")
	h.Deliver(t, h.w.Files...)
	if r := h.load(t, "out", "tall"); r.Loaded == 0 {
		t.Fatal("no night was loaded")
	}
	h.load(t, "reversed", "reversed") // the old table has changed, too
	want := h.lasting(t, "out")
	if err := os.CopyFS(filepath.Join(h.Dir, "out", "convert"), os.DirFS(filepath.Join(h.Dir, "half", "convert"))); err != nil {
		t.Fatal(err)
	}
	h.remove(t, "out/manifest.json")
	for _, damaged := range []bool{false, true} {
		if damaged {
			testkit.WriteFile(t, filepath.Join(h.Dir, "out", "convert", "plan.json"), "{")
		}
		before := h.lasting(t, "out")
		_, opens := h.Store("out").Open(t.Context())
		_, loads := h.loads(t.Context(), "out", "tall")
		_, converts := convert.Run(t.Context(), h.conversion("reversed", "tall", "out"))
		_, others := convert.Run(t.Context(), h.conversion("reversed", "wide", "out"))
		for what, err := range map[string]error{"open": opens, "load": loads, "convert": converts, "convert to another layout": others} {
			if !errors.Is(err, table.ErrNoManifest) || !strings.Contains(err.Error(), "let bulkload rebuild make it again") {
				t.Errorf("%s, damaged: %t: %v, want that the manifest is missing", what, damaged, err)
			}
		}
		if !maps.Equal(h.lasting(t, "out"), before) {
			t.Errorf("damaged: %t: something was changed", damaged)
		}
	}
	if _, err := catalog.Rebuild(t.Context(), h.FS, filepath.Join(h.Dir, "out"), false); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"tall", "wide"} {
		if _, err := convert.Run(t.Context(), h.conversion("reversed", to, "out")); !errors.Is(err, iofs.ErrExist) || !strings.Contains(err.Error(), "is a table") {
			t.Errorf("to %s: %v, want that the table exists", to, err)
		}
	}
	h.load(t, "out", "tall")
	got := h.lasting(t, "out")
	for _, all := range []map[string]string{got, want} {
		delete(all, "manifest.json") // it may have another order
	}
	if !maps.Equal(got, want) {
		t.Error("the rebuilt table has other files")
	}
	h.Verified(t, "rebuilt", "out")
}

// TestAConversionEndsWithItsContext expects a canceled conversion to leave no visible table.
func TestAConversionEndsWithItsContext(t *testing.T) {
	h := small(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("stopped")
	cancel(why)
	if _, err := convert.Run(ctx, h.conversion("reversed", "tall", "out")); !errors.Is(err, why) && !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want why it was stopped", err)
	}
	if _, err := files.Open(t.Context(), h.FS, dfs.Join(h.Tables, "out")); err == nil {
		t.Error("half a table can be seen")
	}
}
