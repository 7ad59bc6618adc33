package faults_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"usertrail/internal/store/dfs"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// A fixture is a table and the folder of the programs that use it.
type fixture struct {
	c     *clustertest.Cluster
	table string
	dir   string
	user  []string // environment of the user of a secured cluster
}

// newFixture creates an empty table with two regions per server. Its catalog is in the folder
// files.
func newFixture(t *testing.T, c *clustertest.Cluster, files string) *fixture {
	t.Helper()
	prepare(t)
	h := &fixture{c: c, table: c.Create(t, "d", "split=2", "split=4", "split=5", "split=7", "split=9"), dir: t.TempDir()}
	h.write(t, "usertrail.yaml", fmt.Sprintf("logs: {path: %q, zone: Asia/Shanghai}\ntable: {path: %q, catalog: %q}\n%s",
		filepath.Join(testkit.Home(), "logs/{date}/{behaviour}.csv.gz"), h.address(), files+"/catalog", testkit.SampleBehaviours))
	return h
}

// newSecured is newFixture for a secured cluster. Alice uses the table, in privacy.
func newSecured(t *testing.T, c *clustertest.Cluster, files string) *fixture {
	t.Helper()
	h := newFixture(t, c, files)
	c.Admin(t, "grant", clustertest.Alice, "RWC", h.table)
	h.user = append(login(c, c.ConfDir(), clustertest.Alice), private)
	return h
}

// another creates a fixture of the same user.
func (h *fixture) another(t *testing.T, files string) *fixture {
	t.Helper()
	if h.user == nil {
		return newFixture(t, h.c, files)
	}
	return newSecured(t, h.c, files)
}

func (h *fixture) write(t *testing.T, name, text string) {
	t.Helper()
	testkit.WriteFile(t, filepath.Join(h.dir, name), text)
}

func (h *fixture) address() string { return "hbase://" + h.c.ZooKeeper() + "/" + h.table }

// env returns the environment with the address of HDFS, and the user of a secured cluster.
func (h *fixture) env() []string {
	return append([]string{"HADOOP_CONF_DIR=" + h.c.ConfDir()}, h.user...)
}

// load starts a load of the sample by puts.
func (h *fixture) load(t *testing.T, flags ...string) *process {
	t.Helper()
	return h.loadUntil(t, nowhere, flags...)
}

func (h *fixture) loadUntil(t *testing.T, s stop, flags ...string) *process {
	t.Helper()
	return start(t, h.dir, append(h.env(), s.env()...), "bulkload", append([]string{"--mode", "put", "--from", span.From.String(), "--to", span.To.String()}, flags...)...)
}

// oneDay are flags of a load of the first day.
func oneDay() []string { return []string{"--to", span.From.String()} }

// A query is the query of an extract. If it has pieces, a part of the result ends at the
// end of each piece.
type query struct{ plan, users, pieces string }

// The values of query.pieces.
const (
	uncut = ""
	cut   = "12000"
)

// pairs returns all queries, in pairs of a get and a scan.
func pairs(pieces string) [][]query {
	list := filepath.Join(testkit.Home(), "users")
	return [][]query{{{"get", list, pieces}, {"scan", "all", pieces}}, {{"scan", list, pieces}, {"get", "all", pieces}}}
}

// extractUntil starts an extract into the folder out.
func (h *fixture) extractUntil(t *testing.T, s stop, q query, out string, flags ...string) *process {
	t.Helper()
	if q.pieces != uncut {
		flags = append(flags, "--piece-size", q.pieces)
	}
	return start(t, h.dir, append(h.env(), s.env()...), "extract", append([]string{"--plan", q.plan, "--users", q.users, "--active", "any", "--types", "play,order,visit,login",
		"--from", span.From.String(), "--to", span.To.String(), "--out", out}, flags...)...)
}

