package e2e_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/table/fetch"
	"usertrail/internal/table/files"
	"usertrail/internal/test/document"
	"usertrail/internal/test/testkit"
)

var journeyErrands = []tableQuery{
	{name: "everything", types: journeyTypes, active: "any"},
	{name: "both", few: 800, types: []string{"purchase", "campaign_received"}, conditions: query.Conditions{
		Where: "purchase.sales_value > 1 || campaign_received.campaign_id > 0", Fields: []string{"purchase.product_id"},
	}},
	{name: "latest", types: []string{"purchase"}, conditions: query.Conditions{Latest: 3, Hours: "8-20"}},
}

// TestEveryLayoutInHBase loads a table of each layout by puts and then by HFiles, and another
// one by an import. Gets, scans and a snapshot of each must return the same results as a table
// of files in the default layout. A run that does not cover everything uses one layout. The
// suite of live tables uses all layouts.
func TestEveryLayoutInHBase(t *testing.T) {
	w := emptyWaysFixture(t, span(t, "2017-03-10", "2017-03-13"))
	w.user = func(i int) string { return strconv.Itoa(3 * i) }
	w.lays(layout.Default)
	w.load(w.files(), bulkload.HFile, false)
	w.load(w.files(), bulkload.HFile, true)
	want := w.resultsOf(journeyErrands, w.files(), fetch.Auto, true)
	for _, name := range testkit.Pick([]string{"hashed"}, layout.Names()) {
		if name == layout.Default || name == "day" { // the toy, which is not a layout for HBase
			continue
		}
		t.Run(name, func(t *testing.T) {
			w := *w
			w.t, w.dir = t, t.TempDir()
			w.inHBase(name, want)
		})
	}
}

// lays sets the fixture's job to the job of the journeys, in a layout.
func (w *waysFixture) lays(name string) {
	w.t.Helper()
	text := document.Read(w.t, "jobs/"+journey.job)
	text = strings.Replace(text, journey.written, filepath.Join(testkit.Shared(w.t, "data/logs"), journey.logs), 1)
	text = strings.Replace(text, "\ntable:", "\nlayout: "+name+"\ntable:", 1)
	var err error
	if w.job, err = job.Parse(journey.job, []byte(text)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *waysFixture) inHBase(name string, want map[string]string) {
	w.lays(name)
	l, err := layout.ByName(name)
	if err != nil {
		w.t.Fatal(err)
	}
	versions := fmt.Sprintf("VERSIONS=%d", max(1, l.Traits().Versions))
	s, imported := w.hbase("both", versions), w.hbase("import", versions)
	w.load(s, bulkload.Put, false)
	w.load(s, bulkload.HFile, true)
	w.verified(s)
	asked := []fetch.Plan{fetch.Auto, fetch.Scan, fetch.Snapshot}
	for i, plan := range asked {
		rolls := i == 0
		w.same(fmt.Sprintf("read by %s, by rolls: %t", plan, rolls), w.resultsOf(journeyErrands, s, plan, rolls), want)
	}
	trails := files.Store{FS: w.fs, Dir: filepath.Join(w.dir, "trails")}
	w.load(trails, bulkload.HFile, false)
	w.imports(imported)
	w.load(trails, bulkload.HFile, true)
	w.imports(imported)
	w.verified(imported)
	w.same("imported", w.resultsOf(journeyErrands[:1], imported, fetch.Auto, true), only(want, journeyErrands[0].name))
	if digest := w.c.Digest(w.t, filepath.Base(s.Address())); digest != w.c.Digest(w.t, filepath.Base(imported.Address())) {
		w.t.Error("what was put is not what was imported")
	}
}

// only returns the results of one tableQuery.
func only(results map[string]string, name string) map[string]string {
	out := map[string]string{}
	for k, v := range results {
		if k == name || strings.HasPrefix(k, name+"/") {
			out[k] = v
		}
	}
	return out
}
