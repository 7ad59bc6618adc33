package progress

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Board shows the task of every worker during a run. Every Progress that was started
// with it lists its workers there until Done. A nil Board shows nothing.
type Board struct {
	mu  sync.Mutex
	all []*Progress // those that have not ended
}

func (b *Board) add(p *Progress) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, p)
}

func (b *Board) remove(p *Progress) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = slices.DeleteFunc(b.all, func(q *Progress) bool { return q == p })
}

// WriteTo implements io.WriterTo. It writes a line for each current step, and a line for
// each of the step's workers, the oldest first. It does not block workers.
func (b *Board) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, strings.Join(append(b.Lines(), ""), "\n"))
	return int64(n), err
}

// Lines returns the lines of WriteTo.
func (b *Board) Lines() []string {
	var lines []string
	if b != nil {
		b.mu.Lock()
		all := slices.Clone(b.all)
		b.mu.Unlock()
		for _, p := range all {
			lines = append(lines, p.lines()...)
		}
	}
	if len(lines) == 0 {
		lines = append(lines, "nothing is under way that can be measured")
	}
	return lines
}

func (p *Progress) lines() []string {
	var out []string
	if s := p.step.Load(); s != nil {
		out = append(out, s.report().sentence())
	}
	p.workersMu.Lock()
	defer p.workersMu.Unlock()
	for _, w := range p.workers {
		out = append(out, w.line())
	}
	return out
}

// A Worker is one line of a Board. A nil Worker does nothing.
type Worker struct {
	p    *Progress
	name string
	at   atomic.Pointer[place]
}

// A place is a worker's current task. It is formatted only when a Board is written.
type place struct {
	format string
	args   []any
	since  time.Time
}

// Worker begins a worker. Several workers may have the same name. It is on the board, if
// there is one, until End.
func (p *Progress) Worker(name string) *Worker {
	if p == nil || p.board == nil {
		return nil
	}
	w := &Worker{p: p, name: name}
	w.At("beginning")
	p.workersMu.Lock()
	defer p.workersMu.Unlock()
	p.workers = append(p.workers, w)
	return w
}

// At sets the worker's current task, with a format as in fmt.Sprintf. The caller must not
// change the arguments afterwards.
func (w *Worker) At(format string, args ...any) {
	if w != nil {
		w.at.Store(&place{format, args, time.Now()})
	}
}

// End removes the worker from the board.
func (w *Worker) End() {
	if w == nil {
		return
	}
	w.p.workersMu.Lock()
	defer w.p.workersMu.Unlock()
	w.p.workers = slices.DeleteFunc(w.p.workers, func(v *Worker) bool { return v == w })
}

func (w *Worker) line() string {
	at := w.at.Load()
	return fmt.Sprintf("  %-8s %s, for %s", w.name, fmt.Sprintf(at.format, at.args...), time.Since(at.since).Round(100*time.Millisecond))
}
