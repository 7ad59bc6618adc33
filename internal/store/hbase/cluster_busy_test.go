package hbase

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"usertrail/internal/run/ratelimit"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// busyRows are enough for many Multis of busySmall, and busyRounds times as many are the most that a
// test puts.
const busyRows, busyRounds = 1000, 60

// tinyMemory are options of a table whose regions soon refuse puts.
var tinyMemory = []string{
	"table.MEMSTORE_FLUSHSIZE=131072", "table.hbase.hregion.memstore.block.multiplier=1", "table.hbase.table.sanity.checks=false", "table.hbase.hstore.blockingStoreFiles=1000",
}

func busySmall(cfg *Config) { cfg.MaxRequestBytes, cfg.MaxRequestActions = 64<<10, 200 }

// TestRealRegionThatIsTooBusy puts much more into a region than fits into its memory, until the region
// refuses a put because it has not flushed yet. A server that flushes faster than the client puts
// needs more puts.
func TestRealRegionThatIsTooBusy(t *testing.T) {
	t.Parallel()
	k := clustertest.Get(t)
	var said lines
	c := dialReal(t, k, busySmall, func(cfg *Config) { cfg.Log = slog.New(slog.NewTextHandler(&said, nil)) })
	name := k.Create(t, "f", tinyMemory...)
	rows := 0
	for rows < busyRounds*busyRows && c.Held().Busy == 0 {
		putReal(t, c, name, rows, rows+busyRows, nil)
		rows += busyRows
	}
	scanReal(t, c, name, rows, Scan{}, nil)
	h := c.Held()
	if h.Busy < 1 || h.Back <= 0 || said.with("why=RegionTooBusyException") < 1 {
		t.Errorf("held back %+v, said %q; want a region that was too busy", h, said.all)
	}
	t.Logf("held back after %d rows: %+v", rows, h)
}

// TestRealQuota puts and gets with a quota of a third of a Multi, or less. The client waits as
// long as the server demands, and never sends a request larger than the quota.
func TestRealQuota(t *testing.T) {
	k := clustertest.Get(t)
	const quota = 20
	n := testkit.Pick(60, 200)
	for _, kind := range []string{"WRITE_NUMBER", "READ_NUMBER"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var said lines
			c := dialReal(t, k, busySmall, func(cfg *Config) {
				cfg.Log = slog.New(slog.NewTextHandler(&said, nil))
			})
			name := createReal(t, k, c)
			if kind == "READ_NUMBER" {
				putReal(t, c, name, 0, n, nil)
			}
			k.Admin(t, "throttle", name, kind, strconv.Itoa(quota))
			defer k.Admin(t, "throttle", name, kind, "0")
			awaitThrottle(t, k, name, kind, quota)
			if kind == "WRITE_NUMBER" {
				putReal(t, c, name, 0, n, nil)
				scanReal(t, c, name, n, Scan{}, nil)
			} else {
				getReal(t, c, name, n, nil)
			}
			h := c.Held()
			if h.Busy < 1 || h.Back <= 0 || said.with("why=RpcThrottlingException") < 1 {
				t.Errorf("held back %+v, said %q; want a quota that was used up", h, said.all)
			}
			t.Logf("held back: %+v", h)
		})
	}
}

