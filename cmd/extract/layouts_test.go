package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload"

	"usertrail/internal/bulkload/load"
	"usertrail/internal/extract/explain"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/files"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// csv returns the standard output of an extract of all users.
func csv(t *testing.T, address string, query ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args := append([]string{"--table", address, "--users", "all", "--format", "csv", "--out", "-", "--quiet"}, query...)
	if status := run(t.Context(), args, strings.NewReader(""), &stdout, &stderr); status != 0 {
		t.Fatalf("extract %q: status %d, %s", args, status, &stderr)
	}
	return stdout.String()
}

// TestLiveTablesOfAllLayoutsAreReadWhereItMatters runs queries with --hours, --at, --latest and
// --where on tables in HBase, with rolls and without. The results are the same as from a
// table of files.
func TestLiveTablesOfAllLayoutsAreReadWhereItMatters(t *testing.T) {
	w := testworld.Numbered(2, 60)
	day, all := (w.Span.From + 1).String(), strings.Join(w.Names(), ",")
	span := []string{"--from", w.Span.From.String(), "--to", w.Span.To.String()}
	queries := [][]string{
		{"--from", day, "--to", day, "--types", all, "--active", "any", "--hours", "8-20"},
		{"--from", day, "--to", day, "--types", "play,order", "--active", "any", "--hours", "20-24", "--where-first"},
		append([]string{"--types", all, "--active", "any", "--at", day + " 12:00"}, span...),
		append([]string{"--types", all, "--active", "any", "--latest", "2"}, span...),
		append([]string{"--types", all, "--active", "any", "--where", `play.seconds >= 1 && play.seconds != 7 || order.price > 0`}, span...),
		append([]string{"--types", "play", "--active", "any", "--where", `play.title startsWith "a" || play.title > "p"`, "--having", "count(play) >= 1"}, span...),
	}
	both := []string{"use", "off"}
	var want []string
	for _, name := range layout.Names() {
		l := settledAs(t, w, name)
		if want == nil {
			want = l.inFiles(t, w, queries)
		}
		for i, q := range queries {
			for _, rolls := range testkit.Pick(both[i%2:][:1], both) {
				if got := csv(t, l.address(), append([]string{"--rolls", rolls}, q...)...); got != want[i] || strings.Count(got, "\n") < 10 {
					t.Errorf("layout %s, --rolls %s, %q: the result is\n%s\nwant\n%s", name, rolls, q, got, want[i])
				}
			}
		}
		var x explain.Explanation
		l.lastLine(t, &x, append([]string{"explain", "--users", "all"}, queries[3]...)...)
		if newest := name == "tall" || name == "wide"; slices.Contains(x.Pushed, "newest") != newest {
			t.Errorf("layout %s: of the latest two %q are pushed down", name, x.Pushed)
		}
		l.lastLine(t, &x, append([]string{"explain", "--users", "all"}, queries[4]...)...)
		if values := name == "game" || name == "fixed"; slices.Contains(x.Pushed, "values") != values {
			t.Errorf("layout %s: of some values %q are pushed down", name, x.Pushed)
		}
	}
}

// inFiles returns the results of a table of files.
func (l *snapshotFixture) inFiles(t *testing.T, w *testworld.W, queries [][]string) (out []string) {
	t.Helper()
	j, err := job.Parse(filepath.Join(l.dir, "usertrail.yaml"), []byte(w.Job()))
	if err != nil {
		t.Fatal(err)
	}
	disk := local.New()
	s := files.Store{FS: disk, Dir: filepath.Join(l.dir, "files")}
	if _, err := load.Run(t.Context(), load.Config{Resources: bulkload.Resources{FS: disk, Store: s, Temp: filepath.Join(t.TempDir(), "temp")}, Job: j, Span: w.Span}); err != nil {
		t.Fatal(fmt.Errorf("load a table of files: %w", err))
	}
	for _, q := range queries {
		out = append(out, csv(t, s.Dir, q...))
	}
	return out
}
