package load_test

import (
	"context"
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
	"testing/synctest"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/store/hbase/hbasetest"
	"usertrail/internal/table/live"
)

// An hbaseFixture is a fixture whose load goes into HBase in memory. HBase keeps its files in the
// directory root. The logs have a few records.
type hbaseFixture struct {
	*fixture
	hbase *hbasetest.Cluster
	root  string
	// unknown is how many of HBase's staging directories nobody was told of.
	unknown int
	others  bool   // put rows into the table, too
	id      string // of the cluster; empty is not known
}

const trailsTable = "trails"

// newHBaseFixture makes a table of two regions. One region will have two users.
func newHBaseFixture(t *testing.T) *hbaseFixture {
	t.Helper()
	p := &hbaseFixture{fixture: newFixture(t, twoKinds)}
	p.root = filepath.Join(p.dir, "hbase")
	p.hbase = hbasetest.New(t, hbasetest.Config{Servers: 2, Disk: disk(p.root), InMemory: true})
	p.hbase.CreateTable(trailsTable, []string{"d"}, []byte("b"))
	p.write("2014-09-01/play.csv", "user,time,title,seconds\na,2014-09-01 10:00:00,one,1\nb,2014-09-01 11:00:00,two,2\nc,2014-09-01 11:00:00,two,3\n")
	p.write("2014-09-02/order.csv", "user,time,price\na,2014-09-02 12:00:00,1.5\nc,2014-09-02 12:00:00,2\n")
	return p
}

// Meta and Master implement hbase.Registry.
func (p *hbaseFixture) Meta(context.Context) (string, error)   { return p.hbase.MetaAddr(), nil }
func (p *hbaseFixture) Master(context.Context) (string, error) { return p.hbase.MasterAddr(), nil }

// ClusterID is the ID that the client asks the registry for.
func (p *hbaseFixture) ClusterID(context.Context) (string, error) { return p.id, nil }

func (p *hbaseFixture) connect(fs dfs.FS) *live.Store {
	p.t.Helper()
	o := live.Options{Conf: new(hadoopconf.Conf), Catalog: filepath.Join(p.dir, "catalog"), Root: p.root, Others: p.others}
	o.Client.Registry, o.Client.User, o.Client.Dial = p, "trail", p.hbase.Dial
	store, err := live.Connect(p.t.Context(), fs, "hbase://nobody/"+trailsTable, o)
	if err != nil {
		p.t.Fatal(err)
	}
	return store
}

// run loads the files that are not loaded yet, over fs.
func (p *hbaseFixture) run(fs dfs.FS) (bulkload.Result, error) { return p.runIn(p.t.Context(), fs) }

func (p *hbaseFixture) runIn(ctx context.Context, fs dfs.FS) (bulkload.Result, error) {
	store := p.connect(fs)
	defer store.Close()
	cfg := p.config("2014-09-01", "2014-09-02")
	cfg.FS, cfg.Store, cfg.Mode, cfg.Workers = fs, store, bulkload.HFile, 1
	return load.Run(ctx, cfg)
}

// killed runs the load until its files are on their way.
func (p *hbaseFixture) killed() {
	p.t.Helper()
	ctx, kill := context.WithCancel(p.t.Context())
	p.hbase.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
		if c.Method == "BulkLoadHFile" {
			kill()
			return hbasetest.Fault{Skip: true}
		}
		return hbasetest.Fault{}
	}})
	if _, err := p.runIn(ctx, local.New()); !errors.Is(err, context.Canceled) {
		p.t.Fatalf("a killed load: %v, want it cancelled", err)
	}
	p.hbase.SetHooks(hbasetest.Hooks{})
}

