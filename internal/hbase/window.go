package hbase

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A window bounds the calls in flight on one server. It grows by one when a whole
// window's worth of calls went well and is halved when the server has too much to do
// (AIMD, as TCP's); it is shut for as long as the server asks for. Who waits is served
// in order, but first of all whom others wait for.
type window struct {
	addr   string
	most   int
	strain *strain

	mu     sync.Mutex
	limit  float64
	calls  int
	first  []chan struct{} // who goes before the queue
	queue  []chan struct{}
	halved time.Time
	shut   time.Time // until then only first is served
	opener *time.Timer
	busy   bool // from the first halving until calm
}

// calm is for how long a window must have been whole before the server counts as not
// busy any more: growing back is also how one finds out that it still is.
const calm = 30 * time.Second

func newWindow(addr string, most int, s *strain) *window {
	return &window{addr: addr, most: most, strain: s, limit: float64(most)}
}

// enter waits for a place, before all others with first; leave gives it back.
func (w *window) enter(ctx context.Context, first bool) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	w.mu.Lock()
	queue := &w.queue
	if first {
		queue = &w.first
	}
	if w.calls < int(w.limit) && len(*queue) == 0 && (first || !w.isShut()) {
		w.calls++
		w.mu.Unlock()
		return nil
	}
	if int(w.limit) < w.most || w.isShut() {
		defer w.strain.waiting.Start()()
	}
	turn := make(chan struct{})
	*queue = append(*queue, turn)
	w.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(*queue, turn); i >= 0 {
		*queue = slices.Delete(*queue, i, i+1)
	} else {
		w.calls-- // the turn came at the same moment
		w.admit()
	}
	return context.Cause(ctx)
}

func (w *window) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls--
	w.admit()
}

func (w *window) isShut() bool { return !w.shut.IsZero() && time.Now().Before(w.shut) }

// admit lets in who waits, as far as the window allows.
func (w *window) admit() {
	for w.calls < int(w.limit) {
		queue := &w.first
		if len(w.first) == 0 {
			queue = &w.queue
			if len(w.queue) == 0 || w.isShut() {
				return
			}
		}
		close((*queue)[0])
		*queue = (*queue)[1:]
		w.calls++
	}
}

// grow is told of a call that went well.
func (w *window) grow() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit = min(w.limit+1/w.limit, float64(w.most))
	w.admit()
	if w.busy && int(w.limit) == w.most && time.Since(w.halved) >= calm && time.Since(w.shut) >= calm {
		w.busy = false
		w.strain.over(w.addr)
	}
}

// shrink is told of a call, sent at the given time, that the server had no room
// for, and why. Of the calls that were under way together only the first halves the
// window, down to least.
func (w *window) shrink(sent time.Time, least int, why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if sent.Before(w.halved) {
		return
	}
	w.limit = min(w.limit, max(w.limit/2, float64(least)))
	w.halved = time.Now()
	w.mark(why)
}

// shutFor is told for how long the server wants no calls.
func (w *window) shutFor(d time.Duration, why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mark(why)
	until := time.Now().Add(d)
	if !until.After(w.shut) {
		return
	}
	w.shut = until
	if w.opener != nil {
		w.opener.Stop()
	}
	w.opener = time.AfterFunc(d, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.admit()
	})
}

// mark notes that the server is busy.
func (w *window) mark(why string) {
	if !w.busy {
		w.busy = true
		w.strain.began(w.addr, why)
	}
}

// close stops what a window does by itself.
func (w *window) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.opener != nil {
		w.opener.Stop()
	}
}
