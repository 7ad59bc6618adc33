package load_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"usertrail/internal/bulkload/bulkloadtest"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/cell"
	"usertrail/internal/extract"
	"usertrail/internal/extract/pieces"
	"usertrail/internal/run/piece"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/store/hbase/hbasetest"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
	"usertrail/internal/table/live"
)

// firstLoaded is a fixture whose first day is loaded by HFiles.
func firstLoaded(t *testing.T) *bulkloadtest.HBase {
	t.Helper()
	p := bulkloadtest.NewHBase(t)
	p.Loaded(bulkload.HFile, "2014-09-01", "2014-09-01")
	return p
}

// killedBetweenRegions kills the load of the second day when so many regions, none or one,
// have taken their files in.
func killedBetweenRegions(p *bulkloadtest.HBase, took int32) error {
	ctx, kill := context.WithCancel(p.T.Context())
	defer kill()
	before := len(p.Cells())
	var calls atomic.Int32
	p.Cluster.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
		if c.Method != "BulkLoadHFile" || calls.Add(1) <= took {
			return hbasetest.Fault{}
		}
		for took > 0 && len(p.Cells()) == before {
			runtime.Gosched() // the other call is under way
		}
		kill()
		return hbasetest.Fault{Skip: true}
	}})
	defer p.Cluster.SetHooks(hbasetest.Hooks{})
	store := p.Connect(local.New())
	defer store.Close()
	cfg := p.Config(bulkloadtest.SecondDay, bulkloadtest.SecondDay)
	cfg.Store, cfg.Mode, cfg.Workers = store, bulkload.HFile, 1
	if _, err := load.Run(ctx, cfg); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("a killed load: %w, want it cancelled", err)
	}
	if got := len(p.Cells()); (got > before) != (took > 0) {
		return fmt.Errorf("the table has %d cells, and %d before the killed load", got, before)
	}
	return nil
}

func wantNone(p *bulkloadtest.HBase, out string) {
	p.T.Helper()
	if _, err := os.Stat(filepath.Join(p.Dir, out)); !errors.Is(err, os.ErrNotExist) {
		p.T.Errorf("%s is there: %v", out, err)
	}
}

// TestAKilledHandoverIsNotExtracted kills a load between two regions, and before the first:
// extracts, plans and pieces end with ErrUnsettled until another load has finished it.
func TestAKilledHandoverIsNotExtracted(t *testing.T) {
	for took := range int32(2) {
		p := firstLoaded(t)
		p.WantEvents("first", 3)
		list, _, err := pieces.Plan(t.Context(), cutting(p, "pieces"), "hbase://nobody/trails", pieces.Access{})
		if err != nil || len(list) < 2 {
			t.Fatalf("%d pieces, %v", len(list), err)
		}
		if err := killedBetweenRegions(p, took); err != nil {
			t.Fatal(err)
		}
		for name, of := range map[string]table.Table{"rolls": p.Visit(), "rows": table.Unrolled(p.Visit())} {
			if r, err := extract.Run(t.Context(), p.Asking(of, "out")); !errors.Is(err, table.ErrUnsettled) || !strings.Contains(err.Error(), "run bulkload") {
				t.Errorf("%d regions took their files, by %s: %+v, %v; want ErrUnsettled that says what to do", took, name, r, err)
			}
			wantNone(p, "out")
		}
		if _, _, err := pieces.Plan(t.Context(), cutting(p, "planned"), "hbase://nobody/trails", pieces.Access{}); !errors.Is(err, table.ErrUnsettled) {
			t.Errorf("a plan: %v, want ErrUnsettled", err)
		}
		if _, err := runPiece(p, &list[0], nil); !errors.Is(err, table.ErrUnsettled) {
			t.Errorf("a piece: %v, want ErrUnsettled", err)
		}
		if _, err := pieces.Commit(t.Context(), local.New(), list); !errors.Is(err, piece.ErrMissing) {
			t.Errorf("the commit: %v, want ErrMissing", err)
		}
		p.Loaded(bulkload.HFile, bulkloadtest.SecondDay, bulkloadtest.SecondDay)
		p.WantEvents("out", 5)
		if _, err := runPiece(p, &list[0], nil); err == nil || !strings.Contains(err.Error(), "plan again") {
			t.Errorf("a piece of the earlier version: %v", err)
		}
	}
}

