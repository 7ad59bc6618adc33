package output

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

// queue returns the turns of n parts of a stream that goes to out, each of another worker.
func queue(ctx context.Context, out *bytes.Buffer, n int) []*turn {
	s := &Stream{buffer: bufio.NewWriter(out)}
	k := &Cutter{}
	var turns []*turn
	for range n {
		t := &turn{Stream: s, ctx: ctx}
		t.begin(k.begin())
		k.part = nil
		turns = append(turns, t)
	}
	return turns
}

// TestPartsAreWrittenInTheirOrder makes three parts at once. The later parts end first.
func TestPartsAreWrittenInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		turns := queue(t.Context(), &out, 3)
		errs := make(chan error, len(turns))
		for i, text := range []string{"first", "second", "third"} {
			if _, err := turns[i].Write([]byte(text + " ")); err != nil {
				t.Fatal(err)
			}
		}
		for i := len(turns) - 1; i >= 0; i-- {
			if out.Len() > 0 {
				t.Errorf("%q is written before the first part ends", out.String())
			}
			go func() { errs <- turns[i].Commit() }()
			synctest.Wait()
		}
		for range turns {
			if err := <-errs; err != nil {
				t.Fatal(err)
			}
		}
		if out.String() != "first second third " {
			t.Errorf("the stream has %q", out.String())
		}
	})
}

// TestAPartHoldsLittleBeforeItsTurn writes a large part before its turn. The worker waits when it holds
// heldBytes.
func TestAPartHoldsLittleBeforeItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		turns := queue(t.Context(), &out, 2)
		first, second := turns[0], turns[1]
		if _, err := second.Write(bytes.Repeat([]byte("2"), heldBytes)); err != nil {
			t.Fatal(err)
		}
		more := make(chan error)
		go func() {
			_, err := second.Write([]byte("more"))
			more <- err
		}()
		synctest.Wait()
		select {
		case err := <-more:
			t.Fatalf("a part before its turn holds more than %d bytes: %v", heldBytes, err)
		default:
		}
		if _, err := first.Write([]byte("1")); err != nil {
			t.Fatal(err)
		}
		if err := first.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := <-more; err != nil {
			t.Fatal(err)
		}
		if _, err := second.Write([]byte("rest")); err != nil {
			t.Fatal(err)
		}
		if err := second.Commit(); err != nil {
			t.Fatal(err)
		}
		if want := "1" + strings.Repeat("2", heldBytes) + "morerest"; out.String() != want {
			t.Errorf("the stream has %d bytes, want %d: each part once, in order", out.Len(), len(want))
		}
	})
}

// TestNoPartWaitsForAStreamThatFailed ends the stream while a part waits for its turn.
func TestNoPartWaitsForAStreamThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := errors.New("the first part failed")
		ctx, cancel := context.WithCancelCause(t.Context())
		var out bytes.Buffer
		second := queue(ctx, &out, 2)[1]
		if _, err := second.Write([]byte("2")); err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() { done <- second.Commit() }()
		synctest.Wait()
		cancel(failed)
		if err := <-done; !errors.Is(err, failed) || out.Len() > 0 {
			t.Errorf("%v and %q, want the error of the first part, and nothing written", err, out.String())
		}
	})
}
