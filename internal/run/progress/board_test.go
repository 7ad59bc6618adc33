package progress_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"usertrail/internal/run/progress"
)

func TestBoardShowsWhatWorkersAreAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		board := new(progress.Board)
		expect(t, "before", strings.Join(board.Lines(), "\n"), "nothing is under way that can be measured")
		p := progress.Start(progress.Config{Board: board, Quiet: true})
		p.Step("loading", progress.Bytes, 200)
		p.Add(100)
		reader, writer := p.Worker("reading"), p.Worker("writing")
		reader.At("%s, of %d bytes", "play.csv", 200)
		time.Sleep(2 * time.Second)
		writer.At("region %d", 3)
		time.Sleep(time.Second)
		var out strings.Builder
		if _, err := board.WriteTo(&out); err != nil {
			t.Fatal(err)
		}
		expect(t, "in the middle", out.String(),
			"loading: 100 B of 200 B in 3s (33 B/s)",
			"  reading  play.csv, of 200 bytes, for 3s",
			"  writing  region 3, for 1s",
		)
		reader.End()
		expect(t, "without the reader", strings.Join(board.Lines()[1:], "\n"), "  writing  region 3, for 1s")
		p.Done()
		expect(t, "at the end", strings.Join(board.Lines(), "\n"), "nothing is under way that can be measured")
	})
}

func TestBoardIsReadWhileWorkersWork(t *testing.T) {
	board := new(progress.Board)
	p := progress.Start(progress.Config{Board: board})
	defer p.Done()
	p.Step("working", "parts", 0)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			w := p.Worker("part")
			defer w.End()
			for n := range 1000 {
				w.At("number %d", n)
			}
		})
	}
	for range 100 {
		for _, line := range board.Lines()[1:] {
			if !strings.HasPrefix(line, "  part ") {
				t.Fatalf("the board has the line %q", line)
			}
		}
	}
	wg.Wait()
	if n := len(board.Lines()); n != 1 {
		t.Errorf("%d lines are left, want the line of the step: %q", n, board.Lines())
	}
}

func TestWithoutABoardWorkersAreNobody(t *testing.T) {
	p := progress.Start(progress.Config{})
	defer p.Done()
	w := p.Worker("reading")
	w.At("file %d", 1)
	w.End()
	if w != nil {
		t.Error("a worker is written down where nobody reads it")
	}
}
