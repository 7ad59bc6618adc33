package extract_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
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

// TestKilledLoadsGoOn kills loads with SIGKILL. After each kill the table holds
// some whole days; the same load then ends with the undisturbed one's table.
func TestKilledLoadsGoOn(t *testing.T) {
	w := testworld.World(12, 25)
	h := extracttest.Delivered(t, w)
	extracttest.SaveJob(t, h, w.Job())
	e := extracttest.Task{Dir: h.Dir, Table: "clean", Span: w.Span}
	extracttest.RunProcess(t, e)
	want := extracttest.Lasting(t, h, e.Table)
	var m manifest.Table
	if err := json.Unmarshal([]byte(want[catalog.ManifestName]), &m); err != nil || len(m.Loads) < 2 {
		t.Fatalf("the undisturbed table has %d loads, %v, want several", len(m.Loads), err)
	}
	for i, at := range killsOf(len(m.Loads), testkit.All()) {
		e.Table = fmt.Sprint("killed at ", at)
		extracttest.KillProcess(t, e, at)
		checkPrefix(t, extracttest.Lasting(t, h, e.Table), want)
		if i%2 == 0 && at.N < len(m.Loads) { // with a load left to be killed
			extracttest.KillProcess(t, e, extracttest.Moment{Step: breakpoint.Ledger, N: 1})
			checkPrefix(t, extracttest.Lasting(t, h, e.Table), want)
		}
		if err := h.RunTask(t.Context(), e); err != nil {
			t.Fatalf("after a kill at %s: %v", at, err)
		}
		if diff := extracttest.Differ(extracttest.Lasting(t, h, e.Table), want); diff != "" {
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
		if l != all.Loads[i] || got[l.Name] != want[l.Name] {
			t.Errorf("%s is not as in the undisturbed table", l.Name)
		}
	}
}

// TestKilledExtractsGoOn kills extracts with SIGKILL, and continues until one is
// done. Before the end OUT does not exist. At the end it equals the result of an undisturbed
// extract, with its counts. The test does so with conditions and without, and with a query
// in which only rows tell who may stay.
func TestKilledExtractsGoOn(t *testing.T) {
	h, q := extracttest.SeveralParts(t)
	for name, e := range map[string]extracttest.Task{
		"everything":              {Question: q},
		"conditions":              {Question: extracttest.Picky(q)},
		"conditions of rows only": {Question: extracttest.Picky(q), Unrolled: true},
		"in directories":          {Question: q, Partition: "date"},
	} {
		t.Run(name, func(t *testing.T) {
			e.Dir, e.Table, e.Out = h.Dir, "trails", filepath.Join(h.Dir, "clean", name)
			extracttest.RunProcess(t, e)
			want := dfstest.Snapshot(t, h.FS, e.Out)
			if len(extracttest.OnlyParts(want)) < 3 {
				t.Fatalf("%d parts, want several", len(extracttest.OnlyParts(want)))
			}
			if len(e.Question.Conditions.Steps) > 0 {
				extracttest.CheckFunnel(t, want[place.ManifestName], extracttest.SeveralUsers)
			}
			extracttest.KillTwice(t, h, filepath.Join(h.Dir, name), want, func(out string) extracttest.Task {
				e.Out = out
				return e
			})
		})
	}
}

// TestGoingOnKeepsFinishedParts fails an extract as it writes its last part: the
// next one writes that part alone.
func TestGoingOnKeepsFinishedParts(t *testing.T) {
	h, q := extracttest.SeveralParts(t)
	for last, o := range map[string]query.Output{
		"part-00002.parquet": {},
		"part-00002.jsonl":   {Format: query.JSONL, Partition: "behaviour"},
	} {
		u := extracttest.Turn{Name: "trails", Workers: 1, Memory: 64 << 20, Output: o}
		t.Run(last, func(t *testing.T) { goesOn(t, h, q, u, last) })
	}
	for _, unrolled := range []bool{false, true} {
		u := extracttest.Turn{Name: "trails", Workers: 1, Memory: 64 << 20, Unrolled: unrolled}
		t.Run(fmt.Sprintf("conditions, without rolls %t", unrolled), func(t *testing.T) { goesOn(t, h, extracttest.Picky(q), u, "part-00002.parquet") })
	}
}

// TestRollsOffIsAnotherQuestion fails an extract with its rolls as it writes its last
// part. One without rolls starts from the beginning.
func TestRollsOffIsAnotherQuestion(t *testing.T) {
	h, q := extracttest.SeveralParts(t)
	for _, unrolled := range []bool{false, true} {
		u := extracttest.Turn{Name: "trails", Workers: 1, Memory: 64 << 20, Unrolled: unrolled}
		out := filepath.Join(testkit.Scratch(t), "out")
		broken := *h
		broken.FS = extracttest.Refusing{FS: h.FS, Base: "part-00002.parquet"}
		if _, err := broken.Extract(t.Context(), q, u, out); !errors.Is(err, dfstest.ErrInjected) {
			t.Fatalf("%v, want ErrInjected", err)
		}
		spy := &extracttest.Created{FS: h.FS}
		watched := *h
		watched.FS = spy
		u.Unrolled = !unrolled
		if _, err := watched.Extract(t.Context(), q, u, out); err != nil {
			t.Fatal(err)
		}
		if len(spy.Parts) != 3 {
			t.Errorf("going on wrote %q, want all parts", spy.Parts)
		}
	}
}

// goesOn asks for an answer whose last part is called last.
func goesOn(t *testing.T, h *extracttest.Fixture, q testworld.Question, u extracttest.Turn, last string) {
	t.Helper()
	home := testkit.Scratch(t)
	out := filepath.Join(home, "out")
	broken := *h
	broken.FS = extracttest.Refusing{FS: h.FS, Base: last}
	if _, err := broken.Extract(t.Context(), q, u, out); !errors.Is(err, dfstest.ErrInjected) {
		t.Fatalf("%v, want ErrInjected", err)
	}
	spy := &extracttest.Created{FS: h.FS}
	watched := *h
	watched.FS = spy
	if _, err := watched.Extract(t.Context(), q, u, out); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(spy.Parts, " "); got != last {
		t.Errorf("going on wrote %s, want the part that was not finished", got)
	}
	clean := filepath.Join(home, "clean")
	if _, err := h.Extract(t.Context(), q, u, clean); err != nil {
		t.Fatal(err)
	}
	if diff := extracttest.Differ(dfstest.Snapshot(t, h.FS, out), dfstest.Snapshot(t, h.FS, clean)); diff != "" {
		t.Errorf("in the end %s", diff)
	}
}

// TestTheSecondExtractIsTold starts an extract while another holds OUT's lock.
func TestTheSecondExtractIsTold(t *testing.T) {
	w, h := extracttest.Tiny(t)
	u := extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20}
	h.Load(t, u, w.Span)
	out := filepath.Join(h.Dir, "out")
	lock, err := h.FS.Lock(t.Context(), filepath.Join(h.Dir, ".out.lock"))
	if err != nil {
		t.Fatal(err)
	}
	q := w.Questions(1, 1)[0]
	if _, err := h.Extract(t.Context(), q, u, out); !errors.Is(err, dfs.ErrLocked) {
		t.Errorf("%v, want ErrLocked", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Extract(t.Context(), q, u, out); err != nil {
		t.Error(err)
	}
}