// ends runs the load until it has nothing to do, and holds what there is then
// against the cells of an undisturbed load.
func (p *hbaseFixture) ends(want []string) {
	p.t.Helper()
	if _, err := p.run(local.New()); err != nil && !errors.Is(err, bulkload.ErrNothing) {
		p.t.Fatalf("the same load again: %v", err)
	}
	if _, err := p.run(local.New()); !errors.Is(err, bulkload.ErrNothing) {
		p.t.Fatalf("and once more: %v, want ErrNothing", err)
	}
	if got := p.cells(); !slices.Equal(got, want) {
		p.t.Errorf("the table holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for name := range dfstest.Snapshot(p.t, local.New(), p.dir) {
		if strings.Contains(name, "staging") || strings.Contains(name, "handover") {
			p.t.Errorf("%s was left behind", name)
		}
	}
	if left := p.hbase.Staging(); len(left) > p.unknown {
		p.t.Errorf("HBase keeps %q, %d of them expected", left, p.unknown)
	}
}

func (p *hbaseFixture) cells() []string {
	var out []string
	for _, c := range p.hbase.Cells(trailsTable) {
		out = append(out, fmt.Sprintf("%q %q %d %q", c.Row, c.Qualifier, c.Time, c.Value))
	}
	return out
}

// undisturbed are the cells of a load that nothing happens to.
func undisturbed(t *testing.T) []string {
	t.Helper()
	p := newHBaseFixture(t)
	r, err := p.run(local.New())
	if err != nil {
		t.Fatal(err)
	}
	if r.Mode != bulkload.HFile || r.HFiles != 2 || r.Loaded != 5 {
		t.Fatalf("the load was %+v, want 5 records in 2 HFiles", r)
	}
	out := p.cells()
	if int64(len(out)) != r.Cells {
		t.Fatalf("%d cells are in the table, %d were loaded", len(out), r.Cells)
	}
	p.ends(out)
	return out
}

// TestAHandoverSurvivesEveryFailure fails every operation on files once, in every
// way, and loads again.
func TestAHandoverSurvivesEveryFailure(t *testing.T) {
	want := undisturbed(t)
	modes := []dfstest.Mode{0, dfstest.Uncertain, dfstest.Dead, dfstest.Uncertain | dfstest.Dead}
	dfstest.Sweep(t, modes, 30, func(t *testing.T, n int, mode dfstest.Mode) bool {
		p := newHBaseFixture(t)
		fs := dfstest.FaultAt(local.New(), n, mode)
		_, err := p.run(fs)
		if fs.Count() <= n {
			return true
		}
		if err != nil && !errors.Is(err, dfstest.ErrInjected) {
			t.Fatalf("operation %d: %v, want ErrInjected", n, err)
		}
		p.ends(want)
		return false
	})
}

// bubble runs a test as a part of t, beside others, in a bubble.
func bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		inBubble(t, test)
	})
}

// inBubble runs a test in a bubble of synctest. The deadlines of calls pass in it when all
// else waits, so that a call is late only where it is lost. The codecs that a process shares
// have channels, and a channel that is made in a bubble is of no use outside: the codecs are
// made before.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	makeCodecs.Do(func() {
		p := newHBaseFixture(t)
		_, err := p.puts(t.Context(), "2014-09-01", "2014-09-01", 1)
		if err == nil {
			_, err = p.run(local.New())
		}
		if err != nil {
			t.Fatal(err)
		}
		p.namesAll("outside of a bubble")
		p.wantEvents("outside", 5)
	})
	synctest.Test(t, test)
}

var makeCodecs sync.Once

// TestAHandoverSurvivesLostCalls loses each call of a bulk load, or its answer, and
// loads again.
func TestAHandoverSurvivesLostCalls(t *testing.T) {
	want := undisturbed(t)
	lost := map[string]hbasetest.Fault{
		"the call is lost":                          {Skip: true},
		"the answer is lost":                        {Drop: true},
		"the connection ends in place of an answer": {Close: true},
		"the answer is cut":                         {Cut: 3},
		"it is answered twice":                      {Twice: true},
	}
	for what, fault := range lost {
		for _, method := range []string{"PrepareBulkLoad", "BulkLoadHFile", "CleanupBulkLoad"} {
			for n := 1; n <= 2; n++ {
				bubble(t, fmt.Sprintf("%s of %s %d", what, method, n), func(t *testing.T) {
					p := newHBaseFixture(t)
					p.hbase.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
						if c.Method == method && c.N == n {
							return fault
						}
						return hbasetest.Fault{}
					}})
					if method == "PrepareBulkLoad" {
						p.unknown = 1
					}
					if _, err := p.run(local.New()); err != nil {
						t.Logf("the first load: %v", err)
					}
					p.ends(want)
				})
			}
		}
	}
}

