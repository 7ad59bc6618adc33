package progress_test

import (
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"usertrail/internal/run/progress"
)

// task makes this process a task of Hadoop.
func task(t *testing.T) {
	t.Setenv("mapreduce_task_attempt_id", "attempt_1795327806903_0001_m_000000_0")
}

func TestHadoopHearsOfATaskEachSecond(t *testing.T) {
	task(t)
	synctest.Test(t, func(t *testing.T) {
		var out output
		p := progress.Start(progress.Config{Out: &out, Log: logTo(&out)})
		p.Step("loading", progress.Bytes, 4_000_000)
		records, odd := p.Counter("records"), p.Counter("a,b\nc")
		time.Sleep(late)
		p.Add(1_000_000)
		records.Add(10)
		odd.Add(1)
		time.Sleep(2 * time.Second) // nothing happens in the second second
		p.Add(3_000_000)
		records.Add(32)
		p.Step("moving in", "files", 2)
		p.Counter("records").Add(5) // another counter
		p.Add(2)
		p.Step("reading trails", progress.Events, 0)
		p.Add(7)
		p.Done()
		expect(t, "what Hadoop hears", out.String(),
			"reporter:status:loading: 0 B of 4.0 MB (0 B/s)",
			"reporter:counter:usertrail,bytes,1000000",
			"reporter:counter:usertrail,records,10",
			"reporter:counter:usertrail,a b c,1",
			"reporter:status:loading: 1.0 MB of 4.0 MB (1.0 MB/s), 3s left, 10 records, 1 a,b c",
			"reporter:status:loading: 1.0 MB of 4.0 MB (500 kB/s), 6s left, 10 records, 1 a,b c",
			"reporter:counter:usertrail,bytes,3000000",
			"reporter:counter:usertrail,records,32",
			"reporter:status:loading: 4.0 MB of 4.0 MB (1.6 MB/s), 42 records, 1 a,b c",
			"reporter:status:moving in: 0 of 2 files (0 files/s)",
			"reporter:counter:usertrail,files,2",
			"reporter:counter:usertrail,records,5",
			"reporter:status:moving in: 2 of 2 files (0 files/s), 5 records",
			"reporter:status:reading trails: 0 events (0 events/s)",
			"reporter:counter:usertrail,behaviours,7",
			"reporter:status:reading trails: 7 events (0 events/s)",
		)
	})
}

func TestAQuietTaskIsNotSilent(t *testing.T) {
	task(t)
	synctest.Test(t, func(t *testing.T) {
		var out output
		p := progress.Start(progress.Config{Out: &out, Quiet: true, Terminal: true})
		p.Step("loading", progress.Bytes, 0)
		time.Sleep(time.Minute + late)
		synctest.Wait()
		if got := strings.Count(out.String(), "reporter:status:loading: 0 B (0 B/s)\n"); got != 61 {
			t.Errorf("in a minute Hadoop heard of it %d times, want 61: %q", got, out.String())
		}
		p.Done()
	})
}

func TestWhatIsKnownAtTheEndIsCounted(t *testing.T) {
	var out output
	progress.Count(&out, "loaded", 7)
	if out.String() != "" {
		t.Errorf("outside of Hadoop it says %q", out.String())
	}
	task(t)
	progress.Count(&out, "loaded", 7)
	progress.Count(&out, "quarantined", 0)
	progress.Count(&out, "left, out", 1)
	expect(t, "what Hadoop hears", out.String(), "reporter:counter:usertrail,loaded,7", "reporter:counter:usertrail,left  out,1")
}

// TestHadoopsLinesAreWhole writes a log to the same writer at the same time.
func TestHadoopsLinesAreWhole(t *testing.T) {
	task(t)
	var out output
	log := logTo(&out)
	p := progress.Start(progress.Config{Out: &out})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				log.Warn("odd", "line", strings.Repeat("x", 300))
			}
		})
	}
	for range 200 {
		p.Step("loading", progress.Bytes, 0)
		p.Add(1)
		p.Counter("records").Add(3)
	}
	p.Done()
	wg.Wait()
	whole := regexp.MustCompile(`^(msg=odd line=x{300}|reporter:status:loading: [^:]*|reporter:counter:usertrail,(bytes,1|records,3))$`)
	counts := map[string]int{}
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSuffix(line, "\n")
		if !whole.MatchString(line) {
			t.Fatalf("a line is %q", line)
		}
		counts[line]++
	}
	if b, r := counts["reporter:counter:usertrail,bytes,1"], counts["reporter:counter:usertrail,records,3"]; b != 200 || r != 200 {
		t.Errorf("of 200 steps Hadoop counted %d with bytes and %d with records", b, r)
	}
}
