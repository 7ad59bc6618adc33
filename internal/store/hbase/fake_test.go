package hbase

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"usertrail/internal/cell"
	"usertrail/internal/store/hbase/hbasetest"
	"usertrail/internal/store/hbase/wire"
)

// enough is a limit for operations that must end. It is not a requirement on their speed.
const enough = 10 * time.Minute

// bubble runs a test of a fake cluster as a subtest of t. In it, time passes at once while
// all goroutines wait, so no pause or timeout depends on how busy the machine is. It fails if
// a goroutine remains.
func bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// fake returns a cluster for a test in a bubble.
func fake(t *testing.T, cfg hbasetest.Config) *hbasetest.Cluster {
	t.Helper()
	cfg.InMemory = true
	return hbasetest.New(t, cfg)
}

// dial returns a client of a fake cluster.
func dial(t *testing.T, f *hbasetest.Cluster, changes ...func(*Config)) *Client {
	t.Helper()
	cfg := Config{Masters: []string{f.MasterAddr()}, Dial: f.Dial, User: "trail", CallTimeout: 10 * time.Second, OpTimeout: time.Minute}
	for _, change := range changes {
		change(&cfg)
	}
	c, err := Dial(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	closeLater(t, c)
	return c
}

// clients is the number of open clients.
var clients atomic.Int32

// closeLater closes c at the test's end. After the last client is closed, no goroutine may
// remain.
func closeLater(t *testing.T, c *Client) {
	clients.Add(1)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if clients.Add(-1) > 0 {
			return
		}
		noneRun(t)
	})
}

// noneRun waits until no goroutine runs this package's code, except the test's own. A
// goroutine may return a little after its client is closed. If another test opens a client in
// the meantime, the last test that closes a client makes the check.
func noneRun(t *testing.T) {
	t.Helper()
	for began := time.Now(); ; {
		left := goroutines()
		if left == "" || clients.Load() > 0 {
			return
		}
		if time.Since(began) > enough {
			t.Fatalf("after Close there still runs\n%s", left)
		}
		time.Sleep(time.Millisecond)
	}
}

// goroutines returns the stacks of the goroutines that noneRun waits for.
func goroutines() string {
	var left []string
	buf := make([]byte, 4<<20)
	for g := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if (strings.Contains(g, "usertrail/internal/store/hbase.") || strings.Contains(g, "hbase/rpc.")) && !strings.Contains(g, "testing.tRunner") && !strings.Contains(g, "hbase.goroutines") {
			left = append(left, g)
		}
	}
	return strings.Join(left, "\n\n")
}

func rowName(i int) string { return fmt.Sprintf("row%05d", i) }

// filled returns a cluster with a table t of n rows of three cells each. The table is split
// at splits.
func filled(t *testing.T, cfg hbasetest.Config, n int, splits ...int) *hbasetest.Cluster {
	t.Helper()
	f := fake(t, cfg)
	fill(f, n, splits...)
	return f
}

// fill creates the table of filled.
func fill(f *hbasetest.Cluster, n int, splits ...int) {
	var at [][]byte
	for _, s := range splits {
		at = append(at, []byte(rowName(s)))
	}
	f.CreateTable("t", []string{"f"}, at...)
	var cells []*cell.Cell
	for i := range n {
		for _, q := range []string{"a", "b", "c"} {
			cells = append(cells, put(rowName(i), q, fmt.Sprintf("%d%s", i, q)))
		}
	}
	f.Load("t", cells...)
}

func put(row, qualifier, value string) *cell.Cell {
	return &cell.Cell{Row: []byte(row), Family: []byte("f"), Qualifier: []byte(qualifier), Time: 1000, Type: cell.Put, Value: []byte(value)}
}

func rowsOf(names ...string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		buf := make([]byte, 0, 64)
		for _, name := range names {
			if !yield(append(buf[:0], name...)) {
				return
			}
		}
	}
}

