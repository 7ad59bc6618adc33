package hbase

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A window bounds the calls in flight on one server. It grows by one after a whole
// window's worth of successful calls, and it is halved when the server is too busy
// (AIMD, as in TCP). It is shut for as long as the server asks. Waiting calls enter in
// order, except that calls for which others wait go first.
type window struct {
	addr     string
	most     int
	overload *overload

	mu     sync.Mutex
	limit  float64
	calls  int
	first  []chan struct{} // calls that go before the queue
	queue  []chan struct{}
	halved time.Time
	shut   time.Time // until this time only calls of first enter
	opener *time.Timer
	busy   bool // from the first halving until calm
}

// calm is the time since the last halving and the last shutting after which a server
// with a whole window counts as not busy any more. The window needs this time because
// only its growth shows whether the server is still busy.
const calm = 30 * time.Second

func newWindow(addr string, most int, s *overload) *window {
	return &window{addr: addr, most: most, overload: s, limit: float64(most)}
}

// enter waits for a place in the window. A call with first enters before all others.
// leave releases the place.
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
		defer w.overload.waiting.Start()()
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

// admit lets waiting calls enter, as far as the window allows.
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

// grow records a successful call.
func (w *window) grow() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit = min(w.limit+1/w.limit, float64(w.most))
	w.admit()
	if w.busy && int(w.limit) == w.most && time.Since(w.halved) >= calm && time.Since(w.shut) >= calm {
		w.busy = false
		w.overload.over(w.addr)
	}
}

// shrink records a call, sent at the given time, for which the server had no room, and
// the reason why. If several calls were under way together, only the first one halves
// the window. The limit does not fall below least.
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

// shutFor shuts the window for the time in which the server wants no calls.
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

// mark records that the server is busy.
func (w *window) mark(why string) {
	if !w.busy {
		w.busy = true
		w.overload.began(w.addr, why)
	}
}

// close stops the timer that opens the window.
func (w *window) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.opener != nil {
		w.opener.Stop()
	}
}
