package catalog_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"usertrail/internal/format/manifest"
	"usertrail/internal/run/exit"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/precheck"
)

// TestDamagedRecordsOfALiveTableAreRefused changes each byte of the files that only the catalog of a
// table in HBase has. If Read succeeds, the content is the same.
func TestDamagedRecordsOfALiveTableAreRefused(t *testing.T) {
	dir, _ := loadedTable(t)
	c, err := catalog.Open(t.Context(), local.New(), dir)
	if err != nil {
		t.Fatal(err)
	}
	inputs := []manifest.Input{{Path: "2014-09-01/play.csv", Number: 17, Size: 4711, Job: "5d0c"}}
	if err := c.Leave(t.Context(), &manifest.Begun{Inputs: inputs}); err != nil {
		t.Fatal(err)
	}
	load := &manifest.Load{Version: manifest.Version, Number: 4, Inputs: inputs}
	if err := c.SetHandover(t.Context(), &manifest.Handover{Load: load, Table: c.Manifest(), Staging: "staging/4711"}); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func() (any, error){
		"begun.json":    func() (any, error) { return c.Left(t.Context()) },
		"handover.json": func() (any, error) { return c.Handover(t.Context()) },
	} {
		good := readText(t, dir, name)
		want := said(t, read)
		for i := range good {
			bad := []byte(good)
			bad[i] ^= 1
			writeText(t, dir, name, string(bad))
			got, err := read()
			if errors.Is(err, manifest.ErrDamaged) {
				continue
			}
			if text, fail := json.Marshal(got); err != nil || fail != nil || string(text) != want {
				t.Errorf("%s: byte %d is %q instead of %q: %s, %v", name, i, bad[i], good[i], text, err)
			}
		}
		for _, cut := range []string{"", good[:len(good)/2]} {
			writeText(t, dir, name, cut)
			if _, err := read(); !errors.Is(err, manifest.ErrDamaged) {
				t.Errorf("%s, cut to %d bytes: %v, want ErrDamaged", name, len(cut), err)
			}
		}
		writeText(t, dir, name, good)
	}
}

// TestADamagedHandoverIsNamed has an HFile of a load that the manifest does not have, or its ledger. Every command then reads the handover, and
// cannot.
func TestADamagedHandoverIsNamed(t *testing.T) {
	for what, spoil := range map[string]func(t *testing.T, name string) error{
		"empty":          func(_ *testing.T, name string) error { return os.WriteFile(name, nil, 0o600) },
		"no load":        func(_ *testing.T, name string) error { return os.WriteFile(name, []byte(`{"version": 1}`), 0o600) },
		"directory":      func(_ *testing.T, name string) error { return os.Mkdir(name, 0o700) },
		"link to itself": func(_ *testing.T, name string) error { return os.Symlink("handover.json", name) },
	} {
		for _, ledger := range []bool{false, true} {
			dir, manifests := loadedTable(t)
			writeText(t, dir, "d/000004-0000.hfile", "cell")
			if ledger {
				writeText(t, dir, "manifest.json", manifests[1])
			}
			if err := spoil(t, filepath.Join(dir, "handover.json")); err != nil {
				t.Fatal(err)
			}
			_, err := catalog.Open(t.Context(), local.New(), dir)
			if !errors.Is(err, manifest.ErrDamaged) || !strings.Contains(err.Error(), "handover.json: ") || !strings.HasSuffix(err.Error(), ": put it back from a copy of the catalog; or remove it, and run the load or the piece that was killed again") {
				t.Errorf("%s, an older manifest: %t: %v", what, ledger, err)
			}
			if h, err := catalog.Handover(t.Context(), local.New(), dir); h != nil || err == nil {
				t.Errorf("%s: %+v, %v, want an error alone", what, h, err)
			}
		}
	}
}

// said is what is read, as JSON.
func said(t *testing.T, read func() (any, error)) string {
	t.Helper()
	got, err := read()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestADamagedPlanHasANextStep damages the plan of a load in pieces. Every load, and its check, name the
// file. After it is removed, the plan is forgotten.
func TestADamagedPlanHasANextStep(t *testing.T) {
	dir, _ := loadedTable(t)
	c, err := catalog.Open(t.Context(), local.New(), dir)
	if err != nil {
		t.Fatal(err)
	}
	writeText(t, dir, "plans/5d0c/plan.json", "{")
	const want = "plan.json: damaged plan: unexpected end of JSON input: remove it, and plan again"
	if _, err := c.Plans(t.Context()); !errors.Is(err, manifest.ErrDamaged) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if check := catalog.CheckUnfinished(t.Context(), local.New(), dir, true); check.State != precheck.Fail || !strings.Contains(check.Detail, want) {
		t.Errorf("%+v, want a failed check: %s", check, want)
	}
	remove(t, dir, "plans/5d0c/plan.json")
	if plans, err := c.Plans(t.Context()); err != nil || len(plans) > 0 {
		t.Errorf("%v, %v; want no plan", plans, err)
	}
}

// TestALinkToItselfInThePlaceOfAPlan expects the next step of the file, and not of the folder of the plans.
func TestALinkToItselfInThePlaceOfAPlan(t *testing.T) {
	const want = "plan.json: damaged plan: a link to itself is in its place: remove it, and plan again"
	for _, dropped := range []bool{false, true} { // a table without a list of retired files looks into the pieces only for a sweep
		dir, _ := loadedTable(t)
		inPieces(t, dir)
		if dropped {
			compacted(t, dir)
		}
		name := "plans/5d0d/plan.json"
		writeText(t, dir, name, "")
		writeText(t, dir, "pieces/5d0d/00000-0000.roll", "us")
		remove(t, dir, name)
		if err := os.Symlink("plan.json", filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		c := opened(t, dir)
		if err := c.Sweep(t.Context(), "d"); exit.Of(err) != exit.Failed || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("sweep: %v, want %s", err, want)
		}
		if err := os.Rename(filepath.Join(dir, "retired.json"), filepath.Join(dir, "retired")); dropped && err != nil {
			t.Fatal(err)
		}
		if err := c.CheckFiles(t.Context()); dropped && (exit.Of(err) != exit.Failed || !strings.HasSuffix(err.Error(), want)) {
			t.Errorf("check: %v, want %s", err, want)
		}
		remove(t, dir, "manifest.json")
		if _, err := catalog.Rebuild(t.Context(), local.New(), dir, false); exit.Of(err) != exit.Failed || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("rebuild: %v, want %s", err, want)
		}
	}
}

