package hbase

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"usertrail/internal/cell"
	"usertrail/internal/store/hbase/hbasetest"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/test/testkit"
)

var seed = flag.Uint64("seed", 0, "of TestWorld; 0 is a few fixed ones")

// TestWorld changes a cluster at random, between the calls that put, get and scan rows, and
// compares with a map.
func TestWorld(t *testing.T) {
	first, last := uint64(1), testkit.Pick[uint64](8, 60)
	if *seed != 0 {
		first, last = *seed, *seed
	}
	for n := first; n <= last; n++ {
		bubble(t, fmt.Sprintf("seed=%d", n), func(t *testing.T) { newWorld(t, n, true).run() })
	}
}

// TestWorldOverTCP has a world with real connections.
func TestWorldOverTCP(t *testing.T) {
	testkit.OnlyAll(t, "TestWorld and TestFaultsOverTCP")
	for n := uint64(2); n <= 4; n++ {
		t.Run(fmt.Sprintf("seed=%d", n), func(t *testing.T) {
			t.Parallel()
			newWorld(t, n, false).run()
		})
	}
}

func (w *world) run() {
	for range 3 {
		w.put(w.rng)
		w.get(w.rng)
		w.scan(w.rng)
	}
}

// A world is a cluster that something is always happening to.
type world struct {
	t       *testing.T
	rng     *rand.Rand
	f       *hbasetest.Cluster
	c       *Client
	rows    map[string]string // what must be there: the value of f:q
	version int64

	nowhere    []byte // a row of the region that no server has
	disconnect bool   // a connection ends with the next call
}

const (
	worldServers = 4
	worldRows    = 500
)

func newWorld(t *testing.T, seed uint64, inMemory bool) *world {
	rng := rand.New(rand.NewPCG(seed, 0))
	calm := 6
	if !inMemory { // where each pause of the client is a real pause
		calm = 60
	}
	f := hbasetest.New(t, hbasetest.Config{ // where each response is a heartbeat no scan ends
		InMemory: inMemory,
		Servers:  worldServers, SayMoved: rng.IntN(2) == 0, MaxResponse: 200 + rng.IntN(2000),
		PartialCells: rng.IntN(3), UnsureParts: rng.IntN(2) == 0, HeartbeatEvery: []int{0, 4, 2, 3}[rng.IntN(4)],
	})
	f.CreateTable("t", []string{"f"}, []byte(rowName(100)), []byte(rowName(300)))
	c := dial(t, f, func(cfg *Config) {
		cfg.CallTimeout, cfg.OpTimeout = 400*time.Millisecond, enough
		if !inMemory { // what is lost by chance is tried again, but not for ever
			cfg.CallTimeout = time.Second
		}
		cfg.MaxRequestBytes, cfg.MaxRequestActions = 1000+rng.IntN(5000), 1+rng.IntN(40)
		cfg.InFlight = 1 + rng.IntN(6)
	})
	w := &world{t: t, rng: rng, f: f, c: c, rows: map[string]string{}}
	f.SetHooks(w.faults(rand.New(rand.NewPCG(seed, 1)), calm))
	return w
}

// faults returns hooks that change the cluster and draw faults. calm limits the number of calls between
// two changes.
func (w *world) faults(hooks *rand.Rand, calm int) hbasetest.Hooks {
	var faults times // guards what the hooks use
	until := 0       // so many calls the cluster changes
	return hbasetest.Hooks{
		Call: func(call hbasetest.Call) hbasetest.Fault {
			faults.mu.Lock()
			defer faults.mu.Unlock()
			if call.Server < 0 {
				return hbasetest.Fault{}
			}
			if until--; until <= 0 {
				w.change(hooks)
				until = 1 + hooks.IntN(calm)
			}
			fault := hbasetest.Fault{Delay: time.Duration(hooks.IntN(2000)) * time.Microsecond}
			// One that ends before it has a response looks refused, which is not tried for long.
			mayEnd := call.Responded
			switch {
			case hooks.IntN(60) == 0:
				fault.Drop = true
			case (w.disconnect || hooks.IntN(60) == 0) && mayEnd:
				fault.Close, w.disconnect = true, false
			case hooks.IntN(60) == 0 && mayEnd:
				fault.Cut = 1 + hooks.IntN(200)
			case hooks.IntN(60) == 0:
				fault.Twice = true
			case hooks.IntN(60) == 0:
				fault.Exception = exception("CallQueueTooBigException")
			case hooks.IntN(30) == 0:
				fault.Delay = time.Duration(hooks.IntN(20)) * time.Millisecond
			}
			return fault
		},
		Action: func(hbasetest.Call, []byte) *wire.ServerError {
			faults.mu.Lock()
			defer faults.mu.Unlock()
			if hooks.IntN(300) == 0 {
				return exception([]string{"RegionTooBusyException", "MultiActionResultTooLarge", "exceptions.RegionOpeningException"}[hooks.IntN(3)])
			}
			return nil
		},
	}
}

