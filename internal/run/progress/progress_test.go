package progress_test

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"usertrail/internal/run/progress"
)

// output is a writer that can be read at the same time.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// logTo returns a log without times, which do not matter here.
func logTo(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}

func expect(t *testing.T, what string, got string, want ...string) {
	t.Helper()
	if w := strings.Join(want, "\n"); strings.TrimRight(got, "\n") != w {
		t.Errorf("%s:\n%s\nwant:\n%s", what, got, w)
	}
}

// late is the delay after a whole second at which the tests act, so that they never coincide
// with a tick.
const late = 500 * time.Millisecond

func TestLinesNowAndThenAndAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out output
		p := progress.Start(progress.Config{Log: logTo(&out)})
		p.Step("reading logs", progress.Bytes, 1_500_000_000)
		records, rejects := p.Counter("records"), p.Counter("rejects")
		time.Sleep(late)
		for range 15 {
			p.Add(100_000_000)
			records.Add(1000)
			time.Sleep(time.Second)
		}
		rejects.Add(3)
		p.Step("writing regions", "regions", 4)
		time.Sleep(late)
		for range 4 {
			time.Sleep(6 * time.Second)
			p.Add(1)
		}
		p.Done()
		expect(t, "the log", out.String(),
			`msg="reading logs" bytes="1.0 GB" of="1.5 GB" rate="100 MB/s" left=5s records=10000 rejects=0`,
			`msg="reading logs" bytes="1.5 GB" rate="97 MB/s" took=15.5s records=15000 rejects=3`,
			`msg="writing regions" regions=1 of=4 rate="6 regions/min" left=30s`,
			`msg="writing regions" regions=3 of=4 rate="9 regions/min" left=7s`,
			`msg="writing regions" regions=4 rate="9.8 regions/min" took=24.5s`,
		)
	})
}

func TestFirstLineIsNotBeforeItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out output
		p := progress.Start(progress.Config{Log: logTo(&out), Every: time.Minute})
		defer p.Done()
		time.Sleep(30 * time.Second)
		p.Step("reading", progress.Bytes, 0)
		time.Sleep(59 * time.Second) // a minute since Start, but not since the step began
		synctest.Wait()
		if out.String() != "" {
			t.Errorf("said %q before a minute was over", out.String())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		expect(t, "after a minute", out.String(), `msg=reading bytes="0 B" rate="0 B/s"`)
	})
}

func TestUnknownAndGrowingTotals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out output
		p := progress.Start(progress.Config{Log: logTo(&out)})
		p.Step("listing", "files", 0)
		p.Add(5000)
		time.Sleep(10*time.Second + time.Millisecond)
		p.Grow(20_000)
		time.Sleep(10 * time.Second)
		p.Grow(10_000)
		p.Add(15_000)
		p.Done()
		expect(t, "the log", out.String(),
			`msg=listing files=5,000 rate="500 files/s"`,
			`msg=listing files=5,000 of=20,000 rate="250 files/s" left=1m0s`,
			`msg=listing files=20,000 of=30,000 rate="999 files/s" took=20s`,
		)
	})
}

func TestBar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out output
		p := progress.Start(progress.Config{Out: &out, Terminal: true, Log: logTo(&out)})
		p.Step("reading logs", progress.Bytes, 1_000_000_000)
		p.Counter("records").Add(1234)
		for range 5 {
			p.Add(100_000_000)
			time.Sleep(time.Second + late/5)
		}
		synctest.Wait()
		drawn := strings.Split(out.String(), "\r")
		last := drawn[len(drawn)-1]
		for _, want := range []string{"reading logs, 1,234 records", "50%", "█", "500 MB/1.0 GB", "MB/s", "[5s:"} {
			if !strings.Contains(last, want) {
				t.Errorf("the bar is %q, without %q", last, want)
			}
		}
		if strings.Contains(out.String(), "\n") {
			t.Errorf("the bar has more than its line: %q", out.String())
		}
		p.Done()
		_, after, _ := strings.Cut(out.String(), last)
		expect(t, "what is left of the bar", strings.TrimLeft(after, "\x1b[2K\r"),
			"reading logs: 500 MB of 1.0 GB in 5.5s (91 MB/s), 1,234 records")
	})
}

