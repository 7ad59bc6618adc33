package faults_test

import (
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"usertrail/internal/clustertest"
)

// handovers are what happens between the writing of HFiles and the calls that hand
// them to the regions.
var handovers = []struct {
	name  string
	flags []string
	late  bool // the load may have been done by then
	fault func(*testing.T, *handing)
}{
	{name: "regions split, merged and moved", fault: func(t *testing.T, w *handing) {
		splitRegion(t, w.house)
		mergeRegions(t, w.house)
		moveRegion(t, w.house)
		w.load.signal(t, syscall.SIGCONT)
	}},
	{name: "RegionServer killed", fault: func(t *testing.T, w *handing) {
		w.load.signal(t, syscall.SIGCONT)
		killRegionServer(t, w.c)
	}},
	{name: "RegionServer frozen", flags: []string{"--call-timeout", callTimeout.String()}, fault: func(t *testing.T, w *handing) {
		name := other(t, w.c)
		w.c.Freeze(t, name)
		w.load.signal(t, syscall.SIGCONT)
		time.Sleep(callTimeout + callTimeout/2)
		w.c.Thaw(t, name)
	}},
	{name: "client killed", fault: func(t *testing.T, w *handing) {
		w.load.kill()
		if got := w.load.wait(t).status; got != -1 {
			t.Errorf("the load ended with status %d before it was killed", got)
		}
		w.load = w.house.loadFiles(t)
	}},
	{name: "client killed a little later", late: true, fault: func(t *testing.T, w *handing) {
		w.load.signal(t, syscall.SIGCONT)
		time.Sleep(150 * time.Millisecond)
		w.load.kill()
		w.load.wait(t)
		w.load = w.house.loadFiles(t)
	}},
}

// handing is a load of HFiles that is stopped when it begins to hand them over.
type handing struct {
	*house
	load *process
}

// testHandovers loads by HFiles, and has each fault strike while they are handed to
// HBase.
func testHandovers(t *testing.T, r *reference) {
	for _, x := range handovers {
		t.Run(x.name, func(t *testing.T) {
			files := t.TempDir()
			w := &handing{house: newHouse(t, clustertest.Alone(t), files)}
			level(t, w.house)
			w.load = w.house.loadFiles(t, x.flags...)
			untilThere(t, filepath.Join(files, "catalog", "handover.json"), w.load)
			w.load.signal(t, syscall.SIGSTOP)
			x.fault(t, w)
			const nothing = 99
			if said := w.load.wait(t); !x.late || said.status != nothing {
				if said.status != 0 {
					t.Fatalf("the load ended with status %d: %s", said.status, said.stderr)
				}
				r.checkSaid(t, said)
			}
			r.checkLoad(t, w.house)
			w.checkSwept(t)
			q, out := questions()[0], filepath.Join(files, "out")
			r.checkAnswer(t, q, w.extract(t, q, out).done(t), out)
			if got := w.loadFiles(t).wait(t); got.status != nothing {
				t.Errorf("the same load once more ended with status %d, want %d: %s", got.status, nothing, got.stderr)
			}
		})
	}
}

// loadFiles begins to load the sample by HFiles.
func (h *house) loadFiles(t *testing.T, flags ...string) *process {
	t.Helper()
	return h.load(t, slices.Concat([]string{"--mode", "hfile"}, flags)...)
}

// untilThere returns when a process has made a file.
func untilThere(t *testing.T, name string, p *process) {
	t.Helper()
	for {
		if _, err := os.Stat(name); err == nil {
			return
		}
		if !p.running() {
			t.Fatalf("it ended before %s was there: %+v", name, p.wait(t))
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// checkSwept checks that nothing of a load is left where files are staged, ours or
// HBase's.
func (h *house) checkSwept(t *testing.T) {
	t.Helper()
	fs := h.files()
	for _, dir := range []string{"hdfs://" + h.c.NameNode() + "/usertrail/default/" + h.table + "/staging", "hdfs://" + h.c.NameNode() + "/hbase/staging"} {
		list, err := fs.List(t.Context(), dir)
		if err != nil && !errors.Is(err, iofs.ErrNotExist) {
			t.Fatal(err)
		}
		for _, f := range list {
			t.Errorf("%s was left behind", f.Name)
		}
	}
}
