package extract_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testtable"
	"usertrail/internal/test/testworld"
)

func TestMain(m *testing.M) { extracttest.Main(m) }

// TestKilledExtractsContinue kills extracts with SIGKILL, and continues until one is
// done. Before the end OUT does not exist. At the end it equals the result of an undisturbed
// extract, with its counts. The queries have conditions or none. In one query only rows show
// who may stay.
func TestKilledExtractsContinue(t *testing.T) {
	h, q := extracttest.SeveralParts(t)
	for name, e := range map[string]extracttest.Task{
		"everything":              {Query: q},
		"conditions":              {Query: extracttest.Picky(q)},
		"conditions of rows only": {Query: extracttest.Picky(q), Unrolled: true},
		"in directories":          {Query: q, Partition: "date"},
	} {
		t.Run(name, func(t *testing.T) {
			e.Dir, e.Table, e.Out = h.Dir, "trails", filepath.Join(h.Dir, "clean", name)
			extracttest.RunProcess(t, e)
			want := dfstest.Snapshot(t, h.FS, e.Out)
			if len(testtable.OnlyParts(want)) < 3 {
				t.Fatalf("%d parts, want several", len(testtable.OnlyParts(want)))
			}
			if len(e.Query.Conditions.Steps) > 0 {
				extracttest.CheckFunnel(t, want[place.ManifestName], extracttest.SeveralUsers)
			}
			extracttest.KillTwice(t, h, filepath.Join(h.Dir, name), want, func(out string) extracttest.Task {
				e.Out = out
				return e
			})
		})
	}
}

// TestContinuingKeepsFinishedParts fails an extract as it writes its last part: the
// next one writes that part alone.
func TestContinuingKeepsFinishedParts(t *testing.T) {
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

// TestRollsOffIsAnotherQuery fails an extract with its rolls as it writes its last
// part. One without rolls starts from the beginning.
func TestRollsOffIsAnotherQuery(t *testing.T) {
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
		if len(spy.Parts()) != 3 {
			t.Errorf("going on wrote %q, want all parts", spy.Parts())
		}
	}
}

// goesOn extracts a result whose last part is called last.
func goesOn(t *testing.T, h *extracttest.Fixture, q testworld.Query, u extracttest.Turn, last string) {
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
	if got := strings.Join(spy.Parts(), " "); got != last {
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
	q := w.Queries(1, 1)[0]
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
