package extracttest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/test/testworld"
)

// A Growing is a result to which days are appended.
type Growing struct {
	*Fixture
	Turn  Turn
	Query testworld.Query  // of all days
	Spans []behaviour.Span // of the appends
	// States are the snapshots of the result: before the first append, and after each one.
	States []map[string]string
}

// NewGrowing appends the days of a world to a result, two days and then one day at a time, and keeps
// each state.
func NewGrowing(t *testing.T, h *Fixture, u Turn, q testworld.Query) *Growing {
	t.Helper()
	u.Append, u.Output = true, query.Output{Partition: "date"}
	g := &Growing{Fixture: h, Turn: u, Query: q, States: []map[string]string{{}}}
	for d := q.Span.From; d <= q.Span.To; d++ {
		s := behaviour.Span{From: d, To: d}
		if len(g.Spans) == 1 && d < q.Span.To {
			d++
			s.To = d
		}
		g.Spans = append(g.Spans, s)
	}
	out := filepath.Join(h.Dir, "clean", "out")
	for i := range g.Spans {
		if err := g.Append(t, i, out); err != nil {
			t.Fatal(err)
		}
		g.States = append(g.States, dfstest.Snapshot(t, h.FS, out))
	}
	return g
}

// Of returns the query of span i.
func (g *Growing) Of(i int) testworld.Query {
	q := g.Query
	q.Span = g.Spans[i]
	return q
}

// Append appends the days of span i.
func (g *Growing) Append(t *testing.T, i int, out string) error {
	t.Helper()
	_, err := g.Extract(t.Context(), g.Of(i), g.Turn, out)
	return err
}

// KillAppend begins with state i in a directory, appends the days of span i, and kills the process at the first time
// that it reaches a step.
func (g *Growing) KillAppend(t *testing.T, i int, out, step string) {
	t.Helper()
	g.CopyTo(t, i, out)
	KillProcess(t, Task{Dir: g.Dir, Table: g.Turn.Name, Out: out, Query: g.Of(i), Partition: "date", Append: true}, Moment{Step: step, N: 1})
}

// CopyTo writes state i into a directory, if there is one.
func (g *Growing) CopyTo(t *testing.T, i int, out string) {
	t.Helper()
	for name, text := range g.States[i] {
		to := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// CheckReaders checks what readers find while span i is being appended. A reader of directories finds
// each day whole or not at all. A reader of the manifest finds the state before or after, and each file
// that the manifest names.
func (g *Growing) CheckReaders(t *testing.T, i int, out string) {
	t.Helper()
	got := dfstest.Snapshot(t, g.FS, out)
	before, after := g.States[i], g.States[i+1]
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
			t.Errorf("a part of %s exists, and not %s", dfs.Dir(name), name)
		}
	}
}

// CheckEnd checks that the result is state i+1 and nothing is next to it.
func (g *Growing) CheckEnd(t *testing.T, i int, out string) {
	t.Helper()
	if diff := Differ(dfstest.Snapshot(t, g.FS, out), g.States[i+1]); diff != "" {
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

// SurviveFault appends span i while operation n fails, and then twice more. A reader finds no half of a day
// in between. The second run ends with the next state, and the third has nothing to do: its error is one
// that done accepts. run appends the span to out on a file system. past reports whether the append
// has fewer operations than n.
func (g *Growing) SurviveFault(t *testing.T, i, n int, mode dfstest.Mode, run func(fs dfs.FS, out string) error, done func(error) bool) (past bool) {
	t.Helper()
	out := filepath.Join(g.Dir, fmt.Sprintf("home-%d-%d", mode, n), "out")
	g.CopyTo(t, i, out)
	fault := dfstest.FaultAt(g.FS, n, mode)
	err := run(fault, out)
	past = fault.Count() <= n
	if err != nil && !errors.Is(err, dfstest.ErrInjected) {
		t.Fatalf("lost the cause: %v", err)
	}
	if past && err != nil {
		t.Fatalf("the fault was not reached, and yet: %v", err)
	}
	g.CheckReaders(t, i, out)
	if err := run(g.FS, out); err != nil && !done(err) {
		t.Fatalf("second run: %v", err)
	}
	if err := run(g.FS, out); !done(err) {
		t.Errorf("third run: %v, want nothing to do", err)
	}
	g.CheckEnd(t, i, out)
	if t.Failed() {
		t.Logf("mode %d, fault at %d: %v", mode, n, err)
	}
	return past
}
