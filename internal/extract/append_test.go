package extract_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/test/testtable"
	"usertrail/internal/test/testworld"
)

// A growing is a result to which days are appended.
type growing struct {
	*extracttest.Fixture
	u     extracttest.Turn
	q     testworld.Question
	spans []behaviour.Span
	// states are the snapshots of the result: before the first append, and after each one.
	states []map[string]string
}

// newGrowing appends the days of a world to a result, two days and then one day at a time, and keeps
// each state.
func newGrowing(t *testing.T, h *extracttest.Fixture, u extracttest.Turn, q testworld.Question) *growing {
	t.Helper()
	u.Append, u.Output = true, query.Output{Partition: "date"}
	g := &growing{Fixture: h, u: u, q: q, states: []map[string]string{{}}}
	for d := q.Span.From; d <= q.Span.To; d++ {
		s := behaviour.Span{From: d, To: d}
		if len(g.spans) == 1 && d < q.Span.To {
			d++
			s.To = d
		}
		g.spans = append(g.spans, s)
	}
	out := filepath.Join(h.Dir, "clean", "out")
	for i := range g.spans {
		if err := g.append(t, i, out); err != nil {
			t.Fatal(err)
		}
		g.states = append(g.states, dfstest.Snapshot(t, h.FS, out))
	}
	return g
}

// append appends the days of span i.
func (g *growing) append(t *testing.T, i int, out string) error {
	t.Helper()
	q := g.q
	q.Span = g.spans[i]
	_, err := g.Extract(t.Context(), q, g.u, out)
	return err
}

// copyTo writes state i into a directory, if there is one.
func (g *growing) copyTo(t *testing.T, i int, out string) {
	t.Helper()
	for name, text := range g.states[i] {
		to := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// checkReaders checks what readers find while span i is being appended. A reader of directories finds
// each day whole or not at all. A reader of the manifest finds the state before or after, and each file
// that the manifest names.
func (g *growing) checkReaders(t *testing.T, i int, out string) {
	t.Helper()
	got := dfstest.Snapshot(t, g.FS, out)
	before, after := g.states[i], g.states[i+1]
	if m := got[place.ManifestName]; m != before[place.ManifestName] && m != after[place.ManifestName] {
		t.Error("the manifest is neither as before nor as after")
	}
	if len(before) > 0 && got[place.ManifestName] == "" {
		t.Error("the manifest is gone")
	}
	want := before
	if got[place.ManifestName] == after[place.ManifestName] {
		want = after
	}
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s is in the manifest, and is not as it was written", name)
		}
	}
	days := map[string]bool{}
	for name := range got {
		days[dfs.Dir(name)] = true
	}
	for name, text := range after {
		if days[dfs.Dir(name)] && strings.HasPrefix(name, "date=") && got[name] != text {
			t.Errorf("a part of %s is there, and not %s", dfs.Dir(name), name)
		}
	}
}

// checkEnd checks that the result is state i+1 and nothing is next to it.
func (g *growing) checkEnd(t *testing.T, i int, out string) {
	t.Helper()
	if diff := extracttest.Differ(dfstest.Snapshot(t, g.FS, out), g.states[i+1]); diff != "" {
		t.Errorf("in the end %s", diff)
	}
	list, err := g.FS.List(t.Context(), filepath.Dir(out))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if base := dfs.Base(f.Name); base != "out" && base != ".out.lock" {
			t.Errorf("in the end there is also %s", f.Name)
		}
	}
}

