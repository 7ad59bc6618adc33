package e2e_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/verify"
	"usertrail/internal/extract"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	_ "usertrail/internal/format/layout/toy"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/files"
	"usertrail/internal/test/document"
	"usertrail/internal/test/testkit"
)

// TestEveryLayoutGivesTheSameTrails loads a spring of the journeys, in which clocks change,
// into a table of every layout, including the toy's. All must have the same results.
func TestEveryLayoutGivesTheSameTrails(t *testing.T) {
	s := span(t, "2017-03-05", "2017-03-19")
	var want []string
	for _, name := range append([]string{layout.Default}, slices.DeleteFunc(layout.Names(), func(name string) bool { return name == layout.Default })...) {
		dir := filepath.Join(t.TempDir(), "trails")
		loadLayout(t, name, dir, s)
		var got []string
		for _, users := range []string{"", "1\n7\n10\n100\n1000\n2500\nnobody\n"} {
			got = append(got, linesOf(t, name, dir, users, s)...)
		}
		if name == layout.Default {
			want = got
			if len(want) < 1000 {
				t.Fatalf("%d behaviours are too few to tell", len(want))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s gives %d behaviours, not the %d of %s", name, len(got), len(want), layout.Default)
		}
	}
}

// loadLayout loads the journeys of a span into a new table of a layout, and verifies it.
func loadLayout(t *testing.T, name, dir string, s behaviour.Span) {
	t.Helper()
	text := document.Read(t, "jobs/"+journey.job)
	text = strings.Replace(text, journey.written, filepath.Join(testkit.Shared(t, "data/logs"), journey.logs), 1)
	text = strings.Replace(text, "\ntable:", "\nlayout: "+name+"\ntable:", 1)
	j, err := job.Parse(journey.job, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	disk := local.New()
	r, err := load.Run(t.Context(), load.Config{
		Resources: bulkload.Resources{FS: disk, Store: files.Store{FS: disk, Dir: dir}, Workers: 2, Temp: filepath.Join(dir, catalog.TempName), Progress: quiet},
		Job:       j, Span: s,
	})
	if err := errors.Join(err, r.Check()); err != nil || r.Loaded == 0 {
		t.Fatalf("%s: loaded %+v, %v", name, r.Counts, err)
	}
	v, err := verify.Run(t.Context(), verify.Config{Store: files.Store{FS: disk, Dir: dir}, Workers: 2, Progress: quiet})
	if err != nil || v.Cells == 0 || v.DifferingDays > 0 || v.ForeignCells > 0 {
		t.Errorf("%s: verify: %+v, %v", name, v, err)
	}
}

// linesOf returns the events of users, or of all users if none are named, as sorted lines of
// JSON.
func linesOf(t *testing.T, name, dir, users string, s behaviour.Span) []string {
	t.Helper()
	disk := local.New()
	tab, err := files.Open(t.Context(), disk, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	if is := tab.Info().Layout.Name(); is != name {
		t.Fatalf("the table's layout is %s, want %s", is, name)
	}
	list := userlist.All()
	if users != "" {
		if list, err = userlist.Read(strings.NewReader(users), "users", tab.Info().Layout, 1<<20); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(t.TempDir(), "out")
	_, err = extract.Run(t.Context(), extract.Config{
		Spec:   query.Spec{Users: list, Span: s, Types: journeyTypes, Active: "any", Output: query.Output{Format: query.JSONL}},
		Target: place.Target{FS: disk, Out: out},
		Table:  tab, Workers: 2, Progress: quiet,
	})
	if err != nil {
		t.Fatal(err)
	}
	parts, err := filepath.Glob(filepath.Join(out, "part-*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, part := range parts {
		text, err := os.ReadFile(part)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Split(strings.TrimSpace(string(text)), "\n")...)
	}
	slices.Sort(lines)
	return lines
}