// change changes the cluster. A region that is nowhere is on a server again by the next change.
func (w *world) change(rng *rand.Rand) {
	if w.nowhere != nil {
		w.f.Move("t", w.nowhere, rng.IntN(worldServers))
		w.nowhere = nil
		return
	}
	row := []byte(rowName(rng.IntN(worldRows)))
	switch rng.IntN(7) {
	case 0, 1:
		w.f.Move("t", row, rng.IntN(worldServers))
	case 2:
		w.f.Split("t", row)
	case 3, 4:
		w.f.Merge("t", row)
	case 5:
		w.disconnect = true
	case 6:
		w.f.Move("t", row, -1)
		w.nowhere = row
	}
}

// put writes new values to many rows, each with a timestamp of its own.
func (w *world) put(rng *rand.Rand) {
	p, err := w.c.NewPutter("t", PutOptions{MaxBytes: 4<<10 + rng.IntN(64<<10)})
	if err != nil {
		w.t.Error(err)
		return
	}
	w.version++
	for _, i := range rng.Perm(worldRows)[:worldRows/2] {
		row, value := rowName(i), fmt.Sprintf("v%d", w.version)
		w.rows[row] = value
		for _, q := range []string{"p", "q"} {
			x := put(row, q, value)
			x.Time = w.version
			if err := p.Put(w.t.Context(), x); err != nil {
				w.t.Error(err)
				return
			}
		}
	}
	if err := p.Flush(w.t.Context()); err != nil {
		w.t.Error(err)
	}
	if err := p.Close(); err != nil {
		w.t.Error(err)
	}
}

// get requests many rows. Some of them are missing.
func (w *world) get(rng *rand.Rand) {
	var names []string
	want := map[string]string{}
	for _, i := range rng.Perm(worldRows + 20)[:200] {
		names = append(names, rowName(i))
		if v, ok := w.rows[rowName(i)]; ok {
			want[rowName(i)] = v
		}
	}
	s := newSink(w.t)
	if err := w.c.Gets(w.t.Context(), "t", rowsOf(names...), GetOptions{Batch: 1 + rng.IntN(60)}, s.emit); err != nil {
		w.t.Error(err)
		return
	}
	w.compare("gets", s, want)
}

// scan reads a range.
func (w *world) scan(rng *rand.Rand) {
	from, to := rng.IntN(worldRows), rng.IntN(worldRows+1)
	if rng.IntN(3) == 0 {
		from, to = 0, worldRows
	}
	limit := 0
	if rng.IntN(2) == 0 {
		limit = 1 + rng.IntN(worldRows)
	}
	want := map[string]string{}
	for i := from; i < to && (limit == 0 || len(want) < limit); i++ {
		if v, ok := w.rows[rowName(i)]; ok {
			want[rowName(i)] = v
		}
	}
	s := newSink(w.t)
	var last *cell.Cell
	err := w.c.Scan(w.t.Context(), "t", Scan{Start: []byte(rowName(from)), Stop: []byte(rowName(to)), Limit: limit}, func(x *cell.Cell) error {
		if last != nil && cell.Compare(last, x) >= 0 {
			w.t.Errorf("%s after %s", x, last)
		}
		last = x.Clone()
		return s.emit(x)
	})
	if err != nil {
		w.t.Error(err)
		return
	}
	w.compare("scan", s, want)
}

func (w *world) compare(what string, s *sink, want map[string]string) {
	for row, v := range want {
		if got := s.rows[row]; !slices.Equal(got, []string{"p=" + v, "q=" + v}) {
			w.t.Errorf("%s: %s has %q, want %s twice", what, row, got, v)
		}
	}
	if len(s.rows) != len(want) {
		w.t.Errorf("%s: %d rows, want %d", what, len(s.rows), len(want))
	}
}