// TestAppendedDaysAreOneExtract appends the days of a world, and compares the parts with one extract of
// all days. It does so in any order of the days. The query keeps each event, whatever other days the
// user was active on.
func TestAppendedDaysAreOneExtract(t *testing.T) {
	w := testworld.World(5, 20)
	h := extracttest.Delivered(t, w)
	h.Load(t, extracttest.Plain, w.Span)
	q := testworld.Question{Span: w.Span, Kinds: w.Names(), Active: "any"}
	g := newGrowing(t, h, extracttest.Plain, q)
	last := g.states[len(g.states)-1]
	u := g.u
	u.Append = false
	whole := filepath.Join(h.Dir, "whole")
	r, err := h.Extract(t.Context(), q, u, whole)
	if err != nil || r.Files < 3 {
		t.Fatalf("%d files, %v, want several", r.Files, err)
	}
	if diff := extracttest.Differ(testtable.OnlyParts(last), extracttest.Parts(t, h.FS, whole)); diff != "" {
		t.Error(diff)
	}
	m := extracttest.ReadManifest(t, h.FS, filepath.Join(h.Dir, "clean", "out"))
	var kept int64
	for _, a := range m.Appended {
		kept += a.Kept
	}
	if m.Question.Span != w.Span || m.Events != r.Events || m.Kept != kept || m.Users != m.Found || len(m.Appended) != len(g.spans) || m.Cost.Outcome.Behaviours != r.Events {
		t.Errorf("the manifest has %d events of %d users of %s in %d extracts; there are %d events", m.Events, m.Kept, m.Question.Span, len(m.Appended), r.Events)
	}
	back := filepath.Join(h.Dir, "back", "out")
	for i := len(g.spans) - 1; i >= 0; i-- {
		if err := g.append(t, i, back); err != nil {
			t.Fatal(err)
		}
	}
	if diff := extracttest.Differ(dfstest.Snapshot(t, h.FS, back), last); diff != "" {
		t.Errorf("from the last day to the first: %s", diff)
	}
	for i := range g.spans {
		if err := g.append(t, i, back); !errors.Is(err, manifest.ErrAppended) {
			t.Errorf("%s again: %v, want nothing to do", g.spans[i], err)
		}
	}
	if diff := extracttest.Differ(dfstest.Snapshot(t, h.FS, back), last); diff != "" {
		t.Errorf("after all days again: %s", diff)
	}
}

// TestAppendSurvivesAnyFault fails each operation of an append of two days. A reader never finds half a
// day. The same append then ends with the result of an undisturbed one, and a third does nothing.
func TestAppendSurvivesAnyFault(t *testing.T) {
	w, h := extracttest.Tiny(t)
	u := extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20, Regions: 2}
	h.Load(t, u, w.Span)
	q := testworld.Question{Users: append(w.Users, "nobody"), Span: w.Span, Kinds: w.Names(), Active: "any"}
	g := newGrowing(t, h, u, q)
	const at = 1 // two days
	if maps.Equal(testtable.OnlyParts(g.states[at]), testtable.OnlyParts(g.states[at+1])) {
		t.Fatal("the days have no events")
	}
	dfstest.Sweep(t, dfstest.Modes, 40, func(t *testing.T, n int, mode dfstest.Mode) bool {
		out := filepath.Join(h.Dir, fmt.Sprintf("home-%d-%d", mode, n), "out")
		g.copyTo(t, at, out)
		fault := dfstest.FaultAt(h.FS, n, mode)
		faulty, broken := *g, *h
		broken.FS = fault
		faulty.Fixture = &broken
		err := faulty.append(t, at, out)
		past := fault.Count() <= n
		if err != nil && !errors.Is(err, dfstest.ErrInjected) {
			t.Fatalf("lost the cause: %v", err)
		}
		if past && err != nil {
			t.Fatalf("the fault was not reached, and yet: %v", err)
		}
		g.checkReaders(t, at, out)
		if err := g.append(t, at, out); err != nil && !errors.Is(err, manifest.ErrAppended) {
			t.Fatalf("second run: %v", err)
		}
		if err := g.append(t, at, out); !errors.Is(err, manifest.ErrAppended) {
			t.Errorf("third run: %v, want nothing to do", err)
		}
		g.checkEnd(t, at, out)
		if t.Failed() {
			t.Logf("mode %d, fault at %d: %v", mode, n, err)
		}
		return past
	})
}

