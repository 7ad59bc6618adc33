package hbase

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"usertrail/internal/cell"
	"usertrail/internal/store/hbase/hbasetest"
	"usertrail/internal/store/hbase/wire"
)

// putRows puts n rows of three cells and flushes.
func putRows(t *testing.T, c *Client, n int, o PutOptions, change func(i int)) {
	t.Helper()
	p, err := c.NewPutter("t", o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if change != nil {
			change(i)
		}
		for _, q := range []string{"a", "b", "c"} {
			if err := p.Put(t.Context(), put(rowName(i), q, fmt.Sprintf("%d%s", i, q))); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := p.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

// checkTable compares the cluster's cells with the cells of putRows.
func checkTable(t *testing.T, f *hbasetest.Cluster, n int) {
	t.Helper()
	s := newSink(t)
	for _, x := range f.Cells("t") {
		if err := s.emit(x); err != nil {
			t.Fatal(err)
		}
	}
	s.check(0, n)
}

// small causes many Multis of few cells.
func small(cfg *Config) { cfg.MaxRequestBytes, cfg.MaxRequestActions = 2000, 20 }

func TestPut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{Servers: 3}, 0, 500, 1000, 1500)
		putRows(t, dial(t, f, small), 2000, PutOptions{}, nil)
		checkTable(t, f, 2000)
		counts := f.Counts()
		for row, n := range counts.RowPuts {
			if n != 1 {
				t.Errorf("%s was put %d times", row, n)
			}
		}
		if n := counts.Calls["Multi"]; n < 2000/20 || n > 2000/10 {
			t.Errorf("%d Multis for 2000 rows, 20 at a time", n)
		}
	})
}

func TestPutByManyGoroutinesInLittleMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{Servers: 2}, 0, 300)
		c := dial(t, f, small)
		p, err := c.NewPutter("t", PutOptions{MaxBytes: 16 << 10})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				for i := w; i < 600; i += 4 {
					for _, q := range []string{"a", "b", "c"} {
						if err := p.Put(t.Context(), put(rowName(i), q, fmt.Sprintf("%d%s", i, q))); err != nil {
							t.Error(err)
							return
						}
					}
				}
			})
		}
		wg.Wait()
		if err := p.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		checkTable(t, f, 600)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestOnlyPutsWithoutAResponseAreSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{Servers: 2}, 0, 100)
		c := dial(t, f)
		var seen times
		f.SetHooks(hbasetest.Hooks{Action: func(_ hbasetest.Call, row []byte) *wire.ServerError {
			if strings.HasSuffix(string(row), "7") && seen.first(string(row), 2) {
				return exception("RegionTooBusyException")
			}
			return nil
		}})
		putRows(t, c, 300, PutOptions{}, nil)
		checkTable(t, f, 300)
		for row, n := range f.Counts().RowPuts {
			if n != 1 {
				t.Errorf("%s was put %d times", row, n)
			}
		}
	})
}

func TestPutContinuesWhateverHappensToACall(t *testing.T) {
	for name, fault := range map[string]hbasetest.Fault{
		"response lost":   {Drop: true},
		"not executed":    {Skip: true},
		"connection lost": {Close: true},
		"response cut":    {Cut: 20},
		"too busy":        {Exception: exception("RegionTooBusyException")},
		"too large":       {Exception: &wire.ServerError{Class: "java.io.IOException", Message: "Rejecting large batch operation for current batch"}},
		"stopped":         {Exception: exception("regionserver.RegionServerStoppedException")},
	} {
		bubble(t, name, func(t *testing.T) {
			f := filled(t, hbasetest.Config{Servers: 2}, 0, 200)
			c := dial(t, f, small, func(cfg *Config) { cfg.CallTimeout = 300 * time.Millisecond })
			var seen times
			f.SetHooks(hbasetest.Hooks{Call: func(call hbasetest.Call) hbasetest.Fault {
				if call.Method == "Multi" && call.N%5 == 0 && seen.first("", 6) {
					return fault
				}
				return hbasetest.Fault{}
			}})
			putRows(t, c, 400, PutOptions{}, nil)
			checkTable(t, f, 400)
		})
	}
}

