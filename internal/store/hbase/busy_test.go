package hbase

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"usertrail/internal/run/ratelimit"
	"usertrail/internal/store/hbase/hbasetest"
	"usertrail/internal/store/hbase/wire"
)

// A census counts the concurrent calls of a server.
type census struct {
	mu   sync.Mutex
	now  map[int]int
	most map[int]int
	seen map[string]bool // methods
}

func (c *census) count(call hbasetest.Call, by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == nil {
		c.now, c.most, c.seen = map[int]int{}, map[int]int{}, map[string]bool{}
	}
	c.now[call.Server] += by
	c.most[call.Server] = max(c.most[call.Server], c.now[call.Server])
	c.seen[call.Method] = true
}

// busyServers returns hooks that count the calls. The servers refuse some calls, and close some connections.
func (c *census) busyServers() hbasetest.Hooks {
	return hbasetest.Hooks{
		Call: func(call hbasetest.Call) hbasetest.Fault {
			if call.Server < 0 {
				return hbasetest.Fault{}
			}
			c.count(call, 1)
			defer c.count(call, -1)
			select {
			case <-time.After(time.Millisecond):
			case <-call.Gone: // the client does not wait for the response
			}
			switch {
			case call.N%17 == 5:
				return hbasetest.Fault{Exception: exception("CallQueueTooBigException")}
			case call.N%29 == 7:
				return hbasetest.Fault{Close: true}
			}
			return hbasetest.Fault{}
		},
		Action: func(call hbasetest.Call, row []byte) *wire.ServerError {
			if call.N%13 == 3 && row[len(row)-1] == '7' {
				return exception("RegionTooBusyException")
			}
			return nil
		},
	}
}

// readAndPut reads the 600 rows of t by gets and scans, and puts 600 rows into u, at the same time.
func readAndPut(t *testing.T, c *Client) {
	t.Helper()
	var work sync.WaitGroup
	for range 2 {
		work.Go(func() {
			s := newSink(t)
			if err := c.Gets(t.Context(), "t", rowsOf(upTo(600)...), GetOptions{Batch: 20}, s.emit); err != nil {
				t.Error(err)
			}
			s.check(0, 600)
		})
		work.Go(func() {
			s := newSink(t)
			if err := c.Scan(t.Context(), "t", Scan{}, s.emit); err != nil {
				t.Error(err)
			}
			s.check(0, 600)
		})
		work.Go(func() {
			for i := range 30 {
				if _, err := c.Get(t.Context(), "t", []byte(rowName(i)), wire.Get{}); err != nil {
					t.Error(err)
				}
				if _, err := c.Regions(t.Context(), "t"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Go(func() {
		p, err := c.NewPutter("u", PutOptions{})
		if err != nil {
			t.Error(err)
			return
		}
		for i := range 600 {
			if err := p.Put(t.Context(), put(rowName(i), "q", "v")); err != nil {
				t.Error(err)
			}
		}
		if err := p.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	work.Wait()
}

// TestNeverMoreCallsInFlightThanAreSet puts, gets, scans and locates regions at the same
// time. The servers refuse some of the calls. The test counts the calls on the servers.
func TestNeverMoreCallsInFlightThanAreSet(t *testing.T) {
	for _, most := range []int{1, 3} {
		bubble(t, fmt.Sprintf("inflight=%d", most), func(t *testing.T) {
			f := filled(t, hbasetest.Config{Servers: 2, MaxResponse: 2000, SayMoved: true}, 600, 150, 300, 450)
			f.CreateTable("u", []string{"f"}, []byte(rowName(200)), []byte(rowName(400)))
			c := dial(t, f, small, func(cfg *Config) { cfg.InFlight = most })
			var all census
			f.SetHooks(all.busyServers())
			readAndPut(t, c)
			for server, n := range all.most {
				if n > most {
					t.Errorf("server %d had %d calls at once, want at most %d", server, n, most)
				}
			}
			for _, method := range []string{"Multi", "Get", "Scan"} {
				if !all.seen[method] {
					t.Errorf("no %s was counted", method)
				}
			}
			if most > 1 && !slices.Contains([]int{all.most[0], all.most[1]}, most) {
				t.Errorf("at most %v calls at once: the window was never full", all.most)
			}
			if got := len(f.Cells("u")); got != 600 {
				t.Errorf("%d cells were put, want 600", got)
			}
		})
	}
}

// lines holds the logged lines.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, string(b))
	return len(b), nil
}

func (l *lines) with(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.all {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// throttled returns a quota of a few actions per call for each region. HBase never accepts a
// larger request, however long it waits.
func throttled(quota int) hbasetest.Hooks {
	return hbasetest.Hooks{Region: func(call hbasetest.Call, _ string) *wire.ServerError {
		if call.Actions <= quota {
			return nil
		}
		return &wire.ServerError{
			Class:   "org.apache.hadoop.hbase.quotas.RpcThrottlingException",
			Message: "number of requests exceeded - wait 0mins, 0sec, 20ms",
		}
	}}
}

func TestWhatIsMoreThanAQuotaGoesInParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{Servers: 2}, 0, 100)
		var said lines
		c := dial(t, f, func(cfg *Config) {
			cfg.MaxRequestActions, cfg.Log = 64, slog.New(slog.NewTextHandler(&said, nil))
		})
		f.SetHooks(throttled(5))
		putRows(t, c, 200, PutOptions{}, nil)
		checkTable(t, f, 200)
		for row, n := range f.Counts().RowPuts {
			if n != 1 {
				t.Errorf("%s was put %d times", row, n)
			}
		}
		s := newSink(t)
		if err := c.Gets(t.Context(), "t", rowsOf(upTo(200)...), GetOptions{}, s.emit); err != nil {
			t.Fatal(err)
		}
		s.check(0, 200)
		if h := c.Held(); h.Busy != 2 || h.Back <= 0 || h.Paced != 0 {
			t.Errorf("held back: %+v; want two servers that were busy, and some time", h)
		}
		if n := said.with("why=RpcThrottlingException"); n != 2 {
			t.Errorf("said %d times that a server is busy, want once for each of two:\n%s", n, said.all)
		}
	})
}

// TestWhatFailsForBeingBusyEndsWithTheBudget checks that the retries of busy servers end with
// --retry-for.
func TestWhatFailsForBeingBusyEndsWithTheBudget(t *testing.T) {
	for name, hooks := range map[string]hbasetest.Hooks{
		"a quota of nothing": throttled(0),
		"always too busy": {Action: func(hbasetest.Call, []byte) *wire.ServerError {
			return exception("RegionTooBusyException")
		}},
	} {
		bubble(t, name, func(t *testing.T) {
			f := filled(t, hbasetest.Config{}, 3)
			c := dial(t, f, func(cfg *Config) { cfg.OpTimeout = 500 * time.Millisecond })
			f.SetHooks(hooks)
			err := c.Gets(t.Context(), "t", rowsOf(upTo(3)...), GetOptions{}, newSink(t).emit)
			if g, ok := errors.AsType[*GaveUpError](err); !ok || !errors.Is(err, ErrUnavailable) {
				t.Errorf("%v; want a GaveUpError that may pass", err)
			} else if g.Attempts < 2 {
				t.Errorf("gave up after %d attempts", g.Attempts)
			}
		})
	}
}

func TestTheRateIsKeptByAllTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{Servers: 2}, 400, 200)
		limits := ratelimit.Limits{Gets: 1000, Puts: 1500, Bytes: 100_000}
		began := time.Now() // the bound counts from the creation of the Limiter
		c := dial(t, f, func(cfg *Config) { cfg.Limiter = ratelimit.New(limits) })
		var work sync.WaitGroup
		for range 2 {
			work.Go(func() {
				s := newSink(t)
				if err := c.Gets(t.Context(), "t", rowsOf(upTo(400)...), GetOptions{}, s.emit); err != nil {
					t.Error(err)
				}
				s.check(0, 400)
			})
		}
		work.Go(func() { putRows(t, c, 400, PutOptions{}, nil) })
		work.Wait()
		took := time.Since(began).Seconds()
		if n := 800 / took; n > float64(limits.Gets) {
			t.Errorf("%.0f rows a second, with a bound of %d", n, limits.Gets)
		}
		if n := 1200 / took; n > float64(limits.Puts) {
			t.Errorf("%.0f cells a second, with a bound of %d", n, limits.Puts)
		}
		if got := c.Held(); got.Paced <= 0 || got.Busy != 0 {
			t.Errorf("held back: %+v; want only the time of the rate limit", got)
		}
		counts := f.Counts()
		if least := int(400 * 3 / (limits.Puts / 4)); counts.Calls["Multi"] < least {
			t.Errorf("%d Multis; none may be more than a quarter of a second's worth", counts.Calls["Multi"])
		}
	})
}

func TestAScanIsPaidForByItsRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{}, 300)
		limits := ratelimit.Limits{Gets: 400}
		began := time.Now()
		c := dial(t, f, func(cfg *Config) { cfg.Limiter = ratelimit.New(limits) })
		s := newSink(t)
		if err := c.Scan(t.Context(), "t", Scan{}, s.emit); err != nil {
			t.Fatal(err)
		}
		s.check(0, 300)
		// The client does not wait for the amount of the last response.
		if n := float64(300-limits.Gets/4) / time.Since(began).Seconds(); n > float64(limits.Gets) {
			t.Errorf("%.0f rows a second, with a bound of %d", n, limits.Gets)
		}
	})
}

// TestAServerThatBecomesSlowIsCalledLess makes some calls slow in the middle of many.
func TestAServerThatBecomesSlowIsCalledLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{}, 0)
		var said lines
		c := dial(t, f, small, func(cfg *Config) { cfg.InFlight, cfg.Log = 3, slog.New(slog.NewTextHandler(&said, nil)) })
		f.SetHooks(hbasetest.Hooks{Call: func(call hbasetest.Call) hbasetest.Fault {
			if call.Method == "Multi" && call.N > 2*baselineCalls && call.N < 2*baselineCalls+9 {
				return hbasetest.Fault{Delay: 2*slowFloor + time.Duration(call.N)*time.Millisecond} // one ends after the other
			}
			return hbasetest.Fault{}
		}})
		putRows(t, c, 1500, PutOptions{}, nil)
		checkTable(t, f, 1500)
		if h := c.Held(); h.Busy != 1 || said.with(`why="a call took`) != 1 {
			t.Errorf("held back %+v, said %q; want one server that was slow", h, said.all)
		}
	})
}
