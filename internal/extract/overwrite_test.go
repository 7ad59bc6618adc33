package extract_test

import (
	"errors"
	iofs "io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/pieces"
	"usertrail/internal/extract/place"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/test/testtable"
	"usertrail/internal/test/testworld"
)

// A replacing is a Growing whose result without the last day is replaced by the result of one extract of all days. The
// process is killed.
type replacing struct {
	*extracttest.Growing
	last      int
	old, want map[string]string
	over      extracttest.Turn // the replacing extract
}

func newReplacing(t *testing.T) *replacing {
	t.Helper()
	w, h := extracttest.Tiny(t)
	extracttest.SaveJob(t, h, w.Job())
	u := extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20, Regions: 2}
	h.Load(t, u, w.Span)
	g := extracttest.NewGrowing(t, h, u, testworld.Query{Span: w.Span, Kinds: w.Names(), Active: "any"})
	last := len(g.Spans) - 1
	if len(testtable.OnlyParts(g.States[last])) == 0 || last == 0 {
		t.Fatal("the result without its last day has no part")
	}
	r := &replacing{Growing: g, last: last, old: g.States[last], over: g.Turn}
	r.over.Append, r.over.Overwrite = false, true
	clean := filepath.Join(g.Dir, "one extract")
	if _, err := g.Extract(t.Context(), g.Query, r.over, clean); err != nil {
		t.Fatal(err)
	}
	r.want = dfstest.Snapshot(t, g.FS, clean)
	return r
}

// kill kills the extract between its two renames. It returns the name of OUT, in a new directory called name.
func (r *replacing) kill(t *testing.T, name string) string {
	t.Helper()
	out := filepath.Join(r.Dir, name, "out")
	r.CopyTo(t, r.last, out)
	e := extracttest.Task{Dir: r.Dir, Table: r.Turn.Name, Out: out, Query: r.Query, Partition: "date", Overwrite: true}
	extracttest.KillProcess(t, e, extracttest.Moment{Step: breakpoint.Aside, N: 1})
	if _, err := os.Stat(out); !errors.Is(err, iofs.ErrNotExist) {
		t.Fatalf("there is OUT, %v", err)
	}
	if diff := extracttest.Differ(dfstest.Snapshot(t, r.FS, aside(out)), r.old); diff != "" {
		t.Fatalf("moved aside: %s", diff)
	}
	if _, err := manifest.ReadExtract(t.Context(), r.FS, out); !errors.Is(err, manifest.ErrNoDirectory) || !strings.Contains(err.Error(), "the earlier result is in "+aside(out)) {
		t.Errorf("read: %v", err)
	}
	return out
}

// holds checks the files of OUT, and that no replaced result is next to it.
func (r *replacing) holds(t *testing.T, out string, want map[string]string) {
	t.Helper()
	if diff := extracttest.Differ(dfstest.Snapshot(t, r.FS, out), want); diff != "" {
		t.Errorf("in the end %s", diff)
	}
	if _, err := os.Stat(aside(out)); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("the replaced result is still there, %v", err)
	}
}

// staged returns the directory in which a result is made.
func staged(out string) string { return filepath.Join(filepath.Dir(out), ".out.partial") }

// aside returns the directory of a result that is being replaced.
func aside(out string) string { return filepath.Join(filepath.Dir(out), ".out.old") }

