package extract_test

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/cell"
	"usertrail/internal/extract"
	"usertrail/internal/extract/notfound"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// modes are all the ways in which an operation can fail.
var modes = []dfstest.Mode{0, dfstest.Torn, dfstest.Uncertain, dfstest.Dead, dfstest.Torn | dfstest.Uncertain | dfstest.Dead}

// tiny is a world of few files, so that a load of it makes few operations.
func tiny(t *testing.T) (*testworld.W, *fixture) {
	t.Helper()
	w := testworld.World(3, 3)
	h := newFixture(t, w.Job())
	var some []testworld.File
	for _, f := range w.Files {
		if f.Records > 0 && len(some) < 4 {
			some = append(some, f)
		}
	}
	h.deliver(t, some...)
	return w, h
}

// lasting returns the lasting files of a table: all but its lock.
func lasting(t *testing.T, h *fixture, name string) map[string]string {
	t.Helper()
	got := dfstest.Snapshot(t, h.fs, dfs.Join(h.dir, name))
	delete(got, "lock")
	return got
}

// named returns the files that a table's manifest names and the manifest itself. Exactly
// these files can be read as the table.
func named(all map[string]string) map[string]string {
	out := maps.Clone(all)
	m := all[catalog.ManifestName]
	maps.DeleteFunc(out, func(name, _ string) bool {
		return name != catalog.ManifestName && !strings.Contains(m, name)
	})
	return out
}

// TestLoadSurvivesAnyFault fails a load's first file operation, then its second,
// and so on, in every way in which an operation can fail. After each failure the
// error says what failed, the table is as before or as after the load, the same
// load ends with the table of an undisturbed one, and a third does nothing.
func TestLoadSurvivesAnyFault(t *testing.T) {
	w, h := tiny(t)
	u := turn{name: "clean", workers: 1, memory: 1 << 20, regions: 2}
	h.load(t, u, w.Span)
	want := lasting(t, h, u.name)
	u.name = "trails"
	dfstest.Sweep(t, modes, 50, func(t *testing.T, n int, mode dfstest.Mode) bool {
		if err := os.RemoveAll(filepath.Join(h.dir, u.name)); err != nil {
			t.Fatal(err)
		}
		return loadWithFault(t, h, u, w.Span, n, mode, want)
	})
}

// loadWithFault loads with a fault in operation n, and again without. It says
// whether the load never came to its fault.
func loadWithFault(t *testing.T, h *fixture, u turn, span behaviour.Span, n int, mode dfstest.Mode, want map[string]string) (past bool) {
	t.Helper()
	fault := dfstest.FaultAt(h.fs, n, mode)
	faulty := *h
	faulty.fs = fault
	_, err := load.Run(t.Context(), faulty.config(u, span))
	past = fault.Count() <= n
	if past && err != nil {
		t.Fatalf("fault at %d was not reached, and yet: %v", n, err)
	}
	if err != nil && !errors.Is(err, dfstest.ErrInjected) {
		t.Fatalf("fault at %d: lost the cause: %v", n, err)
	}
	if got := lasting(t, h, u.name); got[catalog.ManifestName] != "" && !maps.Equal(named(got), named(want)) {
		t.Errorf("fault at %d (%v): the table is neither as before nor as after", n, err)
	}
	_, again := load.Run(t.Context(), h.config(u, span))
	if again != nil && !errors.Is(again, bulkload.ErrNothing) {
		t.Fatalf("fault at %d (%v): second run: %v", n, err, again)
	}
	// A fault while sorted runs are removed leaves them to the next load that has
	// something to do.
	if diff := differ(lasting(t, h, u.name), want); again == nil && diff != "" || diff != "" && !strings.HasPrefix(diff, catalog.TempName+"/") {
		t.Errorf("fault at %d (%v): in the end %s", n, err, diff)
	}
	if _, third := load.Run(t.Context(), h.config(u, span)); !errors.Is(third, bulkload.ErrNothing) {
		t.Errorf("fault at %d: the third run says %v, want nothing to do", n, third)
	}
	return past
}

