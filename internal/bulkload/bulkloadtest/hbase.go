package bulkloadtest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/store/hbase/hbasetest"
	"usertrail/internal/table"
	"usertrail/internal/table/live"
)

// An HBase is a fixture whose load goes into HBase in memory. HBase keeps its files in the
// directory root. The logs have a few records.
type HBase struct {
	*Fixture
	Cluster *hbasetest.Cluster
	Root    string
	Unknown int    // number of staging directories of HBase whose tokens no client received
	Others  bool   // other programs put rows into the table, too
	ID      string // of the cluster; empty if the registry does not know it
}

// NewHBase returns a fixture with an empty table of two regions. The logs have two users of one region
// and one user of the other region.
func NewHBase(t *testing.T) *HBase {
	t.Helper()
	p := &HBase{Fixture: New(t, TwoKinds)}
	p.Root = filepath.Join(p.Dir, "hbase")
	p.Cluster = hbasetest.New(t, hbasetest.Config{Servers: 2, Disk: hbasetest.Folder(p.Root), InMemory: true})
	p.Cluster.CreateTable(TrailsTable, []string{"d"}, []byte("b"))
	p.Write("2014-09-01/play.csv", "user,time,title,seconds\na,2014-09-01 10:00:00,one,1\nb,2014-09-01 11:00:00,two,2\nc,2014-09-01 11:00:00,two,3\n")
	p.Write("2014-09-02/order.csv", "user,time,price\na,2014-09-02 12:00:00,1.5\nc,2014-09-02 12:00:00,2\n")
	return p
}

// Meta implements hbase.Registry.
func (p *HBase) Meta(context.Context) (string, error) { return p.Cluster.MetaAddr(), nil }

// Master implements hbase.Registry.
func (p *HBase) Master(context.Context) (string, error) { return p.Cluster.MasterAddr(), nil }

// ClusterID implements hbase.Registry.
func (p *HBase) ClusterID(context.Context) (string, error) { return p.ID, nil }

// Connect returns the store of the table. Its files are in fs.
func (p *HBase) Connect(fs dfs.FS) *live.Store {
	p.T.Helper()
	o := live.Options{Conf: new(hadoopconf.Conf), Catalog: filepath.Join(p.Dir, "catalog"), Root: p.Root, Others: p.Others}
	o.Client.Registry, o.Client.User, o.Client.Dial = p, "trail", p.Cluster.Dial
	store, err := live.Connect(p.T.Context(), fs, "hbase://nobody/"+TrailsTable, o)
	if err != nil {
		p.T.Fatal(err)
	}
	return store
}

// Open opens the table in HBase. done closes the table and the connection.
func (p *HBase) Open() (t table.Loader, done func()) {
	p.T.Helper()
	store := p.Connect(local.New())
	t, err := store.Open(p.T.Context())
	if err != nil {
		store.Close()
		p.T.Fatal(err)
	}
	return t, func() {
		t.Close()
		store.Close()
	}
}

// Run loads the files that are not loaded yet. The load uses fs.
func (p *HBase) Run(fs dfs.FS) (bulkload.Result, error) { return p.RunIn(p.T.Context(), fs) }

// RunIn is Run with a context.
func (p *HBase) RunIn(ctx context.Context, fs dfs.FS) (bulkload.Result, error) {
	store := p.Connect(fs)
	defer store.Close()
	cfg := p.Config("2014-09-01", "2014-09-02")
	cfg.FS, cfg.Store, cfg.Mode, cfg.Workers = fs, store, bulkload.HFile, 1
	return load.Run(ctx, cfg)
}

// Kill runs the load, and cancels it when it hands the first file to HBase.
func (p *HBase) Kill() {
	p.T.Helper()
	ctx, kill := context.WithCancel(p.T.Context())
	p.Cluster.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
		if c.Method == "BulkLoadHFile" {
			kill()
			return hbasetest.Fault{Skip: true}
		}
		return hbasetest.Fault{}
	}})
	if _, err := p.RunIn(ctx, local.New()); !errors.Is(err, context.Canceled) {
		p.T.Fatalf("a cancelled load: %v, want context.Canceled", err)
	}
	p.Cluster.SetHooks(hbasetest.Hooks{})
}