// parts returns the digests of the Parquet files in the folder out.
func (h *fixture) parts(t *testing.T, out string) map[string]string {
	t.Helper()
	files := h.c.Files()
	all, err := files.List(t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for _, f := range all {
		name := dfs.Base(f.Name)
		if !strings.HasSuffix(name, ".parquet") {
			continue
		}
		b, err := dfs.ReadFile(t.Context(), files, dfs.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(b)
		sums[name] = hex.EncodeToString(sum[:])
	}
	return sums
}

// A reference is a table that was loaded, and the results of queries, without faults.
type reference struct {
	*fixture
	t       *testing.T // ends when the reference ends
	loaded  result
	digest  clustertest.Digest
	results map[query]extracted
}

// An extracted has the output and the files of an extract.
type extracted struct {
	said  result
	parts map[string]string
}

// newReference loads the table of a new fixture.
func newReference(t *testing.T, h *fixture, flags ...string) *reference {
	t.Helper()
	r := &reference{fixture: h, t: t, results: map[query]extracted{}}
	began := time.Now()
	r.loaded = r.load(t, flags...).done(t)
	t.Logf("the load took %s", time.Since(began).Round(time.Millisecond))
	r.digest = h.c.Digest(t, r.table)
	if r.digest.Cells != r.loaded.Cells || r.loaded.Cells == 0 {
		t.Fatalf("HBase's scan finds %d cells, the load says %d", r.digest.Cells, r.loaded.Cells)
	}
	return r
}

// expect runs a new query and keeps the result. Results for the same users must have the same
// counts. Results with the same pieces must have the same files.
func (r *reference) expect(t *testing.T, q query) {
	t.Helper()
	if _, ok := r.results[q]; ok {
		return
	}
	began := time.Now()
	out := filepath.Join(r.t.TempDir(), "out")
	a := extracted{said: r.extractUntil(t, nowhere, q, out).done(t), parts: r.parts(t, out)}
	t.Logf("%v took %s: %d parts", q, time.Since(began).Round(time.Millisecond), len(a.parts))
	if q.pieces == cut && len(a.parts) < 3 {
		t.Fatalf("%v has %d parts, want some more", q, len(a.parts))
	}
	for other, b := range r.results {
		if other.users != q.users {
			continue
		}
		if !a.said.same(b.said) || other.pieces == q.pieces && !maps.Equal(a.parts, b.parts) {
			t.Fatalf("%v and %v have different results: %+v, %+v", q, other, a, b)
		}
	}
	r.results[q] = a
}

// same reports whether two extracts have the same counts.
func (r result) same(o result) bool {
	return r.Users == o.Users && r.Found == o.Found && r.Active == o.Active && r.Events == o.Events
}

// checkLoad checks a loaded table.
func (r *reference) checkLoad(t *testing.T, h *fixture) {
	t.Helper()
	if got := h.c.Digest(t, h.table); got != r.digest {
		t.Errorf("the table is %+v, undisturbed it is %+v", got, r.digest)
	}
}

// checkSaid checks the counts of a load into an empty table.
func (r *reference) checkSaid(t *testing.T, said result) {
	t.Helper()
	got := []int64{said.Read, said.Loaded, said.Quarantined, said.Duplicate, said.Skipped, said.Cells, int64(said.Files)}
	u := r.loaded
	want := []int64{u.Read, u.Loaded, u.Quarantined, u.Duplicate, u.Skipped, u.Cells, int64(u.Files)}
	if !slices.Equal(got, want) {
		t.Errorf("the load says %d of read, loaded, quarantined, duplicate, skipped, cells, files; undisturbed %d", got, want)
	}
}

// checkResult checks the output and the files of an extract.
func (r *reference) checkResult(t *testing.T, q query, said result, out string) {
	t.Helper()
	want := r.results[q]
	if !said.same(want.said) || said.Files != want.said.Files {
		t.Errorf("%v says %+v, undisturbed %+v", q, said, want.said)
	}
	if got := r.parts(t, out); !maps.Equal(got, want.parts) {
		t.Errorf("%v wrote %v, undisturbed %v", q, got, want.parts)
	}
}
