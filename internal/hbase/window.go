package hbase

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A window bounds the calls in flight on one server. It grows by one when a whole
// window's worth of calls went well and is halved when the server says that it has
// too much to do (AIMD, as TCP's). Who waits is served in order.
type window struct {
	most int

	mu     sync.Mutex
	limit  float64
	calls  int
	queue  []chan struct{}
	halved time.Time
}

func newWindow(most int) *window {
	return &window{most: most, limit: float64(most)}
}

// enter waits for a place; leave gives it back.
func (w *window) enter(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	w.mu.Lock()
	if w.calls < int(w.limit) && len(w.queue) == 0 {
		w.calls++
		w.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	w.queue = append(w.queue, turn)
	w.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.queue, turn); i >= 0 {
		w.queue = slices.Delete(w.queue, i, i+1)
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

// admit lets in who waits, as far as the window allows.
func (w *window) admit() {
	for len(w.queue) > 0 && w.calls < int(w.limit) {
		close(w.queue[0])
		w.queue = w.queue[1:]
		w.calls++
	}
}

// grow is told of a call that went well.
func (w *window) grow() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit = min(w.limit+1/w.limit, float64(w.most))
	w.admit()
}

// shrink is told of a call, sent at the given time, that the server had no room
// for. Of the calls that were under way together only the first halves the window.
func (w *window) shrink(sent time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if sent.Before(w.halved) {
		return
	}
	w.limit = max(w.limit/2, 1)
	w.halved = time.Now()
}