func TestLogAboveABar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out output
		p := progress.Start(progress.Config{Out: &out, Terminal: true})
		p.Step("reading logs", progress.Bytes, 100)
		time.Sleep(time.Second + late/5)
		synctest.Wait()
		const line = "level=WARN msg=odd\n"
		if n, err := io.WriteString(progress.Above(&out), line); n != len(line) || err != nil {
			t.Errorf("wrote %d, %v; want %d", n, err, len(line))
		}
		if !strings.HasSuffix(out.String(), "\r\x1b[K"+line) {
			t.Errorf("the line and the bar share a line in %q", out.String())
		}
		p.Done()
	})
}

// TestBarOutlivesItsTotal reaches the known total and then grows it. At its total, a bar of
// the library would end.
func TestBarOutlivesItsTotal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out output
		p := progress.Start(progress.Config{Out: &out, Terminal: true})
		p.Step("fetching", "parts", 0)
		second := func() string {
			before := len(out.String())
			time.Sleep(time.Second + late)
			synctest.Wait()
			return out.String()[before:]
		}
		p.Add(10)
		if s := second(); !strings.Contains(s, "10/-") {
			t.Errorf("without a total the bar is %q", s)
		}
		p.Grow(20)
		p.Add(10)
		if s := second(); !strings.Contains(s, "19/20") {
			t.Errorf("at its total the bar is %q", s)
		}
		p.Grow(20)
		p.Add(1)
		if s := second(); !strings.Contains(s, "21/40") || !strings.Contains(s, "52%") {
			t.Errorf("with a larger total the bar is %q", s)
		}
		p.Done()
		if s := out.String(); !strings.HasSuffix(s, "fetching: 21 of 40 parts in 4.5s (4.67 parts/s)\n") {
			t.Errorf("at last the terminal shows %q", s[max(0, len(s)-100):])
		}
	})
}

func TestShortStepsAreReportedOnce(t *testing.T) {
	for name, cfg := range map[string]progress.Config{"log": {}, "terminal": {Terminal: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out output
				cfg.Out, cfg.Log = &out, logTo(&out)
				p := progress.Start(cfg)
				p.Step("committing", "files", 1)
				p.Add(1)
				p.Done()
				p.Done()
				if got := strings.Count(out.String(), "committing"); got != 1 {
					t.Errorf("reported %d times, want once: %q", got, out.String())
				}
			})
		})
	}
}

func TestQuiet(t *testing.T) {
	for name, cfg := range map[string]progress.Config{
		"quiet terminal": {Quiet: true, Terminal: true},
		"quiet log":      {Quiet: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out output
				cfg.Out, cfg.Log = &out, logTo(&out)
				p := progress.Start(cfg)
				p.Step("reading", progress.Bytes, 10)
				p.Counter("records").Add(7)
				time.Sleep(time.Minute)
				if n := p.Counter("records").Value(); n != 7 {
					t.Errorf("counted %d, want 7", n)
				}
				p.Done()
				if out.String() != "" {
					t.Errorf("said %q", out.String())
				}
			})
		})
	}
}

func TestNothingToSpeakTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := progress.Start(progress.Config{})
		p.Add(1) // before any step
		p.Grow(1)
		p.Counter("early").Add(1)
		p.Step("reading", progress.Bytes, 10)
		time.Sleep(time.Minute)
		p.Done()
		p.Add(1) // and after the last
		if n := p.Counter("late").Value(); n != 0 {
			t.Errorf("a counter of no step counted %d", n)
		}
	})
}

func TestNilSaysAndCountsNothing(t *testing.T) {
	var p *progress.Progress
	p.Step("reading", progress.Bytes, 10)
	p.Add(1)
	p.Grow(1)
	c := p.Counter("records")
	c.Add(1)
	if c.Value() != 0 {
		t.Errorf("counted %d", c.Value())
	}
	p.Done()
}

func TestManyWorkersAddUp(t *testing.T) {
	var out output
	p := progress.Start(progress.Config{Log: logTo(&out), Every: time.Millisecond})
	p.Step("working", "parts", 8000)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				p.Add(1)
				p.Counter("things").Add(2)
			}
		})
	}
	wg.Wait()
	if n := p.Counter("things").Value(); n != 16_000 {
		t.Errorf("counted %d, want 16000", n)
	}
	p.Done()
	if s := out.String(); !strings.Contains(s, "parts=8,000") || !strings.HasSuffix(s, "things=16000\n") {
		t.Errorf("the last report is %q", s[max(0, len(s)-200):])
	}
}

func BenchmarkAdd(b *testing.B) {
	p := progress.Start(progress.Config{})
	defer p.Done()
	p.Step("working", progress.Bytes, 0)
	c := p.Counter("records")
	for b.Loop() {
		p.Add(150)
		c.Add(1)
	}
}
