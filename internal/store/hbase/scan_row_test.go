package hbase

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"usertrail/internal/cell"
	"usertrail/internal/store/hbase/hbasetest"
	"usertrail/internal/store/hbase/wire"
)

// wideColumns is the number of cells in the row of wideRow.
const wideColumns = 200

// wideRow returns a cluster with one large row, which it returns in many responses, and a small
// row after it.
func wideRow(t *testing.T) *hbasetest.Cluster {
	t.Helper()
	f := fake(t, hbasetest.Config{Servers: 2, MaxResponse: 400, PartialCells: 3})
	f.CreateTable("t", []string{"f", "g"})
	for i := range wideColumns {
		f.Load("t", put("wide", fmt.Sprintf("q%04d", i), "v"))
	}
	f.Load("t", put("wider", "q0000", "v"))
	return f
}

// wideScan reads the rows of wideRow.
func wideScan(t *testing.T, c *Client, s Scan) error {
	t.Helper()
	want := wideColumns + 1
	if s.Limit == 1 {
		want = wideColumns
	}
	var got []string
	err := c.Scan(t.Context(), "t", s, func(x *cell.Cell) error {
		got = append(got, string(x.Row)+" "+string(x.Qualifier))
		return nil
	})
	if err == nil && (len(got) != want || !slices.IsSorted(got) || len(slices.Compact(got)) != want) {
		t.Errorf("%d cells in order %v, want %d, each once", len(got), slices.IsSorted(got), want)
	}
	return err
}

// scanCalls makes calls of scans fail. The first call has number 1.
func scanCalls(f *hbasetest.Cluster, wrong func(n int) hbasetest.Fault) {
	n := 0
	f.SetHooks(hbasetest.Hooks{Call: func(call hbasetest.Call) hbasetest.Fault {
		if call.Method != "Scan" {
			return hbasetest.Fault{}
		}
		n++
		return wrong(n)
	}})
}

// throttle returns a refusal because of a quota.
func throttle(wait string) hbasetest.Fault {
	return hbasetest.Fault{Exception: &wire.ServerError{
		Class: pkg + "quotas.RpcThrottlingException", Message: "read size limit exceeded - wait " + wait,
	}}
}

// TestAThrottledScanKeepsItsScanner checks that a refused call is repeated on its scanner, so
// that the scan reads nothing twice.
func TestAThrottledScanKeepsItsScanner(t *testing.T) {
	for name, fault := range map[string]hbasetest.Fault{
		"throttled":     throttle("1sec, 20ms"),
		"for long":      throttle("50sec"), // close to the lease of a minute
		"queue too big": {Exception: exception("CallQueueTooBigException")},
	} {
		bubble(t, name, func(t *testing.T) {
			f := wideRow(t)
			c := dial(t, f, func(cfg *Config) { cfg.OpTimeout = 10 * time.Minute })
			if _, err := c.Get(t.Context(), "t", []byte("wide"), wire.Get{}); err != nil {
				t.Fatal(err)
			}
			opened := 0
			seen := 0
			f.SetHooks(hbasetest.Hooks{
				Call: func(call hbasetest.Call) hbasetest.Fault {
					if call.Method != "Scan" {
						return hbasetest.Fault{}
					}
					if seen++; seen%4 == 0 {
						return fault
					}
					return hbasetest.Fault{}
				},
				Region: func(call hbasetest.Call, region string) *wire.ServerError {
					if call.Method == "Scan" && region != wire.MetaRegion {
						opened++
					}
					return nil
				},
			})
			came := c.Came()
			if err := wideScan(t, c, Scan{}); err != nil {
				t.Fatal(err)
			}
			if came = c.Came() - came; opened != 1 || came != wideColumns+1 {
				t.Errorf("the region was opened %d times, and %d cells came; want once and %d", opened, came, wideColumns+1)
			}
			noneLeft(t, f)
		})
	}
}

// TestAScanThatIsAlwaysThrottledEnds uses up the budget. The error must name the quota.
func TestAScanThatIsAlwaysThrottledEnds(t *testing.T) {
	for _, after := range []int{0, 5} {
		bubble(t, fmt.Sprint(after), func(t *testing.T) {
			f := wideRow(t)
			c := dial(t, f)
			scanCalls(f, func(n int) hbasetest.Fault {
				if n > after {
					return throttle("2sec")
				}
				return hbasetest.Fault{}
			})
			began := time.Now()
			err := wideScan(t, c, Scan{})
			var g *GaveUpError
			if !errors.As(err, &g) || !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "RpcThrottlingException") {
				t.Fatalf("%v, want a GaveUpError that names the quota", err)
			}
			if spent := time.Since(began); spent > 3*time.Minute {
				t.Errorf("it took %s, with a budget of a minute", spent)
			}
		})
	}
}

// TestAScanThatDoesNotMoveEnds checks that repeated cells do not count as progress.
func TestAScanThatDoesNotMoveEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := wideRow(t)
		c := dial(t, f)
		scanCalls(f, func(n int) hbasetest.Fault {
			if n%2 == 0 {
				return hbasetest.Fault{Exception: exception("exceptions.ScannerResetException")}
			}
			return hbasetest.Fault{}
		})
		began := time.Now()
		err := wideScan(t, c, Scan{}) // with all families, a restart begins the row again
		var g *GaveUpError
		if !errors.As(err, &g) || !errors.Is(err, ErrUnavailable) {
			t.Fatalf("%v, want a GaveUpError", err)
		}
		if spent := time.Since(began); spent > 3*time.Minute {
			t.Errorf("it took %s, with a budget of a minute", spent)
		}
	})
}

// TestARestartInsideARowContinuesAfterTheLastCell ends each scanner after one response. The scan
// must still read each cell about once.
func TestARestartInsideARowContinuesAfterTheLastCell(t *testing.T) {
	prefix, err := wire.ColumnPrefixes([]byte("q0"), []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	family := []wire.Column{{Family: []byte("f")}}
	for name, s := range map[string]Scan{
		"no filter": {Columns: family},
		"filter":    {Columns: family, Filter: prefix},
		"bounds":    {Columns: family, Start: []byte("wide"), Stop: []byte("widerr")},
		"versions":  {Columns: family, MaxVersions: 3},
		"one row":   {Columns: family, Limit: 1},
		"two rows":  {Columns: family, Limit: 2},
	} {
		bubble(t, name, func(t *testing.T) {
			f := wideRow(t)
			c := dial(t, f)
			if _, err := c.Get(t.Context(), "t", []byte("wide"), wire.Get{}); err != nil {
				t.Fatal(err)
			}
			scanCalls(f, func(n int) hbasetest.Fault {
				if n%3 == 0 {
					return hbasetest.Fault{Exception: exception("exceptions.ScannerResetException")}
				}
				return hbasetest.Fault{}
			})
			came := c.Came()
			if err := wideScan(t, c, s); err != nil {
				t.Fatal(err)
			}
			if came = c.Came() - came; came > 2*wideColumns {
				t.Errorf("%d cells came for %d", came, wideColumns+1)
			}
		})
	}
}
