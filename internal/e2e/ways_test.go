package e2e_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/clustertest"
	"usertrail/internal/dfs"
	"usertrail/internal/dfs/dfstest"
	"usertrail/internal/dfs/hdfs"
	"usertrail/internal/dfs/local"
	"usertrail/internal/extract"
	"usertrail/internal/fetch"
	"usertrail/internal/hadoopconf"
	"usertrail/internal/progress"
	"usertrail/internal/samplelog"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/table/files"
	"usertrail/internal/table/live"
	"usertrail/internal/verify"
)

// A town is logs of three nights, a table of files, and tables in HBase that get the
// same records in every way there is.
type town struct {
	t    *testing.T
	c    *clustertest.Cluster
	fs   dfs.FS
	conf *hadoopconf.Conf
	dir  string
	span behaviour.Span
}

func newTown(t *testing.T) *town {
	t.Helper()
	c := clustertest.Get(t)
	conf, err := hadoopconf.Load(c.ConfDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &town{t: t, c: c, conf: conf, dir: t.TempDir(), span: span(t, "2014-09-01", "2014-09-03")}
	w.fs = dfs.NewMux(map[string]dfs.FS{
		"":          local.New(),
		hdfs.Scheme: hdfs.New(hdfs.Config{Conf: func() (*hadoopconf.Conf, error) { return conf, nil }}),
	})
	if _, err := samplelog.Write(t.Context(), w.fs, filepath.Join(w.dir, "logs"), samplelog.Config{Records: 20_000, Users: 500, Days: 3, From: w.span.From, Seed: 2, Bad: samplelog.DefaultBad}); err != nil {
		t.Fatal(err)
	}
	return w
}

// files is the table of files.
func (w *town) files() table.Store {
	return files.Store{FS: w.fs, Dir: filepath.Join(w.dir, "trails")}
}

// hbase makes a table of two regions in HBase.
func (w *town) hbase(way string) *live.Store {
	w.t.Helper()
	name := w.c.Create(w.t, "d", "split=5", "COMPRESSION=SNAPPY", "DATA_BLOCK_ENCODING=FAST_DIFF", "BLOOMFILTER=ROW")
	s, err := live.Connect(w.t.Context(), w.fs, fmt.Sprintf("hbase://%s/%s", w.c.ZooKeeper(), name), live.Options{Conf: w.conf, Catalog: filepath.Join(w.dir, way)})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			w.t.Error(err)
		}
	})
	return s
}

// load loads the first two nights, or the last.
func (w *town) load(to table.Store, mode bulkload.Mode, late bool) {
	w.t.Helper()
	s := behaviour.Span{From: w.span.From, To: w.span.To - 1}
	if late {
		s.From, s.To = w.span.To, w.span.To
	}
	r, err := bulkload.Run(w.t.Context(), bulkload.Config{
		FS: w.fs, Job: settopbox(w.t, filepath.Join(w.dir, "logs")), Store: to, Span: s, Mode: mode, Workers: 2, Temp: w.t.TempDir(), Progress: quiet,
	})
	if err != nil {
		w.t.Fatalf("load by %s into %s: %v", mode, to.Address(), err)
	}
	if err := r.Check(); err != nil || r.Loaded == 0 {
		w.t.Errorf("loaded by %s: %+v, %v", mode, r.Counts, err)
	}
}

var quiet = progress.Config{Quiet: true}

// imports takes what is new in the table of files into HBase.
func (w *town) imports(to table.Store) {
	w.t.Helper()
	from, err := files.Open(w.t.Context(), w.fs, w.files().Address())
	if err != nil {
		w.t.Fatal(err)
	}
	defer from.Close()
	if _, err := bulkload.Import(w.t.Context(), bulkload.ImportConfig{From: from, Store: to, Workers: 2, Progress: quiet}); err != nil {
		w.t.Fatalf("import into %s: %v", to.Address(), err)
	}
}

// verified fails unless a table holds what its ledgers say.
func (w *town) verified(s table.Store) {
	w.t.Helper()
	r, err := verify.Run(w.t.Context(), verify.Config{Store: s, Workers: 2, Progress: quiet})
	if err != nil || r.Cells == 0 {
		w.t.Errorf("verify %s: %+v, %v", s.Address(), r, err)
	}
}

