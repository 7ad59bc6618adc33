package faults_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"usertrail/internal/cell"
	"usertrail/internal/rowkey"
	"usertrail/internal/store/hbase"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// TestBothClientsContinueAfterAStall kills one of three RegionServers while our client and Java's
// client request the same rows of all regions. Both must continue, and each result must be
// complete. The test logs how long each client had no result.
func TestBothClientsContinueAfterAStall(t *testing.T) {
	testkit.OnlyAll(t, "TestFaults/RegionServer_killed")
	c := clustertest.Alone(t)
	h := newFixture(t, c, "files")
	h.load(t, "--to", span.From.String()).done(t)
	level(t, h)
	rows := playedRows(200)
	h.write(t, "rows", strings.Join(rows, "\n")+"\n")
	ready, stop := filepath.Join(h.dir, "ready"), filepath.Join(h.dir, "stop")

	said := make(chan string, 1)
	go func() {
		defer close(said)
		said <- c.Java(t, "../../../scripts/cluster.d/java/StallOfGets.java", h.table, filepath.Join(h.dir, "rows"), ready, stop)
	}()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	ours := askInALoop(ctx, t, h, rows)
	ours.until(t, "Java's client to warm up", func() bool { _, err := os.Stat(ready); return err == nil })
	c.Kill(t, other(t, c))
	resumed := time.Now()
	ours.until(t, "our client to go on", func() bool { return ours.asked.After(resumed) })
	h.write(t, "stop", "")
	var last string
	ours.until(t, "Java's client to go on", func() bool {
		select {
		case last = <-said: // "" if it failed
			return true
		default:
			return false
		}
	})

	var millis, responses int64
	if _, err := fmt.Sscan(last, &millis, &responses); err != nil {
		t.Fatal(err)
	}
	javas := time.Duration(millis) * time.Millisecond
	t.Logf("longest time between two responses: ours %s of %d, Java's %s of %d", ours.longest.Round(time.Millisecond), ours.responses, javas, responses)
	if responses == 0 {
		t.Error("Java's client had no response")
	}
}

// playedRows returns rows of the sample's first day.
func playedRows(n int) []string {
	rows := make([]string, n)
	for rank := range rows {
		rows[rank] = string(rowkey.Key{User: sample.User(rank), Date: span.From, Behaviour: 1}.Append(nil))
	}
	slices.Sort(rows)
	return rows
}

// A loop requests the same rows again and again.
type loop struct {
	timing chan [2]time.Time // the start and the end of each request
	err    error             // valid once timing is closed

	last, asked time.Time
	longest     time.Duration
	responses   int
}

// askInALoop makes requests until ctx ends.
func askInALoop(ctx context.Context, t *testing.T, h *fixture, rows []string) *loop {
	t.Helper()
	client, err := hbase.Dial(ctx, hbase.Config{ZooKeeper: []string{h.c.ZooKeeper()}})
	if err != nil {
		t.Fatal(err)
	}
	l := &loop{timing: make(chan [2]time.Time)}
	ctx, cancel := context.WithCancel(ctx)
	t.Cleanup(func() {
		cancel()
		for range l.timing {
		}
		_ = client.Close()
	})
	keys := make([][]byte, len(rows))
	for i, row := range rows {
		keys[i] = []byte(row)
	}
	go func() {
		defer close(l.timing)
		for want := 0; l.err == nil; {
			asked, found := time.Now(), 0
			l.err = client.Gets(ctx, h.table, slices.Values(keys), hbase.GetOptions{}, func(*cell.Cell) error { found++; return nil })
			if want == 0 {
				want = found
			}
			if l.err == nil && found != want {
				l.err = fmt.Errorf("%d cells, at first there were %d", found, want)
			}
			select {
			case l.timing <- [2]time.Time{asked, time.Now()}:
			case <-ctx.Done():
				l.err = context.Cause(ctx)
			}
		}
	}()
	return l
}

// until receives results until done returns true.
func (l *loop) until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for !done() {
		a, ok := <-l.timing
		if !ok {
			t.Fatalf("while it waited for %s: %v", what, l.err)
		}
		if l.asked = a[0]; !l.last.IsZero() {
			l.longest = max(l.longest, a[1].Sub(l.last))
		}
		l.last = a[1]
		l.responses++
	}
}