func TestRegionsMoveSplitAndMergeDuringPuts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{Servers: 3}, 0, 500, 1000, 1500)
		c := dial(t, f, small)
		putRows(t, c, 2000, PutOptions{}, func(i int) {
			change(f, i*3)
			if i == 900 {
				f.Kill(1)
				go func() {
					time.Sleep(200 * time.Millisecond)
					f.Reassign(1, 0)
				}()
			}
		})
		checkTable(t, f, 2000)
	})
}

func TestTheFirstErrorOfAPutterStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{}, 0)
		c := dial(t, f, small)
		f.SetHooks(hbasetest.Hooks{Action: func(hbasetest.Call, []byte) *wire.ServerError {
			return exception("regionserver.NoSuchColumnFamilyException")
		}})
		p, err := c.NewPutter("t", PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Put(t.Context(), put("r", "q", "v")); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := p.Flush(t.Context()); !errors.Is(err, ErrNoFamily) {
				t.Errorf("flush: %v, want ErrNoFamily", err)
			}
			if err := p.Put(t.Context(), put("r", "q", "v")); !errors.Is(err, ErrNoFamily) {
				t.Errorf("put: %v, want ErrNoFamily", err)
			}
		}
		if err := p.Close(); !errors.Is(err, ErrNoFamily) {
			t.Errorf("close: %v, want ErrNoFamily", err)
		}
		if err := p.Close(); err != nil {
			t.Errorf("a second close: %v", err)
		}
	})
}

func TestCloseWithoutFlushSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, filled(t, hbasetest.Config{}, 0))
		p, err := c.NewPutter("t", PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Put(t.Context(), put("r", "q", "v")); err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err == nil {
			t.Error("cells are dropped without a word")
		}
	})
}

// TestPutWaitsForRoom has a server that sends no response, so that a Put must wait at last. Its context ends the
// wait.
func TestPutWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{}, 0)
		c := dial(t, f, small)
		f.SetHooks(hbasetest.Hooks{Call: func(call hbasetest.Call) hbasetest.Fault {
			return hbasetest.Fault{Skip: call.Method == "Multi"}
		}})
		p, err := c.NewPutter("t", PutOptions{MaxBytes: 20 << 10})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		given := 0
		for ; err == nil && given < 100000; given++ {
			err = p.Put(ctx, put(rowName(given), "q", "v"))
		}
		if !errors.Is(err, context.DeadlineExceeded) || given > 1000 {
			t.Errorf("%v after %d cells; want the context's end long before 20 kB of rows have become 1000", err, given)
		}
	})
}

func TestTables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake(t, hbasetest.Config{Servers: 3})
		c := dial(t, f)
		schema := &wire.TableSchema{Name: wire.ParseTableName("t"), Families: []wire.FamilySchema{{Name: "f"}}}
		splits := [][]byte{[]byte("g"), []byte("p")}
		if err := c.Create(t.Context(), schema, [][]byte{[]byte("p"), []byte("g")}); err == nil {
			t.Error("splits that do not ascend were taken")
		}
		if err := c.Create(t.Context(), &wire.TableSchema{Name: wire.ParseTableName("t")}, nil); err == nil {
			t.Error("a table without a family was taken")
		}
		f.SetHooks(once("CreateTable", 1, hbasetest.Fault{Close: true}))
		if err := c.Create(t.Context(), schema, splits); err != nil {
			t.Fatalf("create, the first response lost: %v", err)
		}
		regions, err := c.Regions(t.Context(), "t")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range regions {
			got = append(got, r.Region.String())
		}
		if want := []string{`[-, "g")`, `["g", "p")`, `["p", +)`}; !slices.Equal(got, want) {
			t.Errorf("regions %q, want %q", got, want)
		}
		got2, err := c.Describe(t.Context(), "t")
		if err != nil || got2.Name.String() != "t" || len(got2.Families) != 1 || got2.Families[0].Name != "f" {
			t.Errorf("described as %+v, %v", got2, err)
		}
		if err := c.Create(t.Context(), schema, splits); !errors.Is(err, ErrTableExists) {
			t.Errorf("created again: %v, want ErrTableExists", err)
		}
		var cells []*cell.Cell
		for _, row := range []string{"a", "g", "z"} {
			cells = append(cells, put(row, "q", row))
		}
		f.Load("t", cells...)
		for _, row := range []string{"a", "g", "z"} {
			if got, err := c.Get(t.Context(), "t", []byte(row), wire.Get{}); err != nil || len(got) != 1 {
				t.Errorf("%s: %v, %v", row, got, err)
			}
		}
	})
}