// Ends runs the load until it has nothing to do. It compares the table with the cells of an undisturbed
// load, and fails the test if files of the load are left.
func (p *HBase) Ends(want []string) {
	p.T.Helper()
	if _, err := p.Run(local.New()); err != nil && !errors.Is(err, bulkload.ErrNothing) {
		p.T.Fatalf("the same load again: %v", err)
	}
	if _, err := p.Run(local.New()); !errors.Is(err, bulkload.ErrNothing) {
		p.T.Fatalf("and once more: %v, want ErrNothing", err)
	}
	if got := p.Cells(); !slices.Equal(got, want) {
		p.T.Errorf("the table holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for name := range dfstest.Snapshot(p.T, local.New(), p.Dir) {
		if strings.Contains(name, "staging") || strings.Contains(name, "handover") {
			p.T.Errorf("%s was left behind", name)
		}
	}
	if left := p.Cluster.Staging(); len(left) > p.Unknown {
		p.T.Errorf("HBase has the staging directories %q, want %d", left, p.Unknown)
	}
}

// Cells returns the cells of the table in HBase as lines.
func (p *HBase) Cells() []string {
	var out []string
	for _, c := range p.Cluster.Cells(TrailsTable) {
		out = append(out, fmt.Sprintf("%q %q %d %q", c.Row, c.Qualifier, c.Time, c.Value))
	}
	return out
}

// Undisturbed returns the cells of a load without faults.
func Undisturbed(t *testing.T) []string {
	t.Helper()
	p := NewHBase(t)
	r, err := p.Run(local.New())
	if err != nil {
		t.Fatal(err)
	}
	if r.Mode != bulkload.HFile || r.HFiles != 2 || r.Loaded != 5 {
		t.Fatalf("the load was %+v, want 5 records in 2 HFiles", r)
	}
	out := p.Cells()
	if int64(len(out)) != r.Cells {
		t.Fatalf("%d cells are in the table, %d were loaded", len(out), r.Cells)
	}
	p.Ends(out)
	return out
}

// InBubble runs a test in a bubble of synctest. In the bubble, time passes only while all goroutines
// wait, so a call exceeds its deadline only if its response is lost. A channel that is made in a bubble
// cannot be used outside. The codecs of the process have channels, so InBubble makes the codecs first.
func InBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	makeCodecs.Do(func() {
		p := NewHBase(t)
		_, err := p.Puts(t.Context(), "2014-09-01", "2014-09-01", 1)
		if err == nil {
			_, err = p.Run(local.New())
		}
		if err != nil {
			t.Fatal(err)
		}
		p.NamesAll("outside of a bubble")
		p.WantEvents("outside", 5)
	})
	synctest.Test(t, test)
}

var makeCodecs sync.Once

// TrailsTable is the name of the table in HBase.
const TrailsTable = "trails"

// LoadMode loads days by HFiles or by puts.
func (p *HBase) LoadMode(mode bulkload.Mode, from, to string) (bulkload.Result, error) {
	p.T.Helper()
	store := p.Connect(local.New())
	defer store.Close()
	cfg := p.Config(from, to)
	cfg.Store, cfg.Mode, cfg.Workers = store, mode, 1
	return load.Run(p.T.Context(), cfg)
}

// Loaded loads days by HFiles or by puts, and fails the test if the load fails.
func (p *HBase) Loaded(mode bulkload.Mode, from, to string) {
	p.T.Helper()
	if _, err := p.LoadMode(mode, from, to); err != nil {
		p.T.Fatal(err)
	}
}

// Puts loads days by puts.
func (p *HBase) Puts(ctx context.Context, from, to string, workers int, types ...string) (bulkload.Result, error) {
	p.T.Helper()
	store := p.Connect(local.New())
	defer store.Close()
	cfg := p.Config(from, to)
	cfg.Store, cfg.Mode, cfg.Workers, cfg.Types = store, bulkload.Put, workers, types
	return load.Run(ctx, cfg)
}

// Ledgers returns the ledgers of the table in HBase.
func (p *HBase) Ledgers() []*manifest.Load {
	p.T.Helper()
	target, done := p.Open()
	defer done()
	loads, err := table.Ledgers(p.T.Context(), target)
	if err != nil {
		p.T.Fatal(err)
	}
	return loads
}

// Move moves a file as HBase moves it.
func (p *HBase) Move(from, to string) error { return hbasetest.Folder(p.Root).Move(from, to) }
