package load_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/store/hbase/hbasetest"
	"usertrail/internal/test/testkit"
)

// TestAHandoverSurvivesEveryFailure fails every operation on files once, in every
// way, and loads again.
func TestAHandoverSurvivesEveryFailure(t *testing.T) {
	want := bulkloadtest.Undisturbed(t)
	modes := []dfstest.Mode{0, dfstest.Uncertain, dfstest.Dead, dfstest.Uncertain | dfstest.Dead}
	dfstest.Sweep(t, modes, 30, func(t *testing.T, n int, mode dfstest.Mode) bool {
		p := bulkloadtest.NewHBase(t)
		fs := dfstest.FaultAt(local.New(), n, mode)
		_, err := p.Run(fs)
		if fs.Count() <= n {
			return true
		}
		if err != nil && !errors.Is(err, dfstest.ErrInjected) {
			t.Fatalf("operation %d: %v, want ErrInjected", n, err)
		}
		p.Ends(want)
		return false
	})
}

// bubble runs a test as a parallel part of t, in a bubble.
func bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		bulkloadtest.InBubble(t, test)
	})
}

// TestAHandoverSurvivesLostCalls loses each call of a bulk load, or its response, and
// loads again.
func TestAHandoverSurvivesLostCalls(t *testing.T) {
	want := bulkloadtest.Undisturbed(t)
	lost := map[string]hbasetest.Fault{
		"the call is lost":                           {Skip: true},
		"the response is lost":                       {Drop: true},
		"the connection ends in place of a response": {Close: true},
		"the response is cut":                        {Cut: 3},
		"the response is sent twice":                 {Twice: true},
	}
	for what, fault := range lost {
		for _, method := range []string{"PrepareBulkLoad", "BulkLoadHFile", "CleanupBulkLoad"} {
			for n := 1; n <= 2; n++ {
				bubble(t, fmt.Sprintf("%s of %s %d", what, method, n), func(t *testing.T) {
					p := bulkloadtest.NewHBase(t)
					p.Cluster.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
						if c.Method == method && c.N == n {
							return fault
						}
						return hbasetest.Fault{}
					}})
					if method == "PrepareBulkLoad" {
						p.Unknown = 1
					}
					if _, err := p.Run(local.New()); err != nil {
						t.Logf("the first load: %v", err)
					}
					p.Ends(want)
				})
			}
		}
	}
}

// TestAHandoverFollowsRegions changes the regions between the writing of the files
// and the calls.
func TestAHandoverFollowsRegions(t *testing.T) {
	want := bulkloadtest.Undisturbed(t)
	for what, change := range map[string]func(*hbasetest.Cluster){
		"split within a file": func(c *hbasetest.Cluster) { c.Split(bulkloadtest.TrailsTable, []byte("bb")) },
		"split beside a file": func(c *hbasetest.Cluster) { c.Split(bulkloadtest.TrailsTable, []byte("zz")) },
		"split twice": func(c *hbasetest.Cluster) {
			c.Split(bulkloadtest.TrailsTable, []byte("bb"))
			c.Split(bulkloadtest.TrailsTable, []byte("c,2014-09-02"))
		},
		"merged": func(c *hbasetest.Cluster) { c.Merge(bulkloadtest.TrailsTable, []byte("a")) },
		"moved":  func(c *hbasetest.Cluster) { c.Move(bulkloadtest.TrailsTable, []byte("b"), 0) },
		"split after a merger": func(c *hbasetest.Cluster) {
			c.Merge(bulkloadtest.TrailsTable, []byte("a"))
			c.Split(bulkloadtest.TrailsTable, []byte("c"))
		},
	} {
		for n := 1; n <= 2; n++ {
			t.Run(fmt.Sprintf("%s before call %d", what, n), func(t *testing.T) {
				p := bulkloadtest.NewHBase(t)
				var calls atomic.Int32
				p.Cluster.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
					if c.Method == "BulkLoadHFile" && int(calls.Add(1)) == n {
						change(p.Cluster)
					}
					return hbasetest.Fault{}
				}})
				if r, err := p.Run(local.New()); err != nil || r.Loaded != 5 {
					t.Fatalf("%d records were loaded, %v; want 5", r.Loaded, err)
				}
				p.Ends(want)
			})
		}
	}
}

// TestAFileOnItsWayIsTakenBack leaves a file in HBase's staging directory, where a
// server that died had moved it.
func TestAFileOnItsWayIsTakenBack(t *testing.T) {
	want := bulkloadtest.Undisturbed(t)
	bulkloadtest.InBubble(t, func(t *testing.T) { takesBack(t, want) })
}

func takesBack(t *testing.T, want []string) {
	p := bulkloadtest.NewHBase(t)
	var moved sync.Once
	p.Cluster.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
		if c.Method != "BulkLoadHFile" || c.N > 2 {
			return hbasetest.Fault{}
		}
		moved.Do(func() {
			staged, err := filepath.Glob(filepath.Join(p.Dir, "catalog/staging/*/d/*.hfile"))
			if err != nil || len(staged) != 2 {
				t.Errorf("staged are %q, %v; want 2 files", staged, err)
			}
			for _, name := range staged {
				if err := p.Move(name, filepath.Join(p.Cluster.Staging()[0], "d", filepath.Base(name))); err != nil {
					t.Error(err)
				}
			}
		})
		return hbasetest.Fault{Skip: true}
	}})
	if r, err := p.Run(local.New()); err != nil || r.Loaded != 5 {
		t.Fatalf("%d records were loaded, %v; want 5", r.Loaded, err)
	}
	p.Ends(want)
}