// answer is the Parquet of an extract, and what it counted. Without rolls the rows alone
// tell who is there.
func (w *town) answer(s table.Store, plan fetch.Plan, rolls bool) map[string]string {
	w.t.Helper()
	var asked table.Table
	asked, err := s.Open(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	defer asked.Close()
	if plan == fetch.Snapshot {
		if asked, err = s.(*live.Store).Snapshot(w.t.Context(), asked, ""); err != nil {
			w.t.Fatal(err)
		}
		defer asked.Close()
	}
	if rolls {
		w.rolled(asked)
	} else {
		asked = table.Unrolled(asked)
	}
	out := filepath.Join(w.t.TempDir(), "out")
	result, err := extract.Run(w.t.Context(), extract.Config{
		FS: w.fs, Table: asked, Users: extract.AllUsers(), Span: w.span, Types: []string{"play", "order", "visit", "login"}, Active: "min:2", Plan: plan, Out: out,
		Workers: 2, Progress: quiet,
	})
	if err != nil {
		w.t.Fatalf("extract by %s of %s: %v", plan, s.Address(), err)
	}
	parts := dfstest.Snapshot(w.t, w.fs, out)
	delete(parts, "_manifest.json") // names the table
	parts["counts"] = fmt.Sprintf("%d users, %d found, %d active, %d events", result.Users, result.Found, result.Active, result.Events)
	return parts
}

// rolled fails unless a table's rolls are asked who is there: they know who is not.
func (w *town) rolled(asked table.Table) {
	w.t.Helper()
	users, err := asked.Users(w.t.Context(), split.Region{}, w.span)
	if err != nil {
		w.t.Fatal(err)
	}
	defer users.Close()
	if nobody := []byte("00000nobody,"); users.SeekGE(nobody) && bytes.Equal(users.User().Key, nobody) || users.Err() != nil {
		w.t.Errorf("%s does not ask its rolls who is there (%v)", asked.Info().Address, users.Err())
	}
}

// same compares answers with those of the table of files.
func (w *town) same(what string, got, want map[string]string) {
	w.t.Helper()
	for name, b := range want {
		if got[name] != b {
			w.t.Errorf("%s: %s is not that of the table of files", what, name)
		}
	}
	if len(got) != len(want) {
		w.t.Errorf("%s: %d files, want %d", what, len(got)-1, len(want)-1)
	}
}

// TestEveryWayAgrees loads the same nights as a table of files, by puts, by HFiles and
// by an import, a region being split in between, and asks every table by every plan,
// with its rolls and without.
func TestEveryWayAgrees(t *testing.T) {
	w := newTown(t)
	trails := w.files()
	w.load(trails, bulkload.HFile, false)
	stores := map[string]*live.Store{"puts": w.hbase("puts"), "hfiles": w.hbase("hfiles"), "import": w.hbase("import")}
	bring := func(late bool) {
		w.load(stores["puts"], bulkload.Put, late)
		w.load(stores["hfiles"], bulkload.HFile, late)
		w.imports(stores["import"])
	}
	bring(false)
	w.load(trails, bulkload.HFile, true)
	for _, s := range stores {
		w.c.Admin(t, "split", filepath.Base(s.Address()), "3")
	}
	bring(true)

	want := w.answer(trails, fetch.Auto, true)
	if len(want) < 3 {
		t.Fatalf("the answer has %d files", len(want)-1)
	}
	w.same("the table of files without its rolls", w.answer(trails, fetch.Auto, false), want)
	w.verified(trails)
	users := w.some(trails, 20)
	pages := w.shown(trails, users)
	digests := map[clustertest.Digest]string{}
	for way, s := range stores {
		w.verified(s)
		w.same(way+", shown", w.shown(s, users), pages)
		digests[w.c.Digest(t, filepath.Base(s.Address()))] = way
		for _, plan := range []fetch.Plan{fetch.Get, fetch.Scan, fetch.Snapshot} {
			for _, rolls := range []bool{true, false} {
				w.same(fmt.Sprintf("%s, read by %s, by rolls: %t", way, plan, rolls), w.answer(s, plan, rolls), want)
			}
		}
	}
	if len(digests) != 1 {
		t.Errorf("HBase's own scan finds different cells: %v", digests)
	}
}