func upTo(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = rowName(i)
	}
	return names
}

// A sink checks the promises about emit: one goroutine at a time, the cells of a row in
// sequence, and each row once.
type sink struct {
	t    *testing.T
	busy atomic.Bool
	rows map[string][]string
	last string
}

func newSink(t *testing.T) *sink { return &sink{t: t, rows: map[string][]string{}} }

func (s *sink) emit(c *cell.Cell) error {
	if !s.busy.CompareAndSwap(false, true) {
		s.t.Error("emit called while it runs")
	}
	defer s.busy.Store(false)
	row := string(c.Row)
	if row != s.last && s.rows[row] != nil {
		s.t.Errorf("row %s comes again", row)
	}
	s.last = row
	s.rows[row] = append(s.rows[row], string(c.Qualifier)+"="+string(c.Value))
	return nil
}

// check compares with the rows of filled.
func (s *sink) check(from, to int) {
	s.t.Helper()
	wrong := 0
	for i := from; i < to; i++ {
		want := []string{fmt.Sprintf("a=%da", i), fmt.Sprintf("b=%db", i), fmt.Sprintf("c=%dc", i)}
		if got := s.rows[rowName(i)]; !slices.Equal(got, want) {
			if wrong++; wrong < 5 {
				s.t.Errorf("%s has %q, want %q", rowName(i), got, want)
			}
		}
	}
	if len(s.rows) != to-from {
		s.t.Errorf("%d rows, want %d", len(s.rows), to-from)
	}
}

// getAll requests rows and checks the responses.
func getAll(t *testing.T, c *Client, n int, o GetOptions) {
	t.Helper()
	s := newSink(t)
	if err := c.Gets(t.Context(), "t", rowsOf(upTo(n)...), o, s.emit); err != nil {
		t.Fatal(err)
	}
	s.check(0, n)
}

func exception(class string) *wire.ServerError {
	return &wire.ServerError{Class: pkg + class, Message: "on purpose"}
}

// once makes call n of a method fail.
func once(method string, n int, fault hbasetest.Fault) hbasetest.Hooks {
	return hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
		if c.Method == method && c.N == n {
			return fault
		}
		return hbasetest.Fault{}
	}}
}

// always returns hooks that let every call of a method fail.
func always(method string, fault hbasetest.Fault) hbasetest.Hooks {
	return hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
		if c.Method == method {
			return fault
		}
		return hbasetest.Fault{}
	}}
}

// times counts by key.
type times struct {
	mu sync.Mutex
	n  map[string]int
}

// first returns true for the first n calls with a key.
func (x *times) first(key string, n int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.n == nil {
		x.n = map[string]int{}
	}
	x.n[key]++
	return x.n[key] <= n
}

func TestGetsGivesEachRowOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{Servers: 3}, 3000, 500, 1000, 1500, 2000, 2500)
		c := dial(t, f)
		s := newSink(t)
		names := slices.Concat([]string{"absent"}, upTo(3000), []string{"zzz"})
		if err := c.Gets(t.Context(), "t", rowsOf(names...), GetOptions{Batch: 70}, s.emit); err != nil {
			t.Fatal(err)
		}
		s.check(0, 3000)
		if n := f.Counts().Calls["Multi"]; n < 3000/70 || n > 200 {
			t.Errorf("%d Multis for 3000 rows in batches of 70", n)
		}
	})
}

func TestARowAskedForTwiceIsReturnedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, filled(t, hbasetest.Config{}, 2))
		n := 0
		err := c.Gets(t.Context(), "t", rowsOf(rowName(1), rowName(1)), GetOptions{}, func(*cell.Cell) error { n++; return nil })
		if err != nil || n != 6 {
			t.Errorf("%d cells, %v; want two times three", n, err)
		}
	})
}