// TestAFileThatVanishedIsLoadedAgain removes the files that a killed load had staged. The next
// load cannot finish it, and starts from the beginning.
func TestAFileThatVanishedIsLoadedAgain(t *testing.T) {
	bulkloadtest.InBubble(t, aFileThatVanishedIsLoadedAgain)
}

func aFileThatVanishedIsLoadedAgain(t *testing.T) {
	want := bulkloadtest.Undisturbed(t)
	p := bulkloadtest.NewHBase(t)
	p.Kill()
	if err := os.RemoveAll(filepath.Join(p.Dir, "catalog/staging")); err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(local.New())
	if err != nil || r.Loaded != 5 || r.Finished != 0 {
		t.Fatalf("%+v, %v; want 5 records loaded, and no load finished", r, err)
	}
	p.Ends(want)
}

// TestAKilledHandoverIsFinished kills a load during the handover of its files. The next run
// finishes the load and counts its files.
func TestAKilledHandoverIsFinished(t *testing.T) {
	want := bulkloadtest.Undisturbed(t)
	p := bulkloadtest.NewHBase(t)
	p.Kill()
	r, err := p.Run(local.New())
	if err != nil || r.Loaded != 5 || r.Finished != 1 || r.Check() != nil {
		t.Fatalf("%+v, %v; want one load finished, of 5 records", r, err)
	}
	p.Ends(want)
}

// TestAJobMayGrowAfterAKilledHandover finishes a load by a job that has one behaviour
// more than the one that was killed.
func TestAJobMayGrowAfterAKilledHandover(t *testing.T) {
	p := bulkloadtest.NewHBase(t)
	p.Kill()
	p.SetJob(bulkloadtest.TwoKinds + "  visit: {id: 3, fields: {page: string}}\n")
	p.Write("2014-09-02/visit.csv", "user,time,page\na,2014-09-02 12:00:00,home\n")
	if r, err := p.Run(local.New()); err != nil || r.Finished != 1 || r.Loaded != 6 {
		t.Fatalf("%+v, %v; want one load finished, and 6 records in all", r, err)
	}
	again, done := p.Open()
	defer done()
	if names := again.Info().Schema.Names(); !slices.Equal(names, []string{"play", "order", "visit"}) {
		t.Errorf("the table knows %q, want the new behaviour too", names)
	}
}

// TestWhatNoRegionTakesIsSaid stages files that HBase cannot move.
func TestWhatNoRegionTakesIsSaid(t *testing.T) {
	p := bulkloadtest.NewHBase(t)
	// Where HBase would move files to there is a file.
	if err := os.MkdirAll(p.Root, 0o755); err != nil {
		t.Fatal(err)
	}
	testkit.WriteFile(t, filepath.Join(p.Root, "data"), "")
	_, err := p.Run(local.New())
	if err == nil || !strings.Contains(err.Error(), "Failed to complete bulk load") || !strings.Contains(err.Error(), ".hfile") {
		t.Errorf("%v, want an error that names the file and HBase's log", err)
	}
}

// TestAutoChoosesBySize checks that a small load uses puts, and that the result has the reason.
func TestAutoChoosesBySize(t *testing.T) {
	p := bulkloadtest.NewHBase(t)
	fs := local.New()
	store := p.Connect(fs)
	defer store.Close()
	cfg := p.Config("2014-09-01", "2014-09-02")
	cfg.FS, cfg.Store = fs, store
	preview, err := load.DryRun(t.Context(), cfg)
	if err != nil || preview.Mode != bulkload.Put || len(preview.Estimates) != 2 {
		t.Errorf("a dry run says %+v, %v; want puts and two estimates", preview.Choice, err)
	}
	r, err := load.Run(t.Context(), cfg)
	if err != nil || r.Mode != bulkload.Put || !strings.Contains(r.Why, "too small") {
		t.Errorf("%+v, %v; want puts, since there is little", r.Choice, err)
	}
	if _, ok := r.Estimates[bulkload.HFile]; !ok {
		t.Error("what HFiles would cost is not said")
	}
}

// TestOnlyStagingIsRemoved edits the handover of a killed load: the folder where its
// files are said to be staged would be removed.
func TestOnlyStagingIsRemoved(t *testing.T) {
	want := bulkloadtest.Undisturbed(t)
	p := bulkloadtest.NewHBase(t)
	p.Kill()
	name := filepath.Join(p.Dir, "catalog/handover.json")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	h := new(manifest.Handover)
	if err := json.Unmarshal(text, h); err != nil {
		t.Fatal(err)
	}
	staging := h.Staging
	precious := filepath.Join(p.Dir, "precious/staging/file")
	testkit.WriteFile(t, precious, "kept")
	for _, elsewhere := range []string{
		filepath.Dir(precious), p.Dir, filepath.Join(p.Dir, "catalog"), filepath.Join(p.Dir, "catalog/d"),
		filepath.Join(p.Dir, "catalog/staging") + "/../../precious", "", "/", filepath.Join(p.Dir, "catalog/pieces/staging"),
	} {
		h.Staging = elsewhere
		if err := manifest.Write(t.Context(), local.New(), name, h); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Run(local.New()); !errors.Is(err, manifest.ErrDamaged) || !strings.Contains(err.Error(), "handover.json") {
			t.Errorf("staged in %q: %v, want ErrDamaged that names the file", elsewhere, err)
		}
	}
	if err := os.Remove(precious); err != nil {
		t.Error(err)
	}
	h.Staging = staging
	if err := manifest.Write(t.Context(), local.New(), name, h); err != nil {
		t.Fatal(err)
	}
	p.Ends(want)
}
