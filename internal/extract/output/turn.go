package output

import (
	"context"

	"usertrail/internal/run/pipe"
	"usertrail/internal/store/dfs"
)

// heldBytes is more than half of a usual part. So a worker has made half of its part when its turn
// comes, and workers do not wait for each other for long.
const heldBytes = 16 << 20

// A turn is the Sink of one of several workers of a stream. It writes one part after the other, each
// when all parts before it are written.
type turn struct {
	*Stream
	ctx  context.Context // Write has none
	part *Part
	has  bool   // all parts before it are written
	held []byte // of the part
}

// begin begins a part.
func (t *turn) begin(p *Part) { t.part, t.has, t.held = p, p.before == nil, t.held[:0] }

// Create implements Sink.
func (t *turn) Create(context.Context, string) (dfs.Pending, error) { return t, nil }

// Write implements dfs.Pending. It holds b until the part has its turn, or until heldBytes are held.
func (t *turn) Write(b []byte) (int, error) {
	if !t.has && len(t.held)+len(b) <= heldBytes {
		select {
		case <-t.part.before:
		default:
			t.held = append(t.held, b...)
			return len(b), nil
		}
	}
	if err := t.wait(); err != nil {
		return 0, err
	}
	return t.Stream.Write(b)
}

// wait waits for the turn of the part, and writes what is held.
func (t *turn) wait() error {
	if t.has {
		return nil
	}
	pipe.Receive(t.ctx, t.part.before)
	if err := context.Cause(t.ctx); err != nil {
		return err
	}
	t.has = true
	_, err := t.Stream.Write(t.held)
	return err
}

// Commit sends the rest of the part to the reader. Then the next part has its turn.
func (t *turn) Commit() error {
	if err := t.wait(); err != nil {
		return err
	}
	if err := t.Stream.Commit(); err != nil {
		return err
	}
	close(t.part.written)
	return nil
}
