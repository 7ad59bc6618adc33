package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/extract"
	"usertrail/internal/extract/estimate"
	"usertrail/internal/extract/explain"
	"usertrail/internal/extract/place"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/live"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testworld"
)

// settled is a table in HBase with random records, loaded by puts.
func settled(t *testing.T, w *testworld.W) *snapshotFixture { return settledAs(t, w, layout.Default) }

func settledAs(t *testing.T, w *testworld.W, name string) *snapshotFixture {
	how, err := layout.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	c := clustertest.Get(t)
	t.Setenv("HADOOP_CONF_DIR", c.ConfDir())
	l := &snapshotFixture{c, "", t.TempDir()}
	versions := fmt.Sprintf("VERSIONS=%d", max(1, how.Traits().Versions))
	l.name = c.Create(t, "d", versions, "split=2", "split=5", "table."+live.CatalogAttribute+"="+filepath.Join(l.dir, "catalog"))
	conf, err := hadoopconf.Load(c.ConfDir())
	if err != nil {
		t.Fatal(err)
	}
	disk := local.New()
	s, err := live.Connect(t.Context(), disk, l.address(), live.Options{Conf: conf})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := w.WriteLogs(l.dir); err != nil {
		t.Fatal(err)
	}
	j, err := job.Parse(filepath.Join(l.dir, "usertrail.yaml"), []byte(w.Job()))
	if err != nil {
		t.Fatal(err)
	}
	j.Layout = name
	if _, err := load.Run(t.Context(), load.Config{Resources: bulkload.Resources{FS: disk, Store: s, Workers: 2}, Job: j, Span: w.Span, Mode: bulkload.Put}); err != nil {
		t.Fatal(err)
	}
	return l
}

// lastLine runs the program and reads the last line of its standard output into v.
func (l *snapshotFixture) lastLine(t *testing.T, v any, args ...string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if status := run(t.Context(), append(args, "--table", l.address(), "--quiet"), strings.NewReader(""), &stdout, &stderr); status != 0 {
		t.Fatalf("extract %q: status %d, %s", args, status, &stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), v); err != nil {
		t.Fatalf("extract %q: %v: %s", args, err, lines[len(lines)-1])
	}
}

// TestExplainOfALiveTableComesTrue explains queries of a table in HBase, and runs them.
// Users and rows are exact. Events, cells and calls are within a factor. Explain takes no
// snapshot.
func TestExplainOfALiveTableComesTrue(t *testing.T) {
	w := testworld.World(2, 400)
	l := settled(t, w)
	const factor = 2
	near := func(a, b int64) bool { return a <= b*factor && b <= a*factor }
	for _, c := range []struct{ plan, chosen, types string }{
		{"auto", estimate.Scan, "play,order,login"},
		{"get", estimate.Get, "play,login"},
		{"scan", estimate.Scan, "play"},
		{"snapshot", estimate.Snapshot, "play,login"},
	} {
		query := []string{"--users", "all", "--from", w.Span.From.String(), "--to", w.Span.To.String(), "--active", "all", "--types", c.types, "--plan", c.plan}
		before := l.snapshots(t)
		var x explain.Explanation
		l.lastLine(t, &x, append([]string{"explain"}, query...)...)
		if n := l.snapshots(t); n != before {
			t.Errorf("--plan %s: there were %d snapshots, and after it was explained %d", c.plan, before, n)
		}
		p := x.Plans[x.Chosen]
		if p.Name != c.chosen || len(x.Plans) != 5 || x.Rolls != estimate.Known || x.Regions != 3 {
			t.Errorf("--plan %s: %+v is chosen of %d plans, rolls %s, %d regions", c.plan, p, len(x.Plans), x.Rolls, x.Regions)
		}
		out := filepath.Join(t.TempDir(), "out")
		var r extract.Result
		l.lastLine(t, &r, append(query, "--out", out)...)
		m := new(manifest.Extract)
		if err := manifest.Read(t.Context(), local.New(), filepath.Join(out, place.ManifestName), m); err != nil {
			t.Fatal(err)
		}
		took := m.Cost.Outcome
		t.Logf("--plan %s: %+v; took %+v, %d calls", c.plan, p, took, r.Calls)
		if !x.Exact || x.Users != r.Users || x.May != r.Active || p.Rows != took.Rows || took.Rows == 0 {
			t.Errorf("--plan %s: explained as %d users, %d active, %d rows; there are %d, %d and %d", c.plan, x.Users, x.May, p.Rows, r.Users, r.Active, took.Rows)
		}
		if !near(p.Behaviours, took.Behaviours) || !near(p.Cells, took.Cells) {
			t.Errorf("--plan %s: estimated %+v, took %+v", c.plan, p, took)
		}
		if c.chosen != estimate.Snapshot && (r.Calls == 0 || !near(p.Calls, r.Calls)) {
			t.Errorf("--plan %s: estimated %d calls, took %d", c.plan, p.Calls, r.Calls)
		}
	}
}
