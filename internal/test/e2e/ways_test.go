package e2e_test

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/importer"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/samplelog"
	"usertrail/internal/bulkload/verify"
	"usertrail/internal/extract"
	"usertrail/internal/extract/notfound"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/run/progress"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
	"usertrail/internal/table/files"
	"usertrail/internal/table/live"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// A waysFixture holds logs of three nights, a table of files, and tables in HBase that get
// the same records in every possible way.
type waysFixture struct {
	t    *testing.T
	c    *clustertest.Cluster
	fs   dfs.FS
	conf *hadoopconf.Conf
	dir  string
	span behaviour.Span
	job  *job.Job
	user func(i int) string // returns a user of the logs
}

func newTown(t *testing.T) *waysFixture {
	t.Helper()
	w := emptyWaysFixture(t, span(t, "2014-09-01", "2014-09-03"))
	sample := samplelog.Config{Records: 20_000, Users: 500, Days: 3, From: w.span.From, Seed: 2, Bad: samplelog.DefaultBad}
	if _, err := samplelog.Write(t.Context(), w.fs, filepath.Join(w.dir, "logs"), sample); err != nil {
		t.Fatal(err)
	}
	w.job, w.user = settopbox(t, filepath.Join(w.dir, "logs")), sample.User
	return w
}

// emptyWaysFixture returns a fixture without logs.
func emptyWaysFixture(t *testing.T, s behaviour.Span) *waysFixture {
	t.Helper()
	c := clustertest.Get(t)
	conf, err := hadoopconf.Load(c.ConfDir())
	if err != nil {
		t.Fatal(err)
	}
	return &waysFixture{t: t, c: c, fs: c.Files(), conf: conf, dir: t.TempDir(), span: s}
}

// files returns the table of files.
func (w *waysFixture) files() table.Store {
	return files.Store{FS: w.fs, Dir: filepath.Join(w.dir, "trails")}
}

