package pipe_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"usertrail/internal/run/pipe"
)

func TestBothEndsGiveUpWithTheContext(t *testing.T) {
	why := errors.New("the reader has gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	ch := make(chan int, 1)
	if err := pipe.Send(ctx, ch, 7); err != nil {
		t.Fatal(err)
	}
	if v, ok := pipe.Receive(ctx, ch); !ok || v != 7 {
		t.Fatalf("received %d, %v; want 7", v, ok)
	}
	cancel(why)
	if err := pipe.Send(ctx, make(chan int), 8); !errors.Is(err, why) {
		t.Errorf("sent to nobody: %v; want %v", err, why)
	}
	if v, ok := pipe.Receive(ctx, ch); ok {
		t.Errorf("received %d from nobody", v)
	}
}

func TestAClosedChannelEndsReceive(t *testing.T) {
	ch := make(chan int)
	close(ch)
	if v, ok := pipe.Receive(t.Context(), ch); ok {
		t.Errorf("received %d from a closed channel", v)
	}
}

func TestSleepEndsWithTheContext(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if err := pipe.Sleep(ctx, time.Hour); !errors.Is(err, why) {
		t.Errorf("%v, want %v", err, why)
	}
	if err := pipe.Sleep(t.Context(), 0); err != nil {
		t.Error(err)
	}
}