// TestAKilledReplacementIsUndone kills an extract that replaces a result when OUT does not exist. Whatever command is next, it
// finds the old result in OUT.
func TestAKilledReplacementIsUndone(t *testing.T) {
	r := newReplacing(t)
	clean := filepath.Join(r.Dir, "by pieces", "out")
	r.CopyTo(t, r.last, clean)
	byPieces := func(t *testing.T, out string) error { return r.ByPieces(t.Context(), r.FS, r.Of(r.last), r.Turn, out) }
	if err := byPieces(t, clean); err != nil {
		t.Fatal(err)
	}
	refused := func(err error) bool { return errors.Is(err, iofs.ErrExist) }
	appended := func(err error) bool { return errors.Is(err, manifest.ErrAppended) }
	stale := func(err error) bool { return errors.Is(err, pieces.ErrStale) }
	done := func(err error) bool { return err == nil }
	plain := r.over
	plain.Overwrite = false
	extract := func(t *testing.T, u extracttest.Turn, out string) error {
		_, err := r.Extract(t.Context(), r.Query, u, out)
		return err
	}
	for name, c := range map[string]struct {
		run  func(t *testing.T, out string) error
		ends func(error) bool
		want map[string]string
	}{
		"an append of another day":      {func(t *testing.T, out string) error { return r.Append(t, r.last, out) }, done, r.States[r.last+1]},
		"an append of a day of OUT":     {func(t *testing.T, out string) error { return r.Append(t, 0, out) }, appended, r.old},
		"the same query, not replacing": {func(t *testing.T, out string) error { return extract(t, plain, out) }, refused, r.old},
		"the same command":              {func(t *testing.T, out string) error { return extract(t, r.over, out) }, done, r.want},
		"an append of a day by pieces":  {byPieces, done, dfstest.Snapshot(t, r.FS, clean)},
		"a plan":                        {func(t *testing.T, out string) error { return r.ByPieces(t.Context(), r.FS, r.Query, plain, out) }, refused, r.old},
		"a commit of another plan": {func(t *testing.T, out string) error {
			list, err := r.PlanPieces(t.Context(), r.Query, r.over, filepath.Join(r.Dir, "planned"))
			for i := range list {
				list[i].Out = out
			}
			if err == nil {
				_, err = pieces.Commit(t.Context(), r.FS, list)
			}
			return err
		}, stale, r.old},
	} {
		t.Run(name, func(t *testing.T) {
			out := r.kill(t, name)
			if err := c.run(t, out); !c.ends(err) {
				t.Errorf("the command ended with %v", err)
			}
			r.holds(t, out, c.want)
			if left := extracttest.Leftovers(t, filepath.Dir(out)); c.ends(nil) && len(left) > 0 {
				t.Errorf("in the end there is also %q", left)
			}
		})
	}
}

// TestOnlyAResultThatWasMovedAsideIsPutBack kills an extract that replaces a result. Then the directory of the replaced
// result is not what the extract moved aside, or OUT was removed. The next append keeps the directory, and makes a new result.
func TestOnlyAResultThatWasMovedAsideIsPutBack(t *testing.T) {
	r := newReplacing(t)
	alone := filepath.Join(r.Dir, "alone")
	if err := r.Append(t, r.last, alone); err != nil {
		t.Fatal(err)
	}
	want := dfstest.Snapshot(t, r.FS, alone)
	for name, harm := range map[string]func(out string) error{
		"a file of others":   func(out string) error { return os.WriteFile(filepath.Join(aside(out), "letter.txt"), nil, 0o600) },
		"not a whole result": func(out string) error { return os.Remove(filepath.Join(aside(out), place.SuccessName)) },
		"the new result was in OUT": func(out string) error {
			return errors.Join(os.Rename(staged(out), out), os.RemoveAll(out))
		},
	} {
		t.Run(name, func(t *testing.T) {
			out := r.kill(t, name)
			if err := harm(out); err != nil {
				t.Fatal(err)
			}
			before := dfstest.Snapshot(t, r.FS, aside(out))
			if err := r.Append(t, r.last, out); err != nil {
				t.Fatal(err)
			}
			if diff := extracttest.Differ(dfstest.Snapshot(t, r.FS, out), want); diff != "" {
				t.Errorf("in the end %s", diff)
			}
			if after := dfstest.Snapshot(t, r.FS, aside(out)); !maps.Equal(after, before) {
				t.Errorf("the directory has changed: %s", extracttest.Differ(after, before))
			}
		})
	}
}

// TestAReplacedResultIsRemoved kills an extract when both renames are done, and the old result is not removed. The same
// command removes it.
func TestAReplacedResultIsRemoved(t *testing.T) {
	r := newReplacing(t)
	out := r.kill(t, "both renames")
	if err := os.Rename(staged(out), out); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Extract(t.Context(), r.Query, r.over, out); err != nil {
		t.Error(err)
	}
	r.holds(t, out, r.want)
	if left := extracttest.Leftovers(t, filepath.Dir(out)); len(left) > 0 {
		t.Errorf("in the end there is also %q", left)
	}
}
