package hbase

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestAWindowIsHalvedOnceForCallsThatWereUnderWayTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWindow(8)
		sent := time.Now()
		time.Sleep(time.Millisecond)
		w.shrink(sent)
		w.shrink(sent)
		if got := int(w.limit); got != 4 {
			t.Fatalf("after two answers of one moment: %d calls allowed, want 4", got)
		}
		time.Sleep(time.Millisecond)
		for range 9 {
			w.shrink(time.Now())
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
		w := newWindow(1)
		if err := w.enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		why := errors.New("enough")
		impatient, cancel := context.WithCancelCause(t.Context())
		var order []int
		outcome := make(chan error, 1)
		go func() { outcome <- w.enter(impatient) }()
		synctest.Wait()
		for i := range 3 {
			go func() {
				if err := w.enter(t.Context()); err != nil {
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
