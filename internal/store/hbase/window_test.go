package hbase

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAWindowIsHalvedOnceForCallsThatWereUnderWayTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestWindow(8)
		sent := time.Now()
		time.Sleep(time.Millisecond)
		w.shrink(sent, 1, "x")
		w.shrink(sent, 1, "x")
		if got := int(w.limit); got != 4 {
			t.Fatalf("after two responses of one moment: %d calls allowed, want 4", got)
		}
		time.Sleep(time.Millisecond)
		for range 9 {
			w.shrink(time.Now(), 1, "x")
		}
		if got := int(w.limit); got != 1 {
			t.Fatalf("after many: %d calls allowed, want 1", got)
		}
		for range 100 {
			w.grow()
		}
		if got := int(w.limit); got != 8 {
			t.Errorf("after 100 good calls: %d calls allowed, want all 8 again", got)
		}
	})
}

func TestAWindowServesInOrderAndGivesUpWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestWindow(1)
		if err := w.enter(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		why := errors.New("enough")
		impatient, cancel := context.WithCancelCause(t.Context())
		var order []int
		outcome := make(chan error, 1)
		go func() { outcome <- w.enter(impatient, false) }()
		synctest.Wait()
		for i := range 3 {
			go func() {
				if err := w.enter(t.Context(), false); err != nil {
					t.Error(err)
				}
				order = append(order, i)
				w.leave()
			}()
			synctest.Wait()
		}
		cancel(why)
		synctest.Wait()
		if err := <-outcome; !errors.Is(err, why) {
			t.Errorf("the impatient got %v, want %v", err, why)
		}
		if len(order) != 0 {
			t.Errorf("%v got in beside the first", order)
		}
		w.leave()
		synctest.Wait()
		if len(order) != 3 || order[0] != 0 || order[1] != 1 || order[2] != 2 {
			t.Errorf("served %v, want 0, 1, 2", order)
		}
		if w.calls != 0 {
			t.Errorf("%d places are still taken", w.calls)
		}
	})
}

func TestAWindowIsShutForAsLongAsTheServerSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestWindow(2)
		defer w.close()
		began := time.Now()
		w.shutFor(10*time.Second, "x")
		w.shutFor(time.Second, "x") // the longer holds
		var in time.Duration
		go func() {
			if err := w.enter(t.Context(), false); err != nil {
				t.Error(err)
			}
			in = time.Since(began)
		}()
		synctest.Wait()
		if err := w.enter(t.Context(), true); err != nil || time.Since(began) > 0 {
			t.Fatalf("who goes first was let in after %s: %v", time.Since(began), err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if in != 10*time.Second {
			t.Errorf("the other was let in after %s, want 10s", in)
		}
		if got := w.overload.waiting.Elapsed(); got != 10*time.Second {
			t.Errorf("%s are counted as waited for, want 10s", got)
		}
	})
}

func TestWhomOthersWaitForIsServedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestWindow(1)
		if err := w.enter(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		var order []string
		for _, who := range []string{"one", "two", "first"} {
			go func() {
				if err := w.enter(t.Context(), who == "first"); err != nil {
					t.Error(err)
				}
				order = append(order, who)
				w.leave()
			}()
			synctest.Wait()
		}
		w.leave()
		synctest.Wait()
		if got := strings.Join(order, " "); got != "first one two" {
			t.Errorf("served %s", got)
		}
	})
}

// TestBusyIsSaidOnceAndWhenItIsOver shrinks and grows a window many times. This is one busy
// time: the log has one line for its begin and one for its end.
func TestBusyIsSaidOnceAndWhenItIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestWindow(6)
		var said strings.Builder
		w.overload.log = slog.New(slog.NewTextHandler(&said, nil))
		for range 20 {
			w.shrink(time.Now(), 1, "RegionTooBusyException")
			for range 50 {
				time.Sleep(20 * time.Millisecond)
				w.grow()
			}
		}
		if n := strings.Count(said.String(), "\n"); n != 1 || !strings.Contains(said.String(), "server=rs:1") || !strings.Contains(said.String(), "why=RegionTooBusyException") {
			t.Errorf("while it was busy:\n%s", said.String())
		}
		time.Sleep(calm)
		w.grow()
		w.grow()
		if n := strings.Count(said.String(), "not busy any more"); n != 1 {
			t.Errorf("said %d times that it is over, want once:\n%s", n, said.String())
		}
		w.shrink(time.Now(), 1, "again")
		if got := w.overload.times.Load(); got != 2 {
			t.Errorf("%d times busy, want 2", got)
		}
	})
}

func TestBackoffIsBounded(t *testing.T) {
	for n := range 200 {
		for range 50 {
			if d := backoff(n); d <= 0 || d > maxBackoff+time.Millisecond {
				t.Fatalf("before attempt %d: %s", n, d)
			}
		}
	}
	for range 50 {
		if d := backoff(1); d > minBackoff+time.Millisecond {
			t.Fatalf("the first pause is %s, over %s", d, minBackoff)
		}
	}
}

// newTestWindow returns the window of a server that does not exist.
func newTestWindow(most int) *window {
	return newWindow("rs:1", most, &overload{log: slog.New(slog.DiscardHandler)})
}
