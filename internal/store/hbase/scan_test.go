package hbase

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"usertrail/internal/cell"
	"usertrail/internal/store/hbase/hbasetest"
	"usertrail/internal/store/hbase/wire"
)

// scanned scans the rows from up to to of filled's table and checks that each cell arrives
// once and in order. It passes the number of cells so far to change.
func scanned(t *testing.T, c *Client, from, to int, s Scan, change func(n int)) {
	t.Helper()
	out := newSink(t)
	var last *cell.Cell
	n := 0
	err := c.Scan(t.Context(), "t", s, func(x *cell.Cell) error {
		if last != nil && cell.Compare(last, x) >= 0 {
			t.Errorf("%s after %s", x, last)
		}
		last = x.Clone()
		n++
		if change != nil {
			change(n)
		}
		return out.emit(x)
	})
	if err != nil {
		t.Fatal(err)
	}
	out.check(from, to)
}

func TestScanGivesEachCellOnceInOrder(t *testing.T) {
	for _, cfg := range []hbasetest.Config{
		{Servers: 3},
		{Servers: 3, MaxResponse: 400},
		{Servers: 3, MaxResponse: 400, PartialCells: 2},
		{Servers: 3, MaxResponse: 100, PartialCells: 1, HeartbeatEvery: 3},
		{Servers: 1, HeartbeatEvery: 2},
		{Servers: 2, MaxResponse: 400, PartialCells: 3, UnsureParts: true},
		{Servers: 2, MaxResponse: 100, PartialCells: 1, UnsureParts: true, HeartbeatEvery: 3},
	} {
		bubble(t, fmt.Sprintf("%+v", cfg), func(t *testing.T) {
			f := filled(t, cfg, 1000, 200, 201, 700)
			c := dial(t, f)
			scanned(t, c, 0, 1000, Scan{}, nil)
			scanned(t, c, 100, 300, Scan{Start: []byte(rowName(100)), Stop: []byte(rowName(300))}, nil)
			scanned(t, c, 200, 201, Scan{Start: []byte(rowName(200)), Stop: []byte(rowName(201))}, nil)
			scanned(t, c, 999, 1000, Scan{Start: []byte(rowName(999))}, nil)
			scanned(t, c, 0, 0, Scan{Start: []byte(rowName(5)), Stop: []byte(rowName(5))}, nil)
			scanned(t, c, 0, 0, Scan{Start: []byte("zzz")}, nil)
			for _, n := range []int{1, 7, 200, 201, 700, 5000} {
				scanned(t, c, 0, min(n, 1000), Scan{Limit: n}, nil)
				scanned(t, c, 190, min(190+n, 300), Scan{Limit: n, Start: []byte(rowName(190)), Stop: []byte(rowName(300))}, nil)
			}
			if !cfg.UnsureParts { // otherwise the next region is being opened when the limit is reached
				noneLeft(t, f)
			}
		})
	}
}

// noneLeft checks that no scanner remains open. A scan does not wait until its last scanner
// is closed.
func noneLeft(t *testing.T, f *hbasetest.Cluster) {
	t.Helper()
	synctest.Wait()
	if n := f.Scanners(); n > 0 {
		t.Errorf("%d scanners are left open", n)
	}
}

func TestScanOfSomeColumns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, filled(t, hbasetest.Config{Servers: 2}, 100, 50))
		var got []string
		s := Scan{Start: []byte(rowName(49)), Stop: []byte(rowName(51)), Columns: []wire.Column{{Family: []byte("f"), Qualifiers: [][]byte{[]byte("b")}}}}
		err := c.Scan(t.Context(), "t", s, func(x *cell.Cell) error {
			got = append(got, string(x.Value))
			return nil
		})
		if want := []string{"49b", "50b"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	})
}

// TestALimitIsTheServers checks that the cost of a scan depends on its limit and not on the
// table. If the result fits into a response, the scan makes one call.
func TestALimitIsTheServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{Servers: 2}, 1000, 500)
		c := dial(t, f)
		for _, x := range []struct {
			scan  Scan
			rows  int
			cells int64
			calls int
		}{
			{Scan{Limit: 10}, 10, 30, 1},
			{Scan{Limit: 10, Start: []byte(rowName(495))}, 10, 30, 2},
			{Scan{Limit: 10, Start: []byte(rowName(495)), StoreLimit: 2}, 10, 20, 2},
			{Scan{Limit: 10, StoreLimit: 1, Filter: wire.ColumnPrefix([]byte("b"))}, 10, 10, 1},
			{Scan{Limit: 10, Start: []byte(rowName(995))}, 5, 15, 1},
		} {
			calls, came := f.Counts().Calls["Scan"], c.Came()
			out := newSink(t)
			if err := c.Scan(t.Context(), "t", x.scan, out.emit); err != nil {
				t.Fatal(err)
			}
			calls, came = f.Counts().Calls["Scan"]-calls, c.Came()-came
			if len(out.rows) != x.rows || came != x.cells {
				t.Errorf("%+v: %d rows of %d cells, want %d of %d", x.scan, len(out.rows), came, x.rows, x.cells)
			}
			if meta := calls - x.calls; meta < 0 || meta > 1 { // the first scan locates the regions
				t.Errorf("%+v: %d calls, want %d", x.scan, calls, x.calls)
			}
		}
		noneLeft(t, f)
	})
}

