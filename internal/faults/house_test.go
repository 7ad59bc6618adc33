package faults_test

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"usertrail/internal/clustertest"
	"usertrail/internal/dfs"
	"usertrail/internal/dfs/hdfs"
	"usertrail/internal/dfs/local"
	"usertrail/internal/hadoopconf"
	"usertrail/internal/rowkey"
)

const behaviours = `
user: user_id
time: {column: time, format: "2006-01-02 15:04:05"}
behaviours:
  play: {id: 1, fields: {programme: string, channel: string, seconds: int64, url: string}}
  order: {id: 2, fields: {product: string, price: double, quantity: int64, note: string}}
  visit: {id: 3, fields: {page: string, referrer: string, duration: int64}}
  login: {id: 4, fields: {device: string, ip: string, success: bool}}
`

// A house is a table and the folder of those who work with it.
type house struct {
	c     *clustertest.Cluster
	table string
	dir   string
}

// newHouse makes a table without rows, two regions to a server. Its catalog is in the
// folder files.
func newHouse(t *testing.T, c *clustertest.Cluster, files string) *house {
	t.Helper()
	prepare(t)
	h := &house{c: c, table: c.Create(t, "d", "split=2", "split=4", "split=5", "split=7", "split=9"), dir: t.TempDir()}
	h.write(t, "usertrail.yaml", fmt.Sprintf("logs: {path: %q, zone: Asia/Shanghai}\ntable: {path: %q, catalog: %q}\n%s",
		filepath.Join(home, "logs/{date}/{behaviour}.csv.gz"), h.address(), files+"/catalog", behaviours))
	return h
}

func (h *house) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (h *house) address() string { return "hbase://" + h.c.ZooKeeper() + "/" + h.table }

// env tells the programs where HDFS is.
func (h *house) env() []string { return []string{"HADOOP_CONF_DIR=" + h.c.ConfDir()} }

// load begins to load the sample.
func (h *house) load(t *testing.T, flags ...string) *process {
	t.Helper()
	return start(t, h.dir, h.env(), "bulkload", append([]string{"--mode", "put", "--from", span.From.String(), "--to", span.To.String()}, flags...)...)
}

// A question is what an extract is asked.
type question struct{ plan, users string }

// questions are all of them.
func questions() []question {
	list := filepath.Join(home, "users")
	return []question{{"get", list}, {"scan", "all"}, {"scan", list}, {"get", "all"}}
}

// extract begins to answer a question into the folder out.
func (h *house) extract(t *testing.T, q question, out string, flags ...string) *process {
	t.Helper()
	return start(t, h.dir, h.env(), "extract", append([]string{"--plan", q.plan, "--users", q.users, "--active", "any", "--types", "play,order,visit,login",
		"--from", span.From.String(), "--to", span.To.String(), "--out", out}, flags...)...)
}

// files are all files that the programs can reach.
func (h *house) files() dfs.FS {
	conf := func() (*hadoopconf.Conf, error) { return hadoopconf.Load(h.c.ConfDir()) }
	return dfs.NewMux(map[string]dfs.FS{"": local.New(), hdfs.Scheme: hdfs.New(hdfs.Config{Conf: conf})})
}

// parts are the digests of the Parquet files in the folder out.
func (h *house) parts(t *testing.T, out string) map[string]string {
	t.Helper()
	files := h.files()
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

// holds says whether HBase's own client finds a row.
func (h *house) holds(t *testing.T, row string) bool {
	t.Helper()
	return len(h.c.Admin(t, "get", h.table, row)) > 0
}

// first and last are rows of the file that is loaded first and of the one that is
// loaded last.
func first(t *testing.T) string { return rowIn(t, span.From.String()+"/login.csv.gz", 4) }
func last(t *testing.T) string  { return rowIn(t, span.To.String()+"/visit.csv.gz", 3) }

// rowIn is the row of the first record in a file of the sample.
func rowIn(t *testing.T, name string, behaviourID uint16) string {
	t.Helper()
	f, err := os.Open(filepath.Join(home, "logs", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(z)
	r.FieldsPerRecord = -1
	for {
		record, err := r.Read()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		date := span.From
		if strings.HasPrefix(name, span.To.String()) {
			date = span.To
		}
		if len(record) > 1 && strings.HasPrefix(record[1], date.String()) {
			return string(rowkey.Key{User: record[0], Date: date, Behaviour: behaviourID}.Append(nil))
		}
	}
}

// A reference is a table that was loaded, and questions that were answered, while
// nothing broke.
type reference struct {
	*house
	loaded  result
	digest  clustertest.Digest
	answers map[question]answer
}

// An answer is what an extract said and wrote.
type answer struct {
	said  result
	parts map[string]string
}

func newReference(t *testing.T, c *clustertest.Cluster) *reference {
	t.Helper()
	files := t.TempDir()
	r := &reference{house: newHouse(t, c, files), answers: map[question]answer{}}
	began := time.Now()
	r.loaded = r.load(t).done(t)
	t.Logf("the load took %s", time.Since(began).Round(time.Millisecond))
	r.digest = c.Digest(t, r.table)
	if r.digest.Cells != r.loaded.Cells || r.loaded.Cells == 0 {
		t.Fatalf("HBase's scan finds %d cells, the load says %d", r.digest.Cells, r.loaded.Cells)
	}
	for i, q := range questions() {
		began := time.Now()
		out := fmt.Sprint(files, "/", i)
		a := answer{said: r.extract(t, q, out).done(t), parts: r.parts(t, out)}
		t.Logf("%v took %s: %d parts", q, time.Since(began).Round(time.Millisecond), len(a.parts))
		r.answers[q] = a
		for other, b := range r.answers {
			if other.users == q.users && !maps.Equal(a.parts, b.parts) {
				t.Fatalf("%v and %v have different answers: %v, %v", q, other, a.parts, b.parts)
			}
		}
	}
	return r
}

// checkLoad checks what a load made of a table.
func (r *reference) checkLoad(t *testing.T, h *house) {
	t.Helper()
	if got := h.c.Digest(t, h.table); got != r.digest {
		t.Errorf("the table is %+v, undisturbed it is %+v", got, r.digest)
	}
}

// checkSaid checks the counts of a load that began with an empty table.
func (r *reference) checkSaid(t *testing.T, said result) {
	t.Helper()
	got := []int64{said.Read, said.Loaded, said.Quarantined, said.Duplicate, said.Skipped, said.Cells, int64(said.Files)}
	u := r.loaded
	want := []int64{u.Read, u.Loaded, u.Quarantined, u.Duplicate, u.Skipped, u.Cells, int64(u.Files)}
	if !slices.Equal(got, want) {
		t.Errorf("the load says %d of read, loaded, quarantined, duplicate, skipped, cells, files; undisturbed %d", got, want)
	}
}

// checkAnswer checks what an extract said and wrote.
func (r *reference) checkAnswer(t *testing.T, q question, said result, out string) {
	t.Helper()
	want := r.answers[q]
	if said.Users != want.said.Users || said.Found != want.said.Found || said.Active != want.said.Active || said.Events != want.said.Events || said.Files != want.said.Files {
		t.Errorf("%v says %+v, undisturbed %+v", q, said, want.said)
	}
	if got := r.parts(t, out); !maps.Equal(got, want.parts) {
		t.Errorf("%v wrote %v, undisturbed %v", q, got, want.parts)
	}
}