// TestSomethingElseInThePlaceOfTheLinesOfAPlan expects the next step of those who read and who write the file.
func TestSomethingElseInThePlaceOfTheLinesOfAPlan(t *testing.T) {
	for what, make := range map[string]func(name string) error{
		"a directory is in its place":              func(name string) error { return os.Mkdir(name, 0o755) },
		"a link to itself is in its place":         func(name string) error { return os.Symlink(filepath.Base(name), name) },
		"a pipe, socket or device, and not a file": func(name string) error { return syscall.Mkfifo(name, 0o600) },
	} {
		dir := t.TempDir()
		f := catalog.Folder{FS: local.New(), Plans: catalog.Plans(dir), ID: "5d0d"}
		if err := f.SetPieces(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Remove(f.Lines()), make(f.Lines())); err != nil {
			t.Fatal(err)
		}
		_, err := f.OpenPieces(t.Context())
		for does, err := range map[string]error{"read": err, "write": f.SetPieces(t.Context(), []byte("{}"))} {
			if want := "pieces.jsonl: damaged file: " + what + ": remove it, and plan again"; err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%s: %v, want %s", does, err, want)
			}
		}
	}
}

// TestSomethingElseInThePlaceOfTheLock expects the check to fail as a load does, which cannot take the lock.
func TestSomethingElseInThePlaceOfTheLock(t *testing.T) {
	for what, put := range map[string]func(name string) error{
		"a directory":              func(name string) error { return os.Mkdir(name, 0o755) },
		"a link to itself":         func(name string) error { return os.Symlink("lock", name) },
		"a link to nothing":        func(name string) error { return os.Symlink("/nowhere/lock", name) },
		"a pipe":                   func(name string) error { return syscall.Mkfifo(name, 0o600) },
		"garbage":                  func(name string) error { return os.WriteFile(name, []byte("\x00\x01\x02"), 0o600) },
		"a link to another file":   func(name string) error { return os.Symlink("manifest.json", name) },
		"a link to a missing file": func(name string) error { return os.Symlink("unmade", name) }, // Lock makes it
	} {
		dir, _ := loadedTable(t)
		if err := errors.Join(os.RemoveAll(filepath.Join(dir, "lock")), put(filepath.Join(dir, "lock"))); err != nil {
			t.Fatal(err)
		}
		check := catalog.CheckUnfinished(t.Context(), local.New(), dir, false)
		lock, err := catalog.Lock(t.Context(), local.New(), dir)
		switch {
		case err == nil:
			if check.State == precheck.Fail || lock.Unlock() != nil {
				t.Errorf("%s: the check says %+v, and a load can take the lock", what, check)
			}
		case check.State != precheck.Fail || check.Detail != err.Error() || exit.Of(check.Err) != exit.Of(err):
			t.Errorf("%s: the check says %+v, and a load says %v", what, check, err)
		}
	}
}

// TestADamagedRecordOfALoadIsAFault damages loading.json of a table whose loads have ended. A load refuses
// it. So CheckFiles, which pre-check calls, and Faults, which verify calls, return the same error.
func TestADamagedRecordOfALoadIsAFault(t *testing.T) {
	for what, text := range map[string]string{"cut": "{", "empty": "", "of no version": "{}"} {
		dir, _ := loadedTable(t)
		writeText(t, dir, "loading.json", text)
		_, locks := catalog.Lock(t.Context(), local.New(), dir)
		c := opened(t, dir)
		faults, err := c.Faults(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		checks := c.CheckFiles(t.Context())
		if !errors.Is(locks, manifest.ErrDamaged) || !strings.HasSuffix(locks.Error(), "move them out of the table") {
			t.Errorf("%s: a load says %v", what, locks)
			continue
		}
		if checks == nil || checks.Error() != locks.Error() {
			t.Errorf("%s: CheckFiles returns %v, want %v", what, checks, locks)
		}
		if len(faults) != 1 || faults[0].Name != "loading.json" || faults[0].Err.Error() != locks.Error() {
			t.Errorf("%s: the faults are %v, want %v", what, faults, locks)
		}
	}
}
