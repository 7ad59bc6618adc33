package faults_test

import (
	"errors"
	iofs "io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/run/breakpoint"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// handovers are faults after the HFiles are written and before the calls that
// hand them to the regions, or between two of these calls.
var handovers = []struct {
	name  string
	once  bool // runs in both modes; the others run in complete mode
	flags []string
	at    stop
	fault func(*testing.T, *handing)
}{
	{name: "regions split, merged and moved", once: true, at: at(breakpoint.Handover, 1), fault: func(t *testing.T, w *handing) {
		splitRegion(t, w.fixture)
		mergeRegions(t, w.fixture)
		moveRegion(t, w.fixture)
		w.load.resume(t)
	}},
	{name: "RegionServer killed", at: at(breakpoint.Handover, 1), fault: func(t *testing.T, w *handing) {
		w.c.Kill(t, other(t, w.c))
		w.load.resume(t)
	}},
	{name: "RegionServer killed between two regions", at: at(breakpoint.Handed, 1), fault: func(t *testing.T, w *handing) {
		w.c.Kill(t, other(t, w.c))
		w.load.resume(t)
	}},
	{name: "RegionServer frozen", at: at(breakpoint.Handover, 1), flags: []string{"--call-timeout", callTimeout.String()}, fault: func(t *testing.T, w *handing) {
		freeze(t, w.c, func() { w.load.resume(t) })
	}},
	{name: "client killed", at: at(breakpoint.Handover, 1), fault: killHanding},
	{name: "client killed between two regions", at: at(breakpoint.Handed, 1), fault: killHanding},
}

// killHanding kills the load and starts the same load again.
func killHanding(t *testing.T, w *handing) {
	w.load.crash(t)
	w.load = w.loadFiles(t, nowhere)
}

// handing is a load of HFiles that has stopped while it hands them over.
type handing struct {
	*fixture
	load *process
}

// testHandovers loads by HFiles. Each fault happens while the files are handed to HBase.
func testHandovers(t *testing.T, r *reference) {
	for _, x := range handovers {
		t.Run(x.name, func(t *testing.T) {
			if !x.once {
				testkit.OnlyAll(t, handovers[0].name)
			}
			files := t.TempDir()
			w := &handing{fixture: newFixture(t, clustertest.Alone(t), files)}
			level(t, w.fixture)
			w.load = w.loadFiles(t, x.at, x.flags...)
			w.load.awaitStop(t)
			x.fault(t, w)
			r.checkSaid(t, w.load.done(t))
			r.checkLoad(t, w.fixture)
			w.checkSwept(t)
			q, out := pairs(uncut)[0][0], filepath.Join(files, "out")
			r.expect(t, q)
			r.checkResult(t, q, w.extractUntil(t, nowhere, q, out).done(t), out)
			if got := w.loadFiles(t, nowhere).wait(t); got.status != nothing {
				t.Errorf("the same load once more ended with status %d, want %d: %s", got.status, nothing, got.stderr)
			}
		})
	}
}

// loadFiles starts a load of the sample by HFiles.
func (h *fixture) loadFiles(t *testing.T, s stop, flags ...string) *process {
	t.Helper()
	return h.loadUntil(t, s, slices.Concat([]string{"--mode", "hfile"}, flags)...)
}

// checkSwept checks that a load left no files in the staging directories, ours and HBase's. HBase's has a
// directory for each call, with the table in its name. Loads of other tests may have left some.
func (h *fixture) checkSwept(t *testing.T) {
	t.Helper()
	fs := h.c.Files()
	for _, dir := range []string{"hdfs://" + h.c.NameNode() + "/usertrail/default/" + h.table + "/staging", "hdfs://" + h.c.NameNode() + "/hbase/staging"} {
		list, err := fs.List(t.Context(), dir)
		if err != nil && !errors.Is(err, iofs.ErrNotExist) {
			t.Fatal(err)
		}
		for _, f := range list {
			if strings.Contains(f.Name, h.table) {
				t.Errorf("%s was left behind", f.Name)
			}
		}
	}
}