// TestALostHandoverIsNotExtracted kills a load between two regions, and removes the remaining
// HFiles. The next load, of another day, discards the killed load. Extracts end with
// ErrUnsettled until the unchanged files of the killed load have been loaded again.
func TestALostHandoverIsNotExtracted(t *testing.T) {
	bulkloadtest.InBubble(t, func(t *testing.T) {
		p := firstLoaded(t)
		if err := killedBetweenRegions(p, 1); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(p.Dir, "catalog/staging")); err != nil {
			t.Fatal(err)
		}
		p.Write("2014-09-03/order.csv", "user,time,price\na,2014-09-03 12:00:00,1.5\n")
		p.Loaded(bulkload.HFile, "2014-09-03", "2014-09-03")
		if _, err := extract.Run(t.Context(), p.Asking(p.Visit(), "out")); !errors.Is(err, table.ErrUnsettled) || !strings.Contains(err.Error(), bulkloadtest.SecondDay) {
			t.Errorf("%v, want ErrUnsettled, and the files", err)
		}
		wantNone(p, "out")
		path := filepath.Join(p.Dir, "logs", bulkloadtest.SecondDay, "order.csv")
		was, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p.Write(bulkloadtest.SecondDay+"/order.csv", string(was)+"c,2014-09-02 13:00:00,2\n")
		if r, err := p.LoadMode(bulkload.HFile, bulkloadtest.SecondDay, bulkloadtest.SecondDay); err == nil {
			t.Errorf("a lost file that has changed is loaded: %+v", r)
		}
		p.Write(bulkloadtest.SecondDay+"/order.csv", string(was))
		p.Loaded(bulkload.HFile, bulkloadtest.SecondDay, bulkloadtest.SecondDay)
		p.WantEvents("out", 5)
		if _, err := os.Stat(filepath.Join(p.Dir, "catalog/begun.json")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("begun.json is there: %v", err)
		}
	})
}

// TestALoadThatIsInIsExtracted kills a load after its commit, before it has removed its
// temporary files.
func TestALoadThatIsInIsExtracted(t *testing.T) {
	p := firstLoaded(t)
	store := p.Connect(bulkloadtest.NoRemoval{FS: local.New(), Base: "handover.json"})
	defer store.Close()
	cfg := p.Config(bulkloadtest.SecondDay, bulkloadtest.SecondDay)
	cfg.Store, cfg.Mode, cfg.Workers = store, bulkload.HFile, 1
	if _, err := load.Run(t.Context(), cfg); !errors.Is(err, dfstest.ErrInjected) {
		t.Fatalf("a load that cannot end: %v", err)
	}
	if _, err := os.Stat(filepath.Join(p.Dir, "catalog/handover.json")); err != nil {
		t.Fatal(err)
	}
	p.WantEvents("out", 5)
}

// TestAnExtractWaitsForAHandover holds a load between two regions, and lets it continue when an
// extract waits for it.
func TestAnExtractWaitsForAHandover(t *testing.T) {
	bulkloadtest.InBubble(t, func(t *testing.T) {
		p := firstLoaded(t)
		held, let := make(chan struct{}), make(chan struct{})
		var calls atomic.Int32
		p.Cluster.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
			if c.Method == "BulkLoadHFile" && calls.Add(1) == 2 {
				close(held)
				<-let
			}
			return hbasetest.Fault{}
		}})
		var g sync.WaitGroup
		g.Go(func() {
			if _, err := p.LoadMode(bulkload.HFile, bulkloadtest.SecondDay, bulkloadtest.SecondDay); err != nil {
				t.Error(err)
			}
		})
		<-held
		c := p.Asking(p.Visit(), "out")
		c.Patience = time.Hour
		g.Go(func() {
			if r, err := extract.Run(t.Context(), c); !errors.Is(err, table.ErrChanged) || errors.Is(err, table.ErrUnsettled) {
				t.Errorf("%+v, %v; want ErrChanged", r, err)
			}
		})
		time.Sleep(5 * settlePauses)
		close(let)
		g.Wait()
		wantNone(p, "out")
		p.WantEvents("out", 5)
	})
}

// settlePauses is longer than the pause in which an extract looks whether a load has ended.
const settlePauses = 2 * time.Second

// A changing table has something happen once, between two of its reads or after the first.
type changing struct {
	*live.Table
	once *sync.Once
	do   func() error
}

// Read implements table.Table.
func (c changing) Read(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
	err := c.Table.Read(ctx, q, emit)
	c.once.Do(func() { err = errors.Join(err, c.do()) })
	return err
}