// TestSpillingLoadSurvivesFaults fails some of the many operations of a load that
// sorts with little memory, and kills its disk at others.
func TestSpillingLoadSurvivesFaults(t *testing.T) {
	w := testworld.World(7, 120)
	h := inhabit(t, w)
	u := turn{name: "clean", workers: 2, memory: 100 << 10, regions: 3}
	count := dfstest.FaultAt(h.fs, 1<<30)
	counted := *h
	counted.fs = count
	counted.load(t, u, w.Span)
	want := lasting(t, h, u.name)
	const faults = 20
	for i := range faults {
		u.name = fmt.Sprint("trails", i)
		mode := []dfstest.Mode{0, dfstest.Dead | dfstest.Torn}[i%2]
		loadWithFault(t, h, u, w.Span, count.Count()*i/faults, mode, want)
	}
}

// differ names a file in which two snapshots differ.
func differ(got, want map[string]string) string {
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

// TestExtractSurvivesAnyFault is the same for an extract: OUT is absent or whole.
func TestExtractSurvivesAnyFault(t *testing.T) {
	extractSurvives(t, query.Output{}, modes)
}

// TestPartitionedExtractSurvivesFaults is the same where a part is several files.
func TestPartitionedExtractSurvivesFaults(t *testing.T) {
	extractSurvives(t, query.Output{Format: query.CSV, Partition: "date"}, modes[1:3])
}

func extractSurvives(t *testing.T, o query.Output, modes []dfstest.Mode) {
	t.Helper()
	w, h := tiny(t)
	u := turn{name: "trails", workers: 1, memory: 1 << 20, regions: 3, output: o}
	h.load(t, u, w.Span)
	q := testworld.Question{Users: append(w.Users, "nobody"), Span: w.Span, Kinds: w.Names(), Active: "any"}
	clean := filepath.Join(h.dir, "clean")
	if _, err := h.ask(t.Context(), q, u, clean); err != nil {
		t.Fatal(err)
	}
	want := dfstest.Snapshot(t, h.fs, clean)
	dfstest.Sweep(t, modes, 30, func(t *testing.T, n int, mode dfstest.Mode) bool {
		home := filepath.Join(h.dir, fmt.Sprintf("home-%d-%d", mode, n))
		if err := os.Mkdir(home, 0o755); err != nil {
			t.Fatal(err)
		}
		return askWithFault(t, h, q, u, home, n, mode, want)
	})
}

// askWithFault extracts into a directory of home with a fault in operation n, and
// again without. It says whether the extract never came to its fault.
func askWithFault(t *testing.T, h *fixture, q testworld.Question, u turn, home string, n int, mode dfstest.Mode, want map[string]string) (past bool) {
	t.Helper()
	out := filepath.Join(home, "out")
	fault := dfstest.FaultAt(h.fs, n, mode)
	faulty := *h
	faulty.fs = fault
	_, err := faulty.ask(t.Context(), q, u, out)
	past = fault.Count() <= n
	if past && err != nil {
		t.Fatalf("fault at %d was not reached, and yet: %v", n, err)
	}
	if err != nil && !errors.Is(err, dfstest.ErrInjected) {
		t.Fatalf("fault at %d: lost the cause: %v", n, err)
	}
	if _, none := os.Stat(out); none == nil {
		if diff := differ(dfstest.Snapshot(t, h.fs, out), want); diff != "" {
			t.Errorf("fault at %d (%v): half published: %s", n, err, diff)
		}
	}
	if _, again := h.ask(t.Context(), q, u, out); again != nil && !errors.Is(again, iofs.ErrExist) {
		t.Fatalf("fault at %d (%v): second run: %v", n, err, again)
	}
	if diff := differ(parts(t, h.fs, out), onlyParts(want)); diff != "" {
		t.Errorf("fault at %d (%v): in the end %s", n, err, diff)
	}
	if _, third := h.ask(t.Context(), q, u, out); !errors.Is(third, iofs.ErrExist) {
		t.Errorf("fault at %d: the third run says %v, want that the answer is there", n, third)
	}
	if left := leftovers(t, home); len(left) > 0 && mode&(dfstest.Dead|dfstest.Uncertain) == 0 {
		t.Errorf("fault at %d (%v): in the end there is also %q", n, err, left)
	}
	return past
}

// leftovers are the files that lie below dir besides an answer and its lock,
// hidden ones too.
func leftovers(t *testing.T, dir string) []string {
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

// TestOverwriteKeepsAnAnswer fails each operation of an extract that replaces a result with
// the result of another query. After any failure one of the two results is there, whole,
// unless the disk stays dead.
func TestOverwriteKeepsAnAnswer(t *testing.T) {
	w, h := tiny(t)
	u := turn{name: "trails", workers: 1, memory: 1 << 20, regions: 2}
	h.load(t, u, w.Span)
	before := testworld.Question{Span: w.Span, Kinds: w.Names()[:1], Active: "any"}
	after := testworld.Question{Span: w.Span, Kinds: w.Names(), Active: "any"}
	want := map[string]map[string]string{}
	for name, q := range map[string]testworld.Question{"before": before, "after": after} {
		out := filepath.Join(h.dir, name)
		if _, err := h.ask(t.Context(), q, u, out); err != nil {
			t.Fatal(err)
		}
		want[name] = dfstest.Snapshot(t, h.fs, out)
	}
	dfstest.Sweep(t, []dfstest.Mode{0, dfstest.Uncertain}, 10, func(t *testing.T, n int, mode dfstest.Mode) bool {
		out := filepath.Join(h.dir, fmt.Sprintf("home-%d-%d", mode, n), "out")
		if _, err := h.ask(t.Context(), before, u, out); err != nil {
			t.Fatal(err)
		}
		fault := dfstest.FaultAt(h.fs, n, mode)
		faulty, replacing := *h, u
		faulty.fs, replacing.overwrite = fault, true
		_, err := faulty.ask(t.Context(), after, replacing, out)
		got := dfstest.Snapshot(t, h.fs, out)
		if !maps.Equal(got, want["after"]) && (err == nil || !maps.Equal(got, want["before"])) {
			t.Errorf("mode %d, fault at %d (%v): the answer is neither the old one nor the new one", mode, n, err)
		}
		if _, err := h.ask(t.Context(), after, replacing, out); err != nil {
			t.Errorf("mode %d, fault at %d: second run: %v", mode, n, err)
		}
		if diff := differ(dfstest.Snapshot(t, h.fs, out), want["after"]); diff != "" {
			t.Errorf("mode %d, fault at %d: in the end %s", mode, n, diff)
		}
		if left := leftovers(t, filepath.Dir(out)); len(left) > 0 {
			t.Errorf("mode %d, fault at %d: in the end there is also %q", mode, n, left)
		}
		return fault.Count() <= n
	})
}

// brokenRegion is a table in which the users of one region cannot be read.
type brokenRegion struct {
	table.Table
	at int
}

var errBroken = errors.New("the roll cannot be read")

func (b brokenRegion) Users(ctx context.Context, r split.Region, span behaviour.Span) (table.Users, error) {
	regions, err := b.Regions(ctx)
	if err != nil {
		return nil, err
	}
	if string(r.Start) == string(regions[b.at].Start) {
		return nil, errBroken
	}
	return b.Table.Users(ctx, r, span)
}

// Read implements table.Table.
func (b brokenRegion) Read(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
	return b.Table.Read(ctx, q, emit)
}

// TestNoRegionIsLeftOut breaks one region after the other: the last one's error
// must not be lost because there is no other to go on to.
func TestNoRegionIsLeftOut(t *testing.T) {
	w, h := tiny(t)
	u := turn{name: "trails", workers: 2, memory: 1 << 20, regions: 3}
	h.load(t, u, w.Span)
	tab, err := h.store(u.name).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	for at := range 3 {
		for i := range testkit.Pick(20, 100) {
			out := filepath.Join(h.dir, fmt.Sprintf("out-%d-%d", at, i))
			_, err := extract.Run(t.Context(), extract.Config{
				Spec:   query.Spec{Users: userlist.All(), Span: w.Span, Types: w.Names(), Active: "any"},
				Target: place.Target{FS: h.fs, Out: out},
				Table:  brokenRegion{tab, at}, Workers: 2,
			})
			if !errors.Is(err, errBroken) {
				t.Fatalf("region %d, try %d: %v, want %v", at, i, err, errBroken)
			}
		}
	}
}