func TestOneGet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, filled(t, hbasetest.Config{Servers: 2}, 100, 50))
		for _, i := range []int{0, 49, 50, 99} {
			cells, err := c.Get(t.Context(), "t", []byte(rowName(i)), wire.Get{})
			if err != nil || len(cells) != 3 || string(cells[2].Value) != fmt.Sprintf("%dc", i) {
				t.Errorf("%s: %v, %v", rowName(i), cells, err)
			}
		}
		if cells, err := c.Get(t.Context(), "t", []byte("absent"), wire.Get{}); err != nil || len(cells) != 0 {
			t.Errorf("a missing row: %v, %v", cells, err)
		}
	})
}

// TestOnlyWhatFailedIsTriedAgain checks that the failure of one row causes no second Get of
// another row, and that no row gets another row's outcome.
func TestOnlyWhatFailedIsTriedAgain(t *testing.T) {
	for _, class := range []string{
		"NotServingRegionException", "RegionTooBusyException", "exceptions.RegionOpeningException",
		"MultiActionResultTooLarge", "CallDroppedException", "RetryImmediatelyException", "com.example.Unknown",
	} {
		bubble(t, class, func(t *testing.T) {
			f := filled(t, hbasetest.Config{Servers: 2}, 300, 100)
			c := dial(t, f)
			var seen times
			f.SetHooks(hbasetest.Hooks{Action: func(_ hbasetest.Call, row []byte) *wire.ServerError {
				if strings.HasSuffix(string(row), "7") && seen.first(string(row), 1) {
					return exception(class)
				}
				return nil
			}})
			getAll(t, c, 300, GetOptions{Batch: 50})
			for row, n := range f.Counts().RowGets {
				if n != 1 && row != "t" { // of meta
					t.Errorf("%s was read %d times", row, n)
				}
			}
		})
	}
}

func TestWhatHappensToACallOfMany(t *testing.T) {
	for name, fault := range map[string]hbasetest.Fault{
		"queue too big":   {Exception: exception("CallQueueTooBigException")},
		"server stops":    {Exception: exception("regionserver.RegionServerStoppedException")},
		"response lost":   {Drop: true},
		"connection lost": {Close: true},
		"response cut":    {Cut: 100},
		"sent twice":      {Twice: true},
		"overloaded":      {Exception: &wire.ServerError{Class: "com.example.New", DoNotRetry: true, Overloaded: true}},
		"not executed":    {Exception: exception("MultiActionResultTooLarge")},
	} {
		bubble(t, name, func(t *testing.T) {
			f := filled(t, hbasetest.Config{Servers: 2}, 500, 250)
			c := dial(t, f, func(cfg *Config) { cfg.CallTimeout = time.Second })
			f.SetHooks(once("Multi", 2, fault))
			getAll(t, c, 500, GetOptions{Batch: 100})
		})
	}
}

// TestReadyRegionsDoNotWaitForAParkedOne checks that rows of a region without a server arrive
// when it is served again, and all other rows before.
func TestReadyRegionsDoNotWaitForAParkedOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{Servers: 2}, 400, 100, 200, 300)
		c := dial(t, f)
		f.Move("t", []byte(rowName(150)), -1)
		s := newSink(t)
		var back sync.Once
		err := c.Gets(t.Context(), "t", rowsOf(upTo(400)...), GetOptions{Batch: 20}, func(x *cell.Cell) error {
			if err := s.emit(x); err != nil {
				return err
			}
			if len(s.rows) == 300 {
				back.Do(func() { f.Move("t", []byte(rowName(150)), 1) })
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		s.check(0, 400)
	})
}