// TestALoadWhileAnExtractReads runs a load by HFiles while an extract reads. The load is whole,
// or is killed between two regions. The extract does not publish its result, with any plan.
func TestALoadWhileAnExtractReads(t *testing.T) {
	for _, plan := range []fetch.Plan{fetch.Get, fetch.Scan} {
		for _, rolls := range []bool{true, false} {
			for _, killed := range []bool{false, true} {
				t.Run(fmt.Sprintf("plan %s, rolls %t, killed %t", plan, rolls, killed), func(t *testing.T) {
					p := firstLoaded(t)
					var of table.Table = changing{p.Visit(), new(sync.Once), func() error { return second(p, killed) }}
					if !rolls {
						of = table.Unrolled(of)
					}
					c := p.Asking(of, "out")
					c.Plan = plan
					if r, err := extract.Run(t.Context(), c); !errors.Is(err, table.ErrChanged) {
						t.Errorf("%+v, %v; want ErrChanged", r, err)
					}
					wantNone(p, "out")
					if killed {
						p.Loaded(bulkload.HFile, bulkloadtest.SecondDay, bulkloadtest.SecondDay)
					}
					p.WantEvents("out", 5)
				})
			}
		}
	}
}

// second loads the second day, or is killed at that.
func second(p *bulkloadtest.HBase, killed bool) error {
	if killed {
		return killedBetweenRegions(p, 1)
	}
	_, err := p.LoadMode(bulkload.HFile, bulkloadtest.SecondDay, bulkloadtest.SecondDay)
	return err
}

// cutting is asking in pieces of a user each.
func cutting(p *bulkloadtest.HBase, out string) extract.Config {
	c := p.Asking(p.Visit(), out)
	c.PieceSize = 1
	return c
}

// runPiece does a piece of an extract, during which something may happen.
func runPiece(p *bulkloadtest.HBase, of *pieces.Piece, during func() error) (pieces.Result, error) {
	w := pieces.Worker{FS: local.New(), Workers: 1, Open: func(context.Context, *pieces.Piece) (table.Table, func() error, error) {
		var t table.Table = p.Visit()
		if during != nil {
			t = changing{t.(*live.Table), new(sync.Once), during}
		}
		return t, func() error { return nil }, nil
	}}
	return pieces.Run(p.T.Context(), w, of)
}

// TestALoadWhileAPieceReads is the same for a piece of an extract: it does not report, so the
// extract is planned again.
func TestALoadWhileAPieceReads(t *testing.T) {
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprintf("killed %t", killed), func(t *testing.T) {
			p := firstLoaded(t)
			list, _, err := pieces.Plan(t.Context(), cutting(p, "out"), "hbase://nobody/trails", pieces.Access{})
			if err != nil || len(list) < 2 {
				t.Fatalf("%d pieces, %v", len(list), err)
			}
			for i := range list[1:] {
				if _, err := runPiece(p, &list[i+1], nil); err != nil {
					t.Fatal(err)
				}
			}
			_, err = runPiece(p, &list[0], func() error { return second(p, killed) })
			if err == nil || !killed && !strings.Contains(err.Error(), "plan again") || errors.Is(err, table.ErrUnsettled) != killed {
				t.Errorf("%v, want an error that says what to do", err)
			}
			if _, err := pieces.Commit(t.Context(), local.New(), list); !errors.Is(err, piece.ErrMissing) {
				t.Errorf("the commit: %v, want ErrMissing", err)
			}
			wantNone(p, "out")
			if killed {
				p.Loaded(bulkload.HFile, bulkloadtest.SecondDay, bulkloadtest.SecondDay)
			}
			again, _, err := pieces.Plan(t.Context(), cutting(p, "out"), "hbase://nobody/trails", pieces.Access{})
			if err != nil || again[0].Plan == list[0].Plan {
				t.Fatalf("planned again: %v", err)
			}
			for i := range again {
				if _, err := runPiece(p, &again[i], nil); err != nil {
					t.Fatal(err)
				}
			}
			if r, err := pieces.Commit(t.Context(), local.New(), again); err != nil || r.Events != 5 {
				t.Errorf("%+v, %v; want 5 events", r, err)
			}
		})
	}
}

