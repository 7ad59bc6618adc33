// Package progress counts work and reports it. Workers add to atomic counters. One ticker
// reads them and reports: on a terminal as a bar with rate and time left, elsewhere as an
// occasional line of the log, and not at all if quiet. In a task of Hadoop it reports to
// Hadoop. Each step ends with a last report, even if the step took no time or failed.
//
//	p := progress.Start(progress.Config{Out: os.Stderr, Terminal: true})
//	defer p.Done()
//	p.Step("reading logs", progress.Bytes, total)
//	records := p.Counter("records")
//	... p.Add(n) and records.Add(1), from any goroutine
//	p.Step("writing regions", "regions", 64)
//
// A Board, if there is one, shows the task of each worker: see Worker.
//
// Start starts one goroutine. When Done returns, the goroutine has ended. A nil *Progress
// counts and reports nothing, so callers need not test for nil.
package progress

import (
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Bytes is the unit of sizes, which are printed as 1.5 GB. Other units are printed as counts.
const Bytes = "bytes"

// Events is the unit of events that are read.
const Events = "events"

// redraw is the time between two drawings of a bar. It is short enough for a smooth bar.
const redraw = 200 * time.Millisecond

// A Config selects the form of the reports. A zero field means the default in its comment.
type Config struct {
	Out      io.Writer     // the writer for a bar
	Terminal bool          // Out is a terminal, so draw a bar
	Quiet    bool          // report nothing
	Log      *slog.Logger  // receives lines if there is no terminal; none
	Every    time.Duration // time between two lines; 10 s
	Board    *Board        // shows the tasks of workers; none
}

// A Progress has one step at a time. Many goroutines may call Add, Grow and Counter at
// once. Only one goroutine may call Step and Done, between the work of two steps.
type Progress struct {
	reporter reporter
	tick     *time.Ticker
	every    time.Duration
	stop     chan struct{}
	ended    chan struct{}

	step atomic.Pointer[step]
	mu   sync.Mutex // serialises reports

	board     *Board
	workersMu sync.Mutex
	workers   []*Worker
}

// A reporter reports the state of a step. Only one goroutine calls it at a time.
type reporter interface {
	begin(report)  // before the step's first work
	update(report) // during a step
	end(report)    // the last report of a step
}

// Start returns a Progress that has no step yet.
func Start(cfg Config) *Progress {
	p := &Progress{every: cfg.Every, board: cfg.Board, stop: make(chan struct{}), ended: make(chan struct{})}
	if p.every <= 0 {
		p.every = 10 * time.Second
	}
	switch {
	case underHadoop() && cfg.Out != nil: // even if Quiet is set, because Hadoop kills a silent task
		p.reporter, p.every = &hadoop{out: cfg.Out}, heartbeat
	case cfg.Quiet:
		p.reporter = silence{}
	case cfg.Terminal && cfg.Out != nil:
		p.reporter, p.every = &bar{out: cfg.Out}, redraw
	case cfg.Log != nil:
		p.reporter = lines{cfg.Log}
	default:
		p.reporter = silence{}
	}
	p.tick = time.NewTicker(p.every)
	p.board.add(p)
	go p.run()
	return p
}

// run reports at every tick until Done.
func (p *Progress) run() {
	defer close(p.ended)
	for {
		select {
		case <-p.tick.C:
			p.mu.Lock()
			if s := p.step.Load(); s != nil {
				p.reporter.update(s.report())
			}
			p.mu.Unlock()
		case <-p.stop:
			return
		}
	}
}

// Step ends the previous step and begins a step that is measured in a unit. total is the
// amount of work, 0 if it is unknown.
func (p *Progress) Step(title, unit string, total int64) {
	if p == nil {
		return
	}
	next := &step{title: title, unit: unit, began: time.Now()}
	next.total.Store(total)
	p.change(next)
	p.tick.Reset(p.every)
}

// Done ends the last step and the Progress. A second Done does nothing.
func (p *Progress) Done() {
	if p == nil {
		return
	}
	p.board.remove(p)
	p.change(nil)
	p.tick.Stop()
	p.mu.Lock()
	select {
	case <-p.stop:
	default:
		close(p.stop)
	}
	p.mu.Unlock()
	<-p.ended
}

// change makes next the current step, and makes the last report of the previous one.
func (p *Progress) change(next *step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.step.Swap(next); s != nil {
		p.reporter.end(s.report())
	}
	if next != nil {
		p.reporter.begin(next.report())
	}
}

// Add adds n units of finished work to the step.
func (p *Progress) Add(n int64) {
	if s := p.current(); s != nil {
		s.done.Add(n)
	}
}

// Grow increases the total of the step by n units.
func (p *Progress) Grow(n int64) {
	if s := p.current(); s != nil {
		s.total.Add(n)
	}
}

// Counter returns the step's counter with a name, for numbers that are printed next to the
// measure, such as records and rejects. Counters are printed in the order of their first call
// of Counter.
func (p *Progress) Counter(name string) *Counter {
	if s := p.current(); s != nil {
		return s.counter(name)
	}
	return nil
}

func (p *Progress) current() *step {
	if p == nil {
		return nil
	}
	return p.step.Load()
}

// A Counter is a named counter of a step. A nil Counter counts nothing.
type Counter struct {
	name string
	n    atomic.Int64
}

// Add adds n. Many goroutines may call it at once.
func (c *Counter) Add(n int64) {
	if c != nil {
		c.n.Add(n)
	}
}

// Value returns the sum so far.
func (c *Counter) Value() int64 {
	if c == nil {
		return 0
	}
	return c.n.Load()
}

// A step is one measured part of a run.
type step struct {
	title, unit string
	began       time.Time
	done, total atomic.Int64

	mu       sync.Mutex
	counters []*Counter
}

func (s *step) counter(name string) *Counter {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.counters, func(c *Counter) bool { return c.name == name })
	if i < 0 {
		i = len(s.counters)
		s.counters = append(s.counters, &Counter{name: name})
	}
	return s.counters[i]
}

// report reads the counters and the clock.
func (s *step) report() report {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := report{title: s.title, unit: s.unit, done: s.done.Load(), total: s.total.Load(), took: time.Since(s.began)}
	for _, c := range s.counters {
		r.counts = append(r.counts, count{c.name, c.Value()})
	}
	return r
}