func TestRegionsMoveSplitAndMergeDuringGets(t *testing.T) {
	for _, sayMoved := range []bool{false, true} {
		bubble(t, fmt.Sprintf("SayMoved=%v", sayMoved), func(t *testing.T) {
			f := filled(t, hbasetest.Config{Servers: 3, SayMoved: sayMoved}, 2000, 500, 1000, 1500)
			c := dial(t, f)
			s := newSink(t)
			n := 0
			err := c.Gets(t.Context(), "t", rowsOf(upTo(2000)...), GetOptions{Batch: 40}, func(x *cell.Cell) error {
				n++
				change(f, n)
				return s.emit(x)
			})
			if err != nil {
				t.Fatal(err)
			}
			s.check(0, 2000)
		})
	}
}

// change moves, splits and merges regions of a table of 2000 rows at intervals.
func change(f *hbasetest.Cluster, n int) {
	switch n {
	case 100:
		f.Move("t", []byte(rowName(700)), 2)
	case 500:
		f.Split("t", []byte(rowName(1200)))
	case 1500:
		f.Merge("t", []byte(rowName(1600)))
	case 2500:
		f.Merge("t", []byte(rowName(10)))
	}
}

func TestResponsesThatAreTooLargeMakeSmallerBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{MaxResponse: 500}, 300)
		c := dial(t, f)
		getAll(t, c, 300, GetOptions{})
		for row, n := range f.Counts().RowGets {
			if n != 1 {
				t.Errorf("%s was read %d times", row, n)
			}
		}
	})
}

func TestAnOverloadedServerGetsFewerCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{}, 400)
		c := dial(t, f, func(cfg *Config) { cfg.InFlight = 16 })
		var under, most atomic.Int32
		calm := atomic.Bool{}
		f.SetHooks(hbasetest.Hooks{Call: func(call hbasetest.Call) hbasetest.Fault {
			if call.Method != "Multi" || calm.Load() {
				return hbasetest.Fault{}
			}
			n := under.Add(1)
			defer under.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			time.Sleep(20 * time.Millisecond)
			if n > 2 {
				return hbasetest.Fault{Exception: exception("CallQueueTooBigException")}
			}
			return hbasetest.Fault{}
		}})
		getAll(t, c, 400, GetOptions{Batch: 4})
		w := c.server(f.Addr(0), wire.ClientService).window
		w.mu.Lock()
		limit := w.limit
		w.mu.Unlock()
		if most.Load() <= 2 || limit >= 16 {
			t.Errorf("at most %d calls at once, and %.1f allowed in the end; want a smaller window than 16", most.Load(), limit)
		}
		calm.Store(true)
		getAll(t, c, 400, GetOptions{Batch: 4})
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.limit <= limit {
			t.Errorf("the window did not grow again: %.1f, before %.1f", w.limit, limit)
		}
	})
}

func TestABudgetUsedUpSaysWhatWasTried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{Servers: 2}, 100, 50)
		c := dial(t, f, func(cfg *Config) { cfg.OpTimeout = 300 * time.Millisecond })
		f.SetHooks(hbasetest.Hooks{Region: func(_ hbasetest.Call, region string) *wire.ServerError {
			if strings.HasPrefix(region, "t,"+rowName(50)) {
				return exception("RegionTooBusyException")
			}
			return nil
		}})
		p, err := c.NewPutter("t", PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		ops := map[string]func() error{
			"gets": func() error {
				return c.Gets(t.Context(), "t", rowsOf(upTo(100)...), GetOptions{}, newSink(t).emit)
			},
			"get": func() error {
				_, err := c.Get(t.Context(), "t", []byte(rowName(70)), wire.Get{})
				return err
			},
			"scan": func() error { return c.Scan(t.Context(), "t", Scan{}, newSink(t).emit) },
			"put": func() error {
				if err := p.Put(t.Context(), put(rowName(70), "a", "x")); err != nil {
					return err
				}
				return p.Flush(t.Context())
			},
		}
		for name, op := range ops {
			err := op()
			var g *GaveUpError
			if !errors.As(err, &g) || !errors.Is(err, ErrUnavailable) || g.Attempts < 2 || g.Server != f.Addr(0) && g.Server != f.Addr(1) {
				t.Errorf("%s: %v; want a GaveUpError that may pass", name, err)
				continue
			}
			for _, want := range []string{"table t", "t," + rowName(50), "RegionTooBusyException", "on purpose"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %q does not say %q", name, err, want)
				}
			}
		}
		if err := p.Put(t.Context(), put(rowName(1), "a", "x")); err == nil {
			t.Error("a Putter that has failed takes more")
		}
	})
}

func TestFatalFailuresAreNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{}, 10)
		c := dial(t, f)
		for class, want := range map[string]error{
			"regionserver.NoSuchColumnFamilyException": ErrNoFamily,
			"DoNotRetryIOException":                    nil,
			"exceptions.FailedSanityCheckException":    nil,
			"quotas.SpaceLimitingException":            nil,
			"exceptions.RequestTooBigException":        nil,
			"client.WrongRowIOException":               nil,
		} {
			f.SetHooks(hbasetest.Hooks{Action: func(hbasetest.Call, []byte) *wire.ServerError { return exception(class) }})
			before := f.Counts().Calls["Multi"]
			err := c.Gets(t.Context(), "t", rowsOf(upTo(10)...), GetOptions{}, newSink(t).emit)
			if err == nil || want != nil && !errors.Is(err, want) || errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "table t") {
				t.Errorf("%s: %v, want %v", class, err, want)
			}
			if n := f.Counts().Calls["Multi"] - before; n > 2 {
				t.Errorf("%s: tried %d times", class, n)
			}
		}
	})
}

func TestADenialIsAskedTwiceAgain(t *testing.T) {
	for denials := range maxAsks + 2 {
		synctest.Test(t, func(t *testing.T) {
			f := filled(t, hbasetest.Config{}, 10)
			c := dial(t, f)
			for method, read := range map[string]func(func(*cell.Cell) error) error{
				"Multi": func(emit func(*cell.Cell) error) error {
					return c.Gets(t.Context(), "t", rowsOf(upTo(10)...), GetOptions{}, emit)
				},
				"Scan": func(emit func(*cell.Cell) error) error { return c.Scan(t.Context(), "t", Scan{}, emit) },
			} {
				var asked times
				f.SetHooks(hbasetest.Hooks{Call: func(call hbasetest.Call) (fault hbasetest.Fault) {
					if call.Method == method && asked.first(method, denials) {
						fault.Exception = exception("security.AccessDeniedException")
					}
					return fault
				}})
				got := newSink(t)
				err := read(got.emit)
				switch {
				case denials > maxAsks:
					if !errors.Is(err, ErrPermission) || errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "table t") {
						t.Errorf("%s, denied %d times: %v, want ErrPermission", method, denials, err)
					}
				case err != nil || len(got.rows) != 10:
					t.Errorf("%s, denied %d times: %d rows, %v", method, denials, len(got.rows), err)
				}
			}
		})
	}
}

func TestNoSuchTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{}, 10)
		c := dial(t, f)
		err := c.Gets(t.Context(), "absent", rowsOf("a"), GetOptions{}, newSink(t).emit)
		if !errors.Is(err, ErrNoTable) || !strings.Contains(err.Error(), "absent") {
			t.Errorf("gets: %v", err)
		}
		if err := c.Scan(t.Context(), "absent", Scan{}, newSink(t).emit); !errors.Is(err, ErrNoTable) {
			t.Errorf("scan: %v", err)
		}
		if _, err := c.Get(t.Context(), "absent", []byte("a"), wire.Get{}); !errors.Is(err, ErrNoTable) {
			t.Errorf("get: %v", err)
		}
		if _, err := c.Regions(t.Context(), "absent"); !errors.Is(err, ErrNoTable) {
			t.Errorf("regions: %v", err)
		}
		if _, err := c.Describe(t.Context(), "absent"); !errors.Is(err, ErrNoTable) {
			t.Errorf("describe: %v", err)
		}
	})
}

func TestBadRowsAndCellsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, filled(t, hbasetest.Config{}, 1))
		long := strings.Repeat("x", maxRow+1)
		for _, row := range []string{"", long} {
			if err := c.Gets(t.Context(), "t", rowsOf(row), GetOptions{}, newSink(t).emit); err == nil || !strings.Contains(err.Error(), "32767") {
				t.Errorf("a row of %d bytes: %v", len(row), err)
			}
		}
		p, err := c.NewPutter("t", PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		noTime := put("r", "q", "v")
		noTime.Time = 1<<63 - 1
		noFamily := put("r", "q", "v")
		noFamily.Family = nil
		deleted := put("r", "q", "v")
		deleted.Type = cell.Delete
		for _, x := range []*cell.Cell{noTime, noFamily, deleted, put("", "q", "v"), put(long, "q", "v")} {
			if err := p.Put(t.Context(), x); err == nil {
				t.Errorf("%.40s was taken", x.String())
			}
		}
		if err := p.Close(); err != nil {
			t.Errorf("a refused cell ended the Putter: %v", err)
		}
	})
}

// TestLookupsAreShared checks that callers that need the same regions at the same time read
// meta once.
func TestLookupsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{}, 100, 50)
		c := dial(t, f)
		f.SetHooks(once("Scan", 1, hbasetest.Fault{Delay: 50 * time.Millisecond}))
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				if _, err := c.Get(t.Context(), "t", []byte(rowName(i*5)), wire.Get{}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := f.Counts().Calls["Scan"]; n != 1 {
			t.Errorf("meta was read %d times, want once", n)
		}
		if n := f.Counts().Connections; n > 3 {
			t.Errorf("%d connections for one server, meta and the master", n)
		}
	})
}

// stuck makes every call hang, runs op and cancels it.
func stuck(t *testing.T, f *hbasetest.Cluster, method string, op func(ctx context.Context) error) {
	t.Helper()
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	f.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
		if c.Method == method {
			cancel(why)
			return hbasetest.Fault{Skip: true}
		}
		return hbasetest.Fault{}
	}})
	outcome := make(chan error, 1)
	go func() { outcome <- op(ctx) }()
	select {
	case err := <-outcome:
		if !errors.Is(err, why) {
			t.Errorf("%s: %v, want %v", method, err, why)
		}
	case <-time.After(enough):
		t.Fatalf("%s: does not return after its context has ended", method)
	}
}

func TestACancelledContextEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{}, 100)
		c := dial(t, f, func(cfg *Config) { cfg.CallTimeout = time.Hour })
		if _, err := c.Get(t.Context(), "t", []byte("a"), wire.Get{}); err != nil {
			t.Fatal(err) // from here on, the regions are known
		}
		stuck(t, f, "Multi", func(ctx context.Context) error {
			return c.Gets(ctx, "t", rowsOf(upTo(100)...), GetOptions{Batch: 1}, newSink(t).emit)
		})
		stuck(t, f, "Get", func(ctx context.Context) error {
			_, err := c.Get(ctx, "t", []byte("a"), wire.Get{})
			return err
		})
		stuck(t, f, "Scan", func(ctx context.Context) error { return c.Scan(ctx, "t", Scan{}, newSink(t).emit) })
		stuck(t, f, "GetTableDescriptors", func(ctx context.Context) error {
			_, err := c.Describe(ctx, "t")
			return err
		})
		p, err := c.NewPutter("t", PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		stuck(t, f, "Multi", func(ctx context.Context) error {
			if err := p.Put(ctx, put("r", "q", "v")); err != nil {
				return err
			}
			return p.Flush(ctx)
		})
		if err := p.Close(); err == nil {
			t.Error("a Putter closed before its cells had a response says nothing")
		}
	})
}

func TestCloseEndsWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{Servers: 2}, 100, 50)
		c := dial(t, f, func(cfg *Config) { cfg.CallTimeout = time.Hour })
		started := make(chan struct{}, 1000)
		f.SetHooks(hbasetest.Hooks{Call: func(call hbasetest.Call) hbasetest.Fault {
			if call.Method == "Multi" {
				started <- struct{}{}
				return hbasetest.Fault{Skip: true}
			}
			return hbasetest.Fault{}
		}})
		outcome := make(chan error, 1)
		go func() {
			outcome <- c.Gets(context.Background(), "t", rowsOf(upTo(100)...), GetOptions{}, newSink(t).emit)
		}()
		<-started
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-outcome; !errors.Is(err, ErrClosed) {
			t.Errorf("gets: %v, want ErrClosed", err)
		}
		if _, err := c.Get(t.Context(), "t", []byte("a"), wire.Get{}); !errors.Is(err, ErrClosed) {
			t.Errorf("get after Close: %v, want ErrClosed", err)
		}
		if _, err := c.NewPutter("t", PutOptions{}); !errors.Is(err, ErrClosed) {
			t.Errorf("NewPutter after Close: %v, want ErrClosed", err)
		}
	})
}

func TestEmitEndsGetsAndScans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{Servers: 2, PartialCells: 2}, 2000, 1000)
		c := dial(t, f)
		why := errors.New("enough")
		for name, op := range map[string]func(func(*cell.Cell) error) error{
			"gets": func(emit func(*cell.Cell) error) error {
				return c.Gets(t.Context(), "t", rowsOf(upTo(2000)...), GetOptions{Batch: 10}, emit)
			},
			"scan": func(emit func(*cell.Cell) error) error {
				return c.Scan(t.Context(), "t", Scan{ResultBytes: 300}, emit)
			},
		} {
			n := 0
			err := op(func(*cell.Cell) error {
				if n++; n == 100 {
					return why
				}
				return nil
			})
			if !errors.Is(err, why) || n != 100 {
				t.Errorf("%s: %v after %d cells, want %v after 100", name, err, n, why)
			}
		}
		noneLeft(t, f)
	})
}

// TestAServerThatFallsSilent uses a server that accepts connections and requests, and sends no
// response. Its regions are elsewhere after a while.
func TestAServerThatFallsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{Servers: 3}, 600, 200, 400)
		c := dial(t, f, func(cfg *Config) { cfg.CallTimeout = time.Second })
		getAll(t, c, 600, GetOptions{})
		f.Freeze(1)
		defer f.Thaw(1)
		go func() {
			time.Sleep(700 * time.Millisecond)
			f.Reassign(1, 2)
		}()
		getAll(t, c, 600, GetOptions{})
	})
}

func TestAServerIsKilledDuringGets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := filled(t, hbasetest.Config{Servers: 3}, 1000, 300, 600)
		c := dial(t, f)
		s := newSink(t)
		n := 0
		err := c.Gets(t.Context(), "t", rowsOf(upTo(1000)...), GetOptions{Batch: 20}, func(x *cell.Cell) error {
			if n++; n == 300 {
				f.Kill(1)
				go func() {
					time.Sleep(300 * time.Millisecond)
					f.Reassign(1, 2)
				}()
			}
			return s.emit(x)
		})
		if err != nil {
			t.Fatal(err)
		}
		s.check(0, 1000)
	})
}