// TestAHandoverFollowsRegions changes the regions between the writing of the files
// and the calls.
func TestAHandoverFollowsRegions(t *testing.T) {
	want := undisturbed(t)
	for what, change := range map[string]func(*hbasetest.Cluster){
		"split within a file": func(c *hbasetest.Cluster) { c.Split(trailsTable, []byte("bb")) },
		"split beside a file": func(c *hbasetest.Cluster) { c.Split(trailsTable, []byte("zz")) },
		"split twice": func(c *hbasetest.Cluster) {
			c.Split(trailsTable, []byte("bb"))
			c.Split(trailsTable, []byte("c,2014-09-02"))
		},
		"merged":               func(c *hbasetest.Cluster) { c.Merge(trailsTable, []byte("a")) },
		"moved":                func(c *hbasetest.Cluster) { c.Move(trailsTable, []byte("b"), 0) },
		"split after a merger": func(c *hbasetest.Cluster) { c.Merge(trailsTable, []byte("a")); c.Split(trailsTable, []byte("c")) },
	} {
		for n := 1; n <= 2; n++ {
			t.Run(fmt.Sprintf("%s before call %d", what, n), func(t *testing.T) {
				p := newHBaseFixture(t)
				var calls atomic.Int32
				p.hbase.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
					if c.Method == "BulkLoadHFile" && int(calls.Add(1)) == n {
						change(p.hbase)
					}
					return hbasetest.Fault{}
				}})
				if r, err := p.run(local.New()); err != nil || r.Loaded != 5 {
					t.Fatalf("%d records were loaded, %v; want 5", r.Loaded, err)
				}
				p.ends(want)
			})
		}
	}
}

// TestAFileOnItsWayIsTakenBack leaves a file in HBase's staging directory, where a
// server that died had moved it.
func TestAFileOnItsWayIsTakenBack(t *testing.T) {
	want := undisturbed(t)
	inBubble(t, func(t *testing.T) { takesBack(t, want) })
}

func takesBack(t *testing.T, want []string) {
	p := newHBaseFixture(t)
	var moved sync.Once
	p.hbase.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
		if c.Method != "BulkLoadHFile" || c.N > 2 {
			return hbasetest.Fault{}
		}
		moved.Do(func() {
			staged, err := filepath.Glob(filepath.Join(p.dir, "catalog/staging/*/d/*.hfile"))
			if err != nil || len(staged) != 2 {
				t.Errorf("staged are %q, %v; want 2 files", staged, err)
			}
			for _, name := range staged {
				if err := disk(p.root).Move(name, filepath.Join(p.hbase.Staging()[0], "d", filepath.Base(name))); err != nil {
					t.Error(err)
				}
			}
		})
		return hbasetest.Fault{Skip: true}
	}})
	if r, err := p.run(local.New()); err != nil || r.Loaded != 5 {
		t.Fatalf("%d records were loaded, %v; want 5", r.Loaded, err)
	}
	p.ends(want)
}

// TestAFileThatVanishedIsLoadedAgain removes the files that a killed load had staged. The next
// load cannot finish it, and starts from the beginning.
func TestAFileThatVanishedIsLoadedAgain(t *testing.T) { inBubble(t, aFileThatVanishedIsLoadedAgain) }

func aFileThatVanishedIsLoadedAgain(t *testing.T) {
	want := undisturbed(t)
	p := newHBaseFixture(t)
	p.killed()
	if err := os.RemoveAll(filepath.Join(p.dir, "catalog/staging")); err != nil {
		t.Fatal(err)
	}
	r, err := p.run(local.New())
	if err != nil || r.Loaded != 5 || r.Finished != 0 {
		t.Fatalf("%+v, %v; want 5 records loaded, and no load finished", r, err)
	}
	p.ends(want)
}

