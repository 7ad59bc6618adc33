package extract_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/place"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/test/testtable"
	"usertrail/internal/test/testworld"
)

// TestAppendedDaysAreOneExtract appends the days of a world, and compares the parts with one extract of
// all days. It does so in any order of the days. The query keeps each event, whatever other days the
// user was active on.
func TestAppendedDaysAreOneExtract(t *testing.T) {
	w := testworld.World(5, 20)
	h := extracttest.Delivered(t, w)
	h.Load(t, extracttest.Plain, w.Span)
	q := testworld.Query{Span: w.Span, Kinds: w.Names(), Active: "any"}
	g := extracttest.NewGrowing(t, h, extracttest.Plain, q)
	last := g.States[len(g.States)-1]
	u := g.Turn
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
	if m.Query.Span != w.Span || m.Events != r.Events || m.Kept != kept || m.Users != m.Found || len(m.Appended) != len(g.Spans) || m.Cost.Outcome.Behaviours != r.Events {
		t.Errorf("the manifest has %d events of %d users of %s in %d extracts; there are %d events", m.Events, m.Kept, m.Query.Span, len(m.Appended), r.Events)
	}
	back := filepath.Join(h.Dir, "back", "out")
	for i := len(g.Spans) - 1; i >= 0; i-- {
		if err := g.Append(t, i, back); err != nil {
			t.Fatal(err)
		}
	}
	if diff := extracttest.Differ(dfstest.Snapshot(t, h.FS, back), last); diff != "" {
		t.Errorf("from the last day to the first: %s", diff)
	}
	for i := range g.Spans {
		if err := g.Append(t, i, back); !errors.Is(err, manifest.ErrAppended) {
			t.Errorf("%s again: %v, want nothing to do", g.Spans[i], err)
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
	q := testworld.Query{Users: append(w.Users, "nobody"), Span: w.Span, Kinds: w.Names(), Active: "any"}
	g := extracttest.NewGrowing(t, h, u, q)
	const at = 1 // two days
	if maps.Equal(testtable.OnlyParts(g.States[at]), testtable.OnlyParts(g.States[at+1])) {
		t.Fatal("the days have no events")
	}
	run := func(fs dfs.FS, out string) error {
		other, fixture := *g, *h
		fixture.FS = fs
		other.Fixture = &fixture
		return other.Append(t, at, out)
	}
	done := func(err error) bool { return errors.Is(err, manifest.ErrAppended) }
	dfstest.Sweep(t, dfstest.Modes, 40, func(t *testing.T, n int, mode dfstest.Mode) bool {
		return g.SurviveFault(t, at, n, mode, run, done)
	})
}

// severalGrowing returns a result of several parts that grows, and the number of its last span. If there are users, they are the list.
func severalGrowing(t *testing.T, users ...string) (*extracttest.Growing, int) {
	t.Helper()
	h, q := extracttest.SeveralParts(t)
	q.Span.From--
	q.Users = users
	g := extracttest.NewGrowing(t, h, extracttest.Turn{Name: "trails", Workers: 2, Memory: 64 << 20, Regions: 2}, q)
	return g, len(g.Spans) - 1
}

// TestKilledAppendsContinue kills appends at each step with SIGKILL. The next command is the same append, or
// an append of other days: it finishes the killed one first. The same append succeeds.
func TestKilledAppendsContinue(t *testing.T) {
	g, last := severalGrowing(t)
	alone := filepath.Join(g.Dir, "alone", "out")
	g.CopyTo(t, last, alone)
	undisturbed, err := g.Extract(t.Context(), g.Of(last), g.Turn, alone)
	if err != nil || undisturbed.Events == 0 {
		t.Fatalf("%d events, %v", undisturbed.Events, err)
	}
	for _, step := range []string{breakpoint.Fetch, breakpoint.Part, breakpoint.Publish, breakpoint.Moved, breakpoint.Published} {
		kill := func(out string) {
			g.KillAppend(t, last, out, step)
			g.CheckReaders(t, last, out)
		}
		same := filepath.Join(g.Dir, "killed at "+step+", the same append", "out")
		kill(same)
		r, err := g.Extract(t.Context(), g.Of(last), g.Turn, same)
		if err != nil || r.Already || !maps.Equal(r.Counted(), undisturbed.Counted()) {
			t.Errorf("killed at %s: the same append: %+v, %v, want %v", step, r, err, undisturbed.Counted())
		}
		g.CheckEnd(t, last, same)
		if step == breakpoint.Fetch || step == breakpoint.Part { // nothing is decided
			continue
		}
		out := filepath.Join(g.Dir, "killed at "+step+", other days", "out")
		kill(out)
		if has, err := place.At(g.FS, out).Has(t.Context(), g.Spans[last]); !has || err != nil {
			t.Errorf("killed at %s: the result has the days: %t, %v", step, has, err)
		}
		over := g.Turn
		over.Append, over.Overwrite = false, true
		if _, err := g.Extract(t.Context(), g.Query, over, out); err == nil || !strings.Contains(err.Error(), "an append to it is not finished") {
			t.Errorf("killed at %s: --overwrite: %v, want an error about the append", step, err)
		}
		if err := g.Append(t, 0, out); !errors.Is(err, manifest.ErrAppended) {
			t.Errorf("killed at %s: an append of other days: %v", step, err)
		}
		g.CheckEnd(t, last, out)
		if err := g.Append(t, last, out); !errors.Is(err, manifest.ErrAppended) {
			t.Errorf("killed at %s: the same append: %v", step, err)
		}
		g.CheckEnd(t, last, out)
	}
}

// TestAnAppendWithoutItsResultLeavesNothing kills an append, and moves OUT away. The same query then makes a result of
// its own.
func TestAnAppendWithoutItsResultLeavesNothing(t *testing.T) {
	g, last := severalGrowing(t)
	q := g.Of(last)
	alone := g.Turn
	alone.Append = false
	clean := filepath.Join(g.Dir, "alone")
	if _, err := g.Extract(t.Context(), q, alone, clean); err != nil {
		t.Fatal(err)
	}
	want := dfstest.Snapshot(t, g.FS, clean)
	for _, step := range []string{breakpoint.Publish, breakpoint.Moved} {
		for _, u := range []extracttest.Turn{alone, g.Turn} {
			out := filepath.Join(g.Dir, fmt.Sprintf("void at %s, append %t", step, u.Append), "out")
			g.KillAppend(t, last, out, step)
			if err := os.Rename(out, filepath.Join(g.Dir, filepath.Base(filepath.Dir(out))+" before")); err != nil {
				t.Fatal(err)
			}
			if _, err := g.Extract(t.Context(), q, u, out); err != nil {
				t.Errorf("killed at %s: %v", step, err)
			}
			if diff := extracttest.Differ(dfstest.Snapshot(t, g.FS, out), want); diff != "" {
				t.Errorf("killed at %s: in the end %s", step, diff)
			}
		}
	}
}

// TestADirectoryOfAKilledAppendIsInTheWay makes a directory with the name of a day of a killed append. The same append
// changes nothing, until the directory is moved away.
func TestADirectoryOfAKilledAppendIsInTheWay(t *testing.T) {
	g, last := severalGrowing(t)
	out := filepath.Join(g.Dir, "in the way", "out")
	g.KillAppend(t, last, out, breakpoint.Publish)
	day := filepath.Join(out, "date="+g.Spans[last].To.String())
	if err := os.Mkdir(day, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := g.Append(t, last, out); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), day+": file already exists, and it is not of the result: move it away") {
		t.Errorf("%v, want that %s is in the way", err, day)
	}
	if err := os.Remove(day); err != nil {
		t.Fatal(err)
	}
	if err := g.Append(t, last, out); err != nil {
		t.Error(err)
	}
	g.CheckEnd(t, last, out)
}

// TestAFinishedAppendNamesUsersNotFound kills an append of a list with one unknown user, which adds no directory. The
// same append counts this user.
func TestAFinishedAppendNamesUsersNotFound(t *testing.T) {
	g, last := severalGrowing(t, "nobody")
	out := filepath.Join(g.Dir, "list", "out")
	g.KillAppend(t, last, out, breakpoint.Publish)
	r, err := g.Extract(t.Context(), g.Of(last), g.Turn, out)
	if err != nil || r.Lost.Users != 1 || r.Lost.File == nil || r.NotFound != 1 {
		t.Errorf("%+v, %v, want a user who was not found, and the file with the ID", r, err)
	}
	g.CheckEnd(t, last, out)
}

// TestADamagedAppendIsNotFinished damages a part of a killed append. The next append changes nothing. After
// the step of its message, the same append ends as an undisturbed one.
func TestADamagedAppendIsNotFinished(t *testing.T) {
	g, last := severalGrowing(t)
	for _, step := range []string{breakpoint.Publish, breakpoint.Moved} {
		for what, harm := range map[string]func(part string) error{
			"removed": os.Remove,
			"cut":     func(part string) error { return os.Truncate(part, 100) },
			"changed": func(part string) error {
				b, err := os.ReadFile(part)
				if err == nil {
					b[len(b)/2] ^= 1
					err = os.WriteFile(part, b, 0o644)
				}
				return err
			},
		} {
			dir := filepath.Join(g.Dir, step+" "+what)
			out := filepath.Join(dir, "out")
			g.KillAppend(t, last, out, step)
			parts, err := filepath.Glob(filepath.Join(dir, "*", "date="+g.Spans[last].From.String(), "part-*"))
			if err != nil || len(parts) == 0 {
				t.Fatalf("killed at %s: parts %q, %v", step, parts, err)
			}
			if err := harm(parts[0]); err != nil {
				t.Fatal(err)
			}
			before := dfstest.Snapshot(t, g.FS, dir)
			delete(before, ".out.lock")
			place := filepath.Join(dir, ".out.partial")
			for _, at := range []int{last, 0} {
				if err := g.Append(t, at, out); !errors.Is(err, dfs.ErrDamaged) || !strings.Contains(err.Error(), "remove "+place) {
					t.Errorf("killed at %s, %s: %v, want that a file is damaged, and the next step", step, what, err)
				}
			}
			if diff := extracttest.Differ(dfstest.Snapshot(t, g.FS, dir), before); diff != "" {
				t.Errorf("killed at %s, %s: %s", step, what, diff)
			}
			if err := errors.Join(os.RemoveAll(place), os.RemoveAll(filepath.Join(out, "date="+g.Spans[last].From.String()))); err != nil {
				t.Fatal(err)
			}
			if err := g.Append(t, last, out); err != nil {
				t.Errorf("killed at %s, %s: after the step: %v", step, what, err)
			}
			g.CheckEnd(t, last, out)
		}
	}
}