// TestScanContinuesAfterAnyCallGoesWrong makes the first call of a scan fail, then the second,
// and so on until none is left, in every way.
func TestScanContinuesAfterAnyCallGoesWrong(t *testing.T) {
	for name, fault := range map[string]hbasetest.Fault{
		"response lost":   {Drop: true},
		"not executed":    {Skip: true},
		"connection lost": {Close: true},
		"response cut":    {Cut: 60},
		"sent twice":      {Twice: true},
		"scanner gone":    {Exception: exception("UnknownScannerException")},
		"out of order":    {Exception: exception("exceptions.OutOfOrderScannerNextException")},
		"reset":           {Exception: exception("exceptions.ScannerResetException")},
		"lease":           {Exception: exception("regionserver.LeaseException")},
		"not serving":     {Exception: exception("NotServingRegionException")},
		"queue too big":   {Exception: exception("CallQueueTooBigException")},
		"stopped":         {Exception: exception("regionserver.RegionServerStoppedException")},
	} {
		bubble(t, name, func(t *testing.T) {
			f := filled(t, hbasetest.Config{Servers: 2, MaxResponse: 300, PartialCells: 2}, 40, 20)
			c := dial(t, f, func(cfg *Config) { cfg.CallTimeout = 150 * time.Millisecond })
			for _, rows := range []int{40, 29} {
				before := f.Counts().Calls["Scan"]
				scanned(t, c, 0, rows, Scan{Limit: rows % 40}, nil)
				calls := f.Counts().Calls["Scan"] - before
				if calls < 6 {
					t.Fatalf("only %d calls for %d rows", calls, rows)
				}
				for n := 1; n < calls; n++ {
					f.SetHooks(once("Scan", f.Counts().Calls["Scan"]+n, fault))
					scanned(t, c, 0, rows, Scan{Limit: rows % 40}, nil)
				}
				f.SetHooks(hbasetest.Hooks{})
			}
		})
	}
}

func TestRegionsMoveSplitAndMergeDuringAScan(t *testing.T) {
	for _, cfg := range []hbasetest.Config{
		{Servers: 3, MaxResponse: 500, PartialCells: 2},
		{Servers: 3, MaxResponse: 500, SayMoved: true, HeartbeatEvery: 2},
	} {
		bubble(t, fmt.Sprintf("%+v", cfg), func(t *testing.T) {
			f := filled(t, cfg, 2000, 500, 1000, 1500)
			c := dial(t, f)
			scanned(t, c, 0, 2000, Scan{}, func(n int) {
				change(f, n)
				if n == 3000 {
					f.Move("t", []byte(rowName(n/3)), 0)
				}
				if n == 3500 {
					f.Split("t", []byte(rowName(n/3+2)))
				}
			})
		})
	}
}

func TestAServerIsKilledDuringAScan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{Servers: 3, MaxResponse: 500, PartialCells: 2}, 1000, 300, 600)
		c := dial(t, f)
		scanned(t, c, 0, 1000, Scan{}, func(n int) {
			if n == 1200 {
				f.Kill(1)
				go func() {
					time.Sleep(200 * time.Millisecond)
					f.Reassign(1, 2)
				}()
			}
		})
	})
}

// TestScanOfARowLargerThanAResponse reads a row in parts. If its server changes in between,
// the scan must continue after the last emitted cell.
func TestScanOfARowLargerThanAResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake(t, hbasetest.Config{Servers: 2, MaxResponse: 400, PartialCells: 3})
		f.CreateTable("t", []string{"f"})
		const columns = 200
		for i := range columns {
			f.Load("t", put("wide", fmt.Sprintf("q%04d", i), "v"))
		}
		c := dial(t, f)
		var got []string
		err := c.Scan(t.Context(), "t", Scan{}, func(x *cell.Cell) error {
			got = append(got, string(x.Qualifier))
			switch len(got) {
			case 50:
				f.Move("t", []byte("wide"), 1)
			case 120:
				f.Disconnect(1)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != columns || !slices.IsSorted(got) || len(slices.Compact(got)) != columns {
			t.Errorf("%d columns in order %v, want %d, each once", len(got), slices.IsSorted(got), columns)
		}
	})
}

// TestTheNextResponseIsFetchedWhileEmitWorks has an emit that returns only after it has seen
// another call arrive.
func TestTheNextResponseIsFetchedWhileEmitWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{MaxResponse: 300}, 100)
		c := dial(t, f)
		if _, err := c.Get(t.Context(), "t", []byte("a"), wire.Get{}); err != nil {
			t.Fatal(err)
		}
		calls := make(chan int, 1000)
		f.SetHooks(hbasetest.Hooks{Call: func(call hbasetest.Call) hbasetest.Fault {
			if call.Method == "Scan" {
				calls <- call.N
			}
			return hbasetest.Fault{}
		}})
		first := true
		err := c.Scan(t.Context(), "t", Scan{}, func(*cell.Cell) error {
			if first {
				first = false
				<-calls // the call that returned this cell
				select {
				case <-calls:
				case <-time.After(enough):
					t.Error("no call while emit works")
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestALeaseIsRenewedWhileEmitWorks has an emit that needs the time of several leases for one
// cell. The scan must continue with the same scanner.
func TestALeaseIsRenewedWhileEmitWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lease = 600 * time.Millisecond
		f := filled(t, hbasetest.Config{MaxResponse: 300, Lease: lease}, 100)
		c := dial(t, f)
		opened := 0
		f.SetHooks(hbasetest.Hooks{Region: func(call hbasetest.Call, region string) *wire.ServerError {
			if call.Method == "Scan" && region != wire.MetaRegion {
				opened++
			}
			return nil
		}})
		scanned(t, c, 0, 100, Scan{}, func(n int) {
			if n == 5 {
				time.Sleep(4 * lease)
			}
		})
		if opened != 1 {
			t.Errorf("the region was opened %d times, want once", opened)
		}
	})
}