// TestFaultsOverTCP uses real connections, which end in each way, and a server that is
// killed.
func TestFaultsOverTCP(t *testing.T) {
	f := hbasetest.New(t, hbasetest.Config{Servers: 3, MaxResponse: 3000, PartialCells: 2})
	fill(f, 0, 200, 400)
	c := dial(t, f, small, func(cfg *Config) { cfg.CallTimeout, cfg.OpTimeout = enough, enough })
	f.SetHooks(hbasetest.Hooks{Call: func(call hbasetest.Call) hbasetest.Fault {
		if call.Server < 0 {
			return hbasetest.Fault{}
		}
		switch call.N % 40 {
		case 3:
			return hbasetest.Fault{Close: true}
		case 13:
			return hbasetest.Fault{Cut: 50}
		case 23:
			return hbasetest.Fault{Twice: true}
		}
		return hbasetest.Fault{}
	}})
	putRows(t, c, 600, PutOptions{}, func(i int) {
		if i == 300 {
			f.Disconnect(2)
		}
	})
	checkTable(t, f, 600)
	scanned(t, c, 0, 600, Scan{}, nil)
	killed := f.Addr(1)
	f.Kill(1)
	refusals := &refusals{addr: killed, then: func() { f.Reassign(1, 2) }}
	again := dial(t, f, func(cfg *Config) { cfg.CallTimeout, cfg.OpTimeout, cfg.Dial = enough, enough, refusals.dial })
	getAll(t, again, 600, GetOptions{Batch: 20})
	if refusals.n < 2 {
		t.Errorf("%d connections were refused, want two before the regions are elsewhere", refusals.n)
	}
}

// refusals dials, and calls a function once an address has refused two connections.
type refusals struct {
	addr string
	then func()

	mu sync.Mutex
	n  int
}

func (r *refusals) dial(ctx context.Context, addr string) (net.Conn, error) {
	nc, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil && addr == r.addr {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.n++; r.n == 2 {
			r.then()
		}
	}
	return nc, err
}

// TestAResponseOfZooKeeperIsTaken has the response ready before the client waits for it. The
// client must never report it as cancelled. The test repeats the request, because a select
// with several ready cases chooses randomly.
func TestAResponseOfZooKeeperIsTaken(t *testing.T) {
	z := &zooKeeper{servers: []string{"[::1"}, znode: "/hbase", timeout: time.Minute, start: func(ask func()) { ask() }}
	for range 50 {
		if _, err := z.Meta(t.Context()); !errors.Is(err, ErrUnavailable) || errors.Is(err, context.Canceled) {
			t.Errorf("%v, want the mistake in the address", err)
		}
	}
}

// TestALostReadOfZooKeeperIsRepeated has ZooKeeper close two connections in place of a response,
// as the library does with a connection that is silent for too long.
func TestALostReadOfZooKeeperIsRepeated(t *testing.T) {
	q := hbasetest.NewQuorum(t, t.TempDir())
	z := &zooKeeper{servers: []string{q.ZooKeeper()}, znode: "/hbase", timeout: enough, start: func(ask func()) { go ask() }}
	q.LoseReads(2)
	if id, err := z.ClusterID(t.Context()); id != "lab" || err != nil {
		t.Errorf("ID %q, %v; want lab", id, err)
	}
}

func TestZooKeeperThatCannotBeReached(t *testing.T) {
	_, err := Dial(t.Context(), Config{ZooKeeper: []string{"127.0.0.1:1"}, User: "trail", DialTimeout: 5 * time.Second})
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "127.0.0.1:1") || !strings.Contains(err.Error(), "refused") {
		t.Errorf("%v; want ErrUnavailable with address and cause", err)
	}
	_, err = Dial(t.Context(), Config{Masters: []string{"127.0.0.1:1"}, User: "trail"})
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("%v; want ErrUnavailable with the address", err)
	}
	noneRun(t)
}

// TestALimitThatIsTooShortIsNamed checks that the error does not claim that ZooKeeper is down
// if the limit is too short for its response.
func TestALimitThatIsTooShortIsNamed(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	_, err = Dial(t.Context(), Config{ZooKeeper: []string{silent.Addr().String()}, User: "trail", CallTimeout: time.Millisecond})
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "within 1ms") || !strings.Contains(err.Error(), "--call-timeout") {
		t.Errorf("%v; want ErrUnavailable with the limit", err)
	}
	noneRun(t)
}
