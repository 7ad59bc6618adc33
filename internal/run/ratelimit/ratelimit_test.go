package ratelimit_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"usertrail/internal/run/ratelimit"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]ratelimit.Limits{
		"gets=5000/s,puts=20000/s,bytes=50MiB/s": {Gets: 5000, Puts: 20000, Bytes: 50 << 20},
		"puts=1/s":                               {Puts: 1},
		" bytes = 512KiB/s , gets=7 ":            {Gets: 7, Bytes: 512 << 10},
		"bytes=1000":                             {Bytes: 1000},
	} {
		got, err := ratelimit.Parse(text)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
			continue
		}
		if again, err := ratelimit.Parse(got.String()); err != nil || again != want {
			t.Errorf("%q is written %q, which reads %+v, %v", text, got, again, err)
		}
	}
}

func TestWhatIsWrongWithLimitsIsNamed(t *testing.T) {
	for text, want := range map[string][]string{
		"":                        {`"" has no =`, ratelimit.Form},
		"5000":                    {`"5000" has no =`},
		"rows=5/s":                {`"rows" is none of gets, puts, bytes`},
		"gets=0/s":                {`gets: "0" is not a whole number from 1 on`},
		"gets=-3":                 {`gets: "-3"`},
		"puts=5k/s":               {`puts: "5k" is not a whole number`},
		"puts=5/m":                {"puts is bounded by the second, /s, not /m"},
		"bytes=many/s":            {`bytes: "many" is not a size`},
		"bytes=0/s":               {`bytes: "0"`},
		"gets=1,gets=2":           {"gets is there twice"},
		"gets=1,,puts=x,bytes=1T": {`"" has no =`, `puts: "x"`},
	} {
		l, err := ratelimit.Parse(text)
		if err == nil {
			t.Errorf("%q was read as %+v", text, l)
			continue
		}
		for _, part := range want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %v; want %q in it", text, err, part)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: the message has several lines:\n%v", text, err)
		}
	}
}

// TestNoMoreThanTheLimitIsTaken reserves large and small amounts in many goroutines. After each
// it checks that the elapsed time allows the sum.
func TestNoMoreThanTheLimitIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := ratelimit.Limits{Puts: 1000, Bytes: 10_000}
		p := ratelimit.New(limits)
		began := time.Now()
		time.Sleep(time.Hour) // unused amounts are not saved beyond the limit
		idle := time.Now()
		var mu sync.Mutex
		var sum ratelimit.Amount
		var all sync.WaitGroup
		for g := range 8 {
			all.Go(func() {
				for i := range 20 {
					a := ratelimit.Amount{Puts: int64(1 + g*i*3), Bytes: int64(1 + 20*((g+i)%8)), Gets: 1 << 40}
					if err := p.Wait(t.Context(), a); err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					sum.Puts += a.Puts
					sum.Bytes += a.Bytes
					passed := time.Since(idle) + time.Second/50
					if allowed := passed.Seconds() + 1e-3; float64(sum.Puts) > allowed*float64(limits.Puts) || float64(sum.Bytes) > allowed*float64(limits.Bytes) {
						t.Errorf("%+v taken %s after a rest, at %+v a second", sum, passed, limits)
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		if waited, worked := p.Waited(), time.Since(idle); waited <= 0 || waited > worked || time.Since(began) < worked {
			t.Errorf("waited for %s of %s", waited, worked)
		}
	})
}

func TestTheFirstSecondIsBoundedToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := ratelimit.New(ratelimit.Limits{Gets: 100})
		began := time.Now()
		if err := p.Wait(t.Context(), ratelimit.Amount{Gets: 350}); err != nil {
			t.Fatal(err)
		}
		if passed := time.Since(began); passed < 3500*time.Millisecond {
			t.Errorf("350 were there after %s, at 100 a second", passed)
		}
	})
}

func TestWhatIsOwedIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := ratelimit.New(ratelimit.Limits{Bytes: 1000})
		began := time.Now()
		p.Owe(ratelimit.Amount{Bytes: 5000})
		if passed := time.Since(began); passed > 0 {
			t.Fatalf("owing took %s", passed)
		}
		if err := p.Wait(t.Context(), ratelimit.Amount{}); err != nil {
			t.Fatal(err)
		}
		if passed := time.Since(began); passed < 5*time.Second {
			t.Errorf("5000 bytes were paid for in %s, at 1000 a second", passed)
		}
	})
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		p := ratelimit.New(ratelimit.Limits{Gets: 1})
		outcome := make(chan error, 1)
		go func() { outcome <- p.Wait(ctx, ratelimit.Amount{Gets: 1000}) }()
		synctest.Wait()
		cancel(why)
		if err := <-outcome; !errors.Is(err, why) {
			t.Errorf("%v, want %v", err, why)
		}
	})
}

func TestWithoutLimitsNothingWaits(t *testing.T) {
	p := ratelimit.New(ratelimit.Limits{})
	if p != nil {
		t.Fatal("there is a Limiter without limits")
	}
	p.Owe(ratelimit.Amount{Bytes: 1 << 60})
	if err := p.Wait(t.Context(), ratelimit.Amount{Gets: 1 << 60}); err != nil {
		t.Error(err)
	}
	if p.Waited() != 0 || p.Share() != (ratelimit.Limits{}) {
		t.Errorf("waited %s, share %+v", p.Waited(), p.Share())
	}
}

func TestTimeOfManyIsCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s ratelimit.Stopwatch
		var all sync.WaitGroup
		for i := range 3 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Second)
				defer s.Start()()
				time.Sleep(2 * time.Second)
			})
		}
		time.Sleep(3500 * time.Millisecond)
		if got := s.Elapsed(); got != 3500*time.Millisecond {
			t.Errorf("while it runs: %s, want 3.5s", got)
		}
		all.Wait()
		time.Sleep(time.Minute)
		if got := s.Elapsed(); got != 4*time.Second {
			t.Errorf("at the end: %s, want 4s", got)
		}
	})
}