// TestTheFirstLoadBetweenPieces plans an extract of a table without a catalog, and loads the
// table before the last piece.
func TestTheFirstLoadBetweenPieces(t *testing.T) {
	p := bulkloadtest.NewHBase(t)
	p.Loaded(bulkload.Put, "2014-09-01", "2014-09-01")
	if err := os.RemoveAll(filepath.Join(p.Dir, "catalog")); err != nil {
		t.Fatal(err)
	}
	store := p.Connect(local.New())
	defer store.Close()
	unknown, err := store.New(t.Context(), table.Plan{Layout: "reversed", Schema: p.Job.Schema})
	if err != nil {
		t.Fatal(err)
	}
	defer unknown.Close()
	c := p.Asking(unknown, "out")
	c.PieceSize = 1
	list, _, err := pieces.Plan(t.Context(), c, "hbase://nobody/trails", pieces.Access{})
	if err != nil || list[0].Version != "" {
		t.Fatalf("version %q, %v", list[0].Version, err)
	}
	p.Loaded(bulkload.Put, bulkloadtest.SecondDay, bulkloadtest.SecondDay)
	if _, err := runPiece(p, &list[0], nil); err == nil || !strings.Contains(err.Error(), "plan again") {
		t.Errorf("a piece after the first load: %v", err)
	}
	if r, err := extract.Run(t.Context(), p.Asking(unknown, "out")); !errors.Is(err, table.ErrChanged) {
		t.Errorf("an extract that was opened before the first load: %+v, %v; want ErrChanged", r, err)
	}
}

// TestASnapshotIsOfOneState makes a snapshot while a load is in the table in part, and begins a
// load while a snapshot is made. Neither is read, and none stays.
func TestASnapshotIsOfOneState(t *testing.T) {
	p := firstLoaded(t)
	if err := killedBetweenRegions(p, 1); err != nil {
		t.Fatal(err)
	}
	var snapshots atomic.Int32
	taken := func(then func() error) error {
		p.Cluster.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
			switch c.Method {
			case "Snapshot":
				snapshots.Add(1)
				if err := then(); err != nil {
					t.Error(err)
				}
			case "DeleteSnapshot":
				snapshots.Add(-1)
			}
			return hbasetest.Fault{}
		}})
		defer p.Cluster.SetHooks(hbasetest.Hooks{})
		store := p.Connect(local.New())
		defer store.Close()
		of, err := store.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer of.Close()
		_, err = store.Snapshot(t.Context(), of, "")
		return err
	}
	if err := taken(func() error { return errors.New("a snapshot is taken of a load in part") }); !errors.Is(err, table.ErrUnsettled) {
		t.Errorf("%v, want ErrUnsettled", err)
	}
	p.Loaded(bulkload.HFile, bulkloadtest.SecondDay, bulkloadtest.SecondDay)
	p.Write("2014-09-03/order.csv", "user,time,price\na,2014-09-03 12:00:00,1.5\nc,2014-09-03 12:00:00,2\n")
	third := func() error {
		_, err := p.LoadMode(bulkload.HFile, "2014-09-03", "2014-09-03")
		return err
	}
	if err := taken(third); !errors.Is(err, table.ErrChanged) {
		t.Errorf("%v, want ErrChanged", err)
	}
	if n := snapshots.Load(); n != 0 {
		t.Errorf("%d snapshots are left", n)
	}
}

// TestSnapshotsAreAsOldAsTheMasterSays takes a snapshot while another extract has one. The other
// snapshot is dropped if it is a day old by the master's clock, whatever the clock of the client is.
func TestSnapshotsAreAsOldAsTheMasterSays(t *testing.T) {
	for _, x := range []struct {
		first, second time.Duration // how far the master's clock is ahead when the snapshots are taken
		dropped       int32         // by the second extract
	}{
		{-25 * time.Hour, -25 * time.Hour, 1},
		{25 * time.Hour, 25 * time.Hour, 1},
		{-25 * time.Hour, 0, 2},
	} {
		p := firstLoaded(t)
		p.Cluster.SetMasterAhead(x.first)
		store := p.Connect(local.New())
		of, err := store.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		take := func() {
			if _, err := store.Snapshot(t.Context(), of, ""); err == nil || !strings.Contains(err.Error(), "usertrail-extract-") {
				t.Errorf("%v, want that the files of the snapshot are missing", err)
			}
		}
		var drops, dropped atomic.Int32
		p.Cluster.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
			if c.Method == "DeleteSnapshot" && drops.Add(1) == 1 { // the first extract ends
				p.Cluster.SetMasterAhead(x.second)
				before := drops.Load()
				take()
				dropped.Store(drops.Load() - before)
			}
			return hbasetest.Fault{}
		}})
		take()
		if n := dropped.Load(); n != x.dropped {
			t.Errorf("the master's clock was %s ahead, and then %s: the second extract dropped %d snapshots, want %d", x.first, x.second, n, x.dropped)
		}
		of.Close()
		store.Close()
	}
}