// TestAKilledHandoverIsFinished kills a load during the handover of its files. The next run
// finishes the load and counts its files.
func TestAKilledHandoverIsFinished(t *testing.T) {
	want := undisturbed(t)
	p := newHBaseFixture(t)
	p.killed()
	r, err := p.run(local.New())
	if err != nil || r.Loaded != 5 || r.Finished != 1 || r.Check() != nil {
		t.Fatalf("%+v, %v; want one load finished, of 5 records", r, err)
	}
	p.ends(want)
}

// TestAJobMayGrowAfterAKilledHandover finishes a load by a job that has one behaviour
// more than the one that was killed.
func TestAJobMayGrowAfterAKilledHandover(t *testing.T) {
	p := newHBaseFixture(t)
	p.killed()
	p.is(twoKinds + "  visit: {id: 3, fields: {page: string}}\n")
	p.write("2014-09-02/visit.csv", "user,time,page\na,2014-09-02 12:00:00,home\n")
	if r, err := p.run(local.New()); err != nil || r.Finished != 1 || r.Loaded != 6 {
		t.Fatalf("%+v, %v; want one load finished, and 6 records in all", r, err)
	}
	store := p.connect(local.New())
	defer store.Close()
	again, err := store.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if names := again.Info().Schema.Names(); !slices.Equal(names, []string{"play", "order", "visit"}) {
		t.Errorf("the table knows %q, want the new behaviour too", names)
	}
}

// TestWhatNoRegionTakesIsSaid gives HBase files that it cannot move.
func TestWhatNoRegionTakesIsSaid(t *testing.T) {
	p := newHBaseFixture(t)
	// Where HBase would move files to there is a file.
	if err := os.MkdirAll(p.root, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.root, "data"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := p.run(local.New())
	if err == nil || !strings.Contains(err.Error(), "Failed to complete bulk load") || !strings.Contains(err.Error(), ".hfile") {
		t.Errorf("%v, want an error that names the file and HBase's log", err)
	}
}

// TestAutoChoosesBySize loads little by puts, and says why.
func TestAutoChoosesBySize(t *testing.T) {
	p := newHBaseFixture(t)
	fs := local.New()
	store := p.connect(fs)
	defer store.Close()
	cfg := p.config("2014-09-01", "2014-09-02")
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

// A disk is a directory as an HBase in memory sees it.
type disk string

func (d disk) Root() string { return string(d) }

func (d disk) Cells(path string) ([]*cell.Cell, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r, err := hfile.Open(f, info.Size())
	if err != nil {
		return nil, err
	}
	var out []*cell.Cell
	err = r.Verify(func(c *cell.Cell) error { out = append(out, c.Clone()); return nil })
	return out, err
}

func (d disk) Move(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// TestOnlyStagingIsRemoved edits the handover of a killed load: the folder where its
// files are said to be staged would be removed.
func TestOnlyStagingIsRemoved(t *testing.T) {
	want := undisturbed(t)
	p := newHBaseFixture(t)
	p.killed()
	name := filepath.Join(p.dir, "catalog/handover.json")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	h := new(manifest.Handover)
	if err := json.Unmarshal(text, h); err != nil {
		t.Fatal(err)
	}
	staging := h.Staging
	precious := filepath.Join(p.dir, "precious/staging/file")
	if err := os.MkdirAll(filepath.Dir(precious), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(precious, []byte("kept"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, elsewhere := range []string{
		filepath.Dir(precious), p.dir, filepath.Join(p.dir, "catalog"), filepath.Join(p.dir, "catalog/d"),
		filepath.Join(p.dir, "catalog/staging") + "/../../precious", "", "/", filepath.Join(p.dir, "catalog/pieces/staging"),
	} {
		h.Staging = elsewhere
		if err := manifest.Write(t.Context(), local.New(), name, h); err != nil {
			t.Fatal(err)
		}
		if _, err := p.run(local.New()); !errors.Is(err, manifest.ErrDamaged) || !strings.Contains(err.Error(), "handover.json") {
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
	p.ends(want)
}