// hbase creates a table of two regions in HBase.
func (w *waysFixture) hbase(way string, options ...string) *live.Store {
	w.t.Helper()
	name := w.c.Create(w.t, "d", append([]string{"split=5", "COMPRESSION=SNAPPY", "DATA_BLOCK_ENCODING=FAST_DIFF", "BLOOMFILTER=ROW"}, options...)...)
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
func (w *waysFixture) load(to table.Store, mode bulkload.Mode, late bool) {
	w.t.Helper()
	s := behaviour.Span{From: w.span.From, To: w.span.To - 1}
	if late {
		s.From, s.To = w.span.To, w.span.To
	}
	r, err := load.Run(w.t.Context(), load.Config{
		Resources: bulkload.Resources{FS: w.fs, Store: to, Workers: 2, Temp: w.t.TempDir(), Progress: quiet},
		Job:       w.job, Span: s, Mode: mode,
	})
	if err != nil {
		w.t.Fatalf("load by %s into %s: %v", mode, to.Address(), err)
	}
	if err := r.Check(); err != nil || r.Loaded == 0 {
		w.t.Errorf("loaded by %s: %+v, %v", mode, r.Counts, err)
	}
}

var quiet = progress.Config{Quiet: true}

// imports imports the new loads of the table of files into HBase.
func (w *waysFixture) imports(to table.Store) {
	w.t.Helper()
	from, err := files.Open(w.t.Context(), w.fs, w.files().Address())
	if err != nil {
		w.t.Fatal(err)
	}
	defer from.Close()
	with := bulkload.Resources{FS: w.fs, Store: to, Temp: w.t.TempDir(), Workers: 2, Progress: quiet}
	if _, err := importer.Run(w.t.Context(), with, from); err != nil {
		w.t.Fatalf("import into %s: %v", to.Address(), err)
	}
}

// verified fails unless the content of a table matches its ledgers.
func (w *waysFixture) verified(s table.Store) {
	w.t.Helper()
	r, err := verify.Run(w.t.Context(), verify.Config{Store: s, Workers: 2, Progress: quiet})
	if err != nil || r.Cells == 0 {
		w.t.Errorf("verify %s: %+v, %v", s.Address(), r, err)
	}
}

// A tableQuery is a query that every table gets. Few is the number of its users from the
// list; 0 is all users.
type tableQuery struct {
	name       string
	few        int
	types      []string
	active     string
	conditions query.Conditions
}

var tableQueries = []tableQuery{
	{name: "everything", types: []string{"play", "order", "visit", "login"}, active: "min:2"},
	{name: "few stay", types: []string{"play", "visit"}, conditions: query.Conditions{Having: "sum(order.price) > 600 && count(play.channel) >= 40"}},
	{name: "a sequence", types: []string{"play", "order"}, active: "any", conditions: query.Conditions{
		Sequence: "visit -> play within 1h -> order within 12h", Where: "hour >= 6", Latest: 5,
	}},
	{name: "some of a list", few: 100, types: []string{"play", "visit"}, active: "any", conditions: query.Conditions{Without: []string{"order", "login"}}},
	{name: "some fields", types: []string{"play", "order"}, conditions: query.Conditions{
		Where: "play.seconds >= 3600 || order.price > 50", Fields: []string{"play.programme", "order.price"}, Context: 1,
	}},
}

// turn returns all queries or, in a run that does not cover everything, the first and one other.
// n chooses the other query.
func turn(n int) []tableQuery {
	others := tableQueries[1:]
	return testkit.Pick([]tableQuery{tableQueries[0], others[n%len(others)]}, tableQueries)
}

// of returns the results of some queries.
func of(results map[string]string, queries []tableQuery) map[string]string {
	out := maps.Clone(results)
	maps.DeleteFunc(out, func(name, _ string) bool {
		query, _, _ := strings.Cut(name, "/")
		return !slices.ContainsFunc(queries, func(q tableQuery) bool { return q.name == query })
	})
	return out
}

// resultsOf returns the Parquet files and the counts of queries. Without rolls, only the rows
// show which users exist.
func (w *waysFixture) resultsOf(queries []tableQuery, s table.Store, plan fetch.Plan, rolls bool) map[string]string {
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
	results := map[string]string{}
	for i := range queries {
		maps.Copy(results, w.run(&queries[i], asked, plan))
	}
	return results
}

// run returns the Parquet files and counts of one query.
func (w *waysFixture) run(e *tableQuery, asked table.Table, plan fetch.Plan) map[string]string {
	w.t.Helper()
	out := filepath.Join(w.t.TempDir(), "out")
	result, err := extract.Run(w.t.Context(), extract.Config{
		Spec:   query.Spec{Users: w.users(e.few, asked.Info().Layout), Span: w.span, Types: e.types, Active: e.active, Conditions: e.conditions},
		Target: place.Target{FS: w.fs, Out: out},
		Table:  asked, Plan: plan, Workers: 2, Progress: quiet,
	})
	if err != nil {
		w.t.Fatalf("%s: extract by %s of %s: %v", e.name, plan, asked.Info().Address, err)
	}
	if some := result.Kept > 0; !some || e.name != "everything" && result.Kept == result.Found {
		w.t.Errorf("%s: of %d found users %d are kept", e.name, result.Found, result.Kept)
	}
	found := map[string]string{
		e.name: fmt.Sprintf("%d users, %d found, %d active, %d kept by the steps %v, %d events", result.Users, result.Found, result.Active, result.Kept, funnel(w.t, out), result.Events),
	}
	for name, b := range dfstest.Snapshot(w.t, w.fs, out) {
		if name != place.ManifestName { // it names the table
			found[e.name+"/"+name] = b
		}
	}
	return found
}

// users returns the first few users, one of them unknown, or all users.
func (w *waysFixture) users(few int, l layout.Layout) *userlist.List {
	w.t.Helper()
	if few == 0 {
		return userlist.All()
	}
	list := "nobody\n"
	for i := range few {
		list += w.user(i) + "\n"
	}
	users, err := userlist.Read(strings.NewReader(list), "list", l, 1<<20)
	if err != nil {
		w.t.Fatal(err)
	}
	return users
}

// rolled fails unless the query uses a table's rolls. Only the rolls know which users do not
// exist.
func (w *waysFixture) rolled(asked table.Table) {
	w.t.Helper()
	users, err := asked.Users(w.t.Context(), split.Region{}, w.span)
	if err != nil {
		w.t.Fatal(err)
	}
	defer users.Close()
	if nobody := []byte("00000nobody,"); users.SeekGE(nobody) && bytes.Equal(users.User().Key, nobody) || users.Err() != nil {
		w.t.Errorf("%s does not read its users from its rolls (%v)", asked.Info().Address, users.Err())
	}
}

// inOrder sorts lines.
func inOrder(text string) string {
	return strings.Join(slices.Sorted(strings.Lines(text)), "")
}

// same compares results with the results of the table of files.
func (w *waysFixture) same(what string, got, want map[string]string) {
	w.t.Helper()
	for name, b := range want {
		if strings.HasSuffix(name, "/"+notfound.FileName) { // in the order of the layout
			if inOrder(got[name]) != inOrder(b) {
				w.t.Errorf("%s: %s and the table of files have different users", what, name)
			}
		} else if got[name] != b {
			w.t.Errorf("%s: %s differs from the result of the table of files", what, name)
		}
	}
	if len(got) != len(want) {
		w.t.Errorf("%s: %d counts and files, want %d", what, len(got), len(want))
	}
}

// TestEveryWayAgrees loads the same nights as a table of files, by puts, by HFiles and by an
// import. A region is split between the nights. Every table gets all queries with every plan,
// with its rolls and without. In a run that does not cover everything, a table gets two of them
// with each plan.
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

	want := w.resultsOf(tableQueries, trails, fetch.Auto, true)
	if len(want) < 3*len(tableQueries) {
		t.Fatalf("the results have %d files", len(want)-len(tableQueries))
	}
	w.same("the table of files without its rolls", w.resultsOf(tableQueries, trails, fetch.Auto, false), want)
	w.verified(trails)
	users := w.some(trails, 20)
	pages := w.shown(trails, users)
	digests := map[clustertest.Digest]string{}
	n := 0
	for _, way := range slices.Sorted(maps.Keys(stores)) {
		s := stores[way]
		w.verified(s)
		w.same(way+", shown", w.shown(s, users), pages)
		digests[w.c.Digest(t, filepath.Base(s.Address()))] = way
		for _, plan := range []fetch.Plan{fetch.Get, fetch.Scan, fetch.Snapshot} {
			// If not everything is covered, only the queries on the table of puts do without
			// rolls.
			for _, rolls := range testkit.Pick([]bool{way != "puts"}, []bool{true, false}) {
				queries := turn(n)
				n++
				w.same(fmt.Sprintf("%s, read by %s, by rolls: %t", way, plan, rolls), w.resultsOf(queries, s, plan, rolls), of(want, queries))
			}
		}
	}
	if len(digests) != 1 {
		t.Errorf("HBase's own scan finds different cells: %v", digests)
	}
}