// TestKilledAppendsGoOn kills appends at each step with SIGKILL. The next command is the same append, or
// an append of other days: it finishes the killed one first.
func TestKilledAppendsGoOn(t *testing.T) {
	h, q := extracttest.SeveralParts(t)
	q.Span.From--
	g := newGrowing(t, h, extracttest.Turn{Name: "trails", Workers: 2, Memory: 64 << 20, Regions: 2}, q)
	last := len(g.spans) - 1
	for _, step := range []string{breakpoint.Fetch, breakpoint.Part, breakpoint.Publish, breakpoint.Moved, breakpoint.Published} {
		out := filepath.Join(h.Dir, "killed at "+step, "out")
		g.copyTo(t, last, out)
		e := extracttest.Task{Dir: h.Dir, Table: "trails", Out: out, Question: q, Partition: "date", Append: true}
		e.Question.Span = g.spans[last]
		extracttest.KillProcess(t, e, extracttest.Moment{Step: step, N: 1})
		g.checkReaders(t, last, out)
		if step == breakpoint.Fetch || step == breakpoint.Part { // nothing is decided
			if err := g.append(t, last, out); err != nil {
				t.Errorf("killed at %s: %v", step, err)
			}
			g.checkEnd(t, last, out)
			continue
		}
		over := g.u
		over.Append, over.Overwrite = false, true
		if _, err := h.Extract(t.Context(), q, over, out); err == nil || !strings.Contains(err.Error(), "an append to it is not finished") {
			t.Errorf("killed at %s: --overwrite: %v, want an error about the append", step, err)
		}
		if err := g.append(t, 0, out); !errors.Is(err, manifest.ErrAppended) {
			t.Errorf("killed at %s: an append of other days: %v", step, err)
		}
		g.checkEnd(t, last, out)
		if err := g.append(t, last, out); !errors.Is(err, manifest.ErrAppended) {
			t.Errorf("killed at %s: the same append: %v", step, err)
		}
		g.checkEnd(t, last, out)
	}
}

// TestAVoidAppendLeavesNothing kills an append, and moves OUT away. The same query then makes a result of
// its own.
func TestAVoidAppendLeavesNothing(t *testing.T) {
	h, q := extracttest.SeveralParts(t)
	first := q
	first.Span.From--
	g := newGrowing(t, h, extracttest.Turn{Name: "trails", Workers: 2, Memory: 64 << 20, Regions: 2}, first)
	last := len(g.spans) - 1
	alone := g.u
	alone.Append = false
	clean := filepath.Join(h.Dir, "alone")
	q.Span = g.spans[last]
	if _, err := h.Extract(t.Context(), q, alone, clean); err != nil {
		t.Fatal(err)
	}
	want := dfstest.Snapshot(t, h.FS, clean)
	for _, step := range []string{breakpoint.Publish, breakpoint.Moved} {
		for _, u := range []extracttest.Turn{alone, g.u} {
			out := filepath.Join(h.Dir, fmt.Sprintf("void at %s, append %t", step, u.Append), "out")
			g.copyTo(t, last, out)
			e := extracttest.Task{Dir: h.Dir, Table: "trails", Out: out, Question: q, Partition: "date", Append: true}
			extracttest.KillProcess(t, e, extracttest.Moment{Step: step, N: 1})
			if err := os.Rename(out, filepath.Join(h.Dir, filepath.Base(filepath.Dir(out))+" before")); err != nil {
				t.Fatal(err)
			}
			if _, err := h.Extract(t.Context(), q, u, out); err != nil {
				t.Errorf("killed at %s: %v", step, err)
			}
			if diff := extracttest.Differ(dfstest.Snapshot(t, h.FS, out), want); diff != "" {
				t.Errorf("killed at %s: in the end %s", step, diff)
			}
		}
	}
}