// TestRealThrottledScanOfALargeRow reads a row in many responses with a quota of fewer calls
// per second. Each refused call is repeated on its scanner, and no cell is returned twice.
func TestRealThrottledScanOfALargeRow(t *testing.T) {
	t.Parallel()
	k := clustertest.Get(t)
	const columns, kind, quota = 40, "READ_NUMBER", 2
	c := dialReal(t, k)
	name := createReal(t, k, c)
	p, err := c.NewPutter(name, PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	value := strings.Repeat("v", 2000)
	for i := range columns {
		if err := p.Put(t.Context(), put(rowName(0), fmt.Sprintf("q%04d", i), value)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(p.Flush(t.Context()), p.Close()); err != nil {
		t.Fatal(err)
	}
	k.Admin(t, "throttle", name, kind, strconv.Itoa(quota))
	defer k.Admin(t, "throttle", name, kind, "0")
	awaitThrottle(t, k, name, kind, quota)
	for c.Held().Busy == 0 { // however slow the servers are
		came := c.Came()
		out := newSink(t)
		if err := c.Scan(t.Context(), name, Scan{ResultBytes: 4 << 10}, out.emit); err != nil {
			t.Fatal(err)
		}
		row := out.rows[rowName(0)]
		if came = c.Came() - came; came != columns || len(row) != columns || !slices.IsSorted(row) {
			t.Errorf("%d cells came and %d were given in order %v; want %d", came, len(row), slices.IsSorted(row), columns)
		}
	}
	t.Logf("held back: %+v", c.Held())
}

// awaitThrottle repeats a request for more rows than the quota until the servers apply it. They refuse
// such a request even if they are slow, and the client then sends it in parts.
func awaitThrottle(t *testing.T, k *clustertest.Cluster, name, kind string, quota int) {
	t.Helper()
	c := dialReal(t, k)
	for began := time.Now(); c.Held().Busy == 0; {
		if kind == "READ_NUMBER" {
			if err := c.Gets(t.Context(), name, rowsOf(upTo(quota+1)...), GetOptions{}, newSink(t).emit); err != nil {
				t.Fatal(err)
			}
		} else {
			putFirst(t, c, name, quota+1)
		}
		if time.Since(began) > enough {
			t.Fatal("the servers do not keep to the throttle")
		}
	}
}

// putFirst puts the first cell of each of n rows.
func putFirst(t *testing.T, c *Client, name string, n int) {
	t.Helper()
	p, err := c.NewPutter(name, PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		err = errors.Join(err, p.Put(t.Context(), realCell(i, 0)))
	}
	if err := errors.Join(err, p.Flush(t.Context()), p.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestRealRateIsKept puts and gets with rate limits, with several Putters at once.
func TestRealRateIsKept(t *testing.T) {
	t.Parallel()
	k := clustertest.Get(t)
	limits := ratelimit.Limits{Puts: 2000, Gets: 400}
	n := testkit.Pick(400, 2000)
	name := createReal(t, k, dialReal(t, k), n/3, 2*n/3)
	began := time.Now()
	c := dialReal(t, k, func(cfg *Config) { cfg.Limiter = ratelimit.New(limits) })
	var work sync.WaitGroup
	for part := range 4 {
		work.Go(func() { putReal(t, c, name, part*n/4, (part+1)*n/4, nil) })
	}
	work.Wait()
	if rate := float64(n*realColumns) / time.Since(began).Seconds(); rate > float64(limits.Puts) {
		t.Errorf("%.0f cells a second, with a bound of %d", rate, limits.Puts)
	}
	began = time.Now()
	c = dialReal(t, k, func(cfg *Config) { cfg.Limiter = ratelimit.New(limits) })
	getReal(t, c, name, n, nil)
	if rate := float64(n) / time.Since(began).Seconds(); rate > float64(limits.Gets) {
		t.Errorf("%.0f rows a second, with a bound of %d", rate, limits.Gets)
	}
}

// TestRealServersNeverHaveMoreCalls counts the calls that wait for a response while regions
// are too busy and other clients locate regions.
func TestRealServersNeverHaveMoreCalls(t *testing.T) {
	t.Parallel()
	k := clustertest.Get(t)
	const most = 2
	c := dialReal(t, k, busySmall, func(cfg *Config) { cfg.InFlight = most })
	name := k.Create(t, "f", append(tinyMemory, "split="+rowName(busyRows/2))...)
	over := make(chan struct{})
	var counting sync.WaitGroup
	var top atomic.Int64
	counting.Go(func() {
		for {
			select {
			case <-over:
				return
			case <-time.After(time.Millisecond):
				top.Store(max(top.Load(), int64(pending(c))))
			}
		}
	})
	var work sync.WaitGroup
	work.Go(func() { putReal(t, c, name, 0, busyRows/2, nil) })
	work.Go(func() { putReal(t, c, name, busyRows/2, busyRows, nil) })
	work.Go(func() {
		for range 50 {
			if _, err := c.Regions(t.Context(), name); err != nil {
				t.Error(err)
			}
		}
	})
	work.Wait()
	scanReal(t, c, name, busyRows, Scan{}, nil)
	for top.Load() == 0 { // however rarely they are counted
		scanReal(t, c, name, busyRows, Scan{}, nil)
	}
	close(over)
	counting.Wait()
	if top.Load() > most {
		t.Errorf("%d calls waited for a response of one server at once; want at most %d", top.Load(), most)
	}
}

// pending returns the largest number of calls of one RegionServer that wait for a response.
func pending(c *Client) (n int) {
	c.mu.Lock()
	servers := slices.Collect(maps.Values(c.servers))
	c.mu.Unlock()
	for _, s := range servers {
		s.mu.Lock()
		if s.conn != nil {
			n = max(n, s.conn.Pending())
		}
		s.mu.Unlock()
	}
	return n
}
