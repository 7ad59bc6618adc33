package rpc

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"usertrail/internal/store/hbase/wire"
)

// A call is a request, with the place for its outcome.
type call struct {
	id      uint32
	method  string
	frame   *buffer
	bytes   []byte // the part of frame to send
	state   atomic.Int32
	outcome chan outcome // has room for the only outcome
}

// The states of a call: it is either written or withdrawn.
const (
	queued int32 = iota
	written
	withdrawn
)

// withdraw prevents the writer from sending the call. It returns false if the writer may have
// begun.
func (c *call) withdraw() bool { return c.state.CompareAndSwap(queued, withdrawn) }

// begin is the writer's side of withdraw.
func (c *call) begin() bool { return c.state.CompareAndSwap(queued, written) }

// An outcome is a frame or an error.
type outcome struct {
	frame *buffer
	err   error
}

// A Response is a response. Its bytes are valid until Release.
type Response struct {
	Param []byte // the message
	Cells []byte // the cell block
	frame *buffer
}

// Release returns the response's buffer to its pool. The caller must not use any slice of it
// afterwards. A second call does nothing.
func (r *Response) Release() {
	if r.frame != nil {
		r.frame.release()
		*r = Response{}
	}
}

// Call sends a request and waits for its response until ctx is done. It sends the time that ctx
// has left with the request, so that a busy server can skip requests that have timed out.
// Call encodes param, and cells if they are not nil, before it waits, and keeps no reference
// to them. Errors are a *ServerError or a *CallError. Without an error, the caller releases
// the response.
func (c *Conn) Call(ctx context.Context, method string, param, cells wire.Appender) (*Response, error) {
	call := &call{method: method, outcome: make(chan outcome, 1)}
	if ctx.Err() != nil {
		return nil, c.callError(call, cause(ctx))
	}
	if err := c.encode(ctx, call, param, cells); err != nil {
		return nil, c.callError(call, err)
	}
	select {
	case c.queue <- call:
	case <-ctx.Done():
	case <-c.done:
	}
	var out outcome
	select {
	case out = <-call.outcome:
	case <-ctx.Done():
		if c.forget(call) {
			return nil, c.callError(call, cause(ctx))
		}
		out = <-call.outcome
	}
	if out.err != nil {
		return nil, out.err
	}
	return c.decode(call, out.frame)
}

// decode returns the response in a frame.
func (c *Conn) decode(call *call, frame *buffer) (*Response, error) {
	var r wire.Response
	err := r.Decode(frame.b)
	switch {
	case err != nil:
		err = c.callError(call, err)
	case r.Exception != nil:
		err = r.Exception
	}
	if err != nil {
		frame.release()
		return nil, err
	}
	return &Response{Param: r.Param, Cells: r.Cells, frame: frame}, nil
}

// cause returns why ctx is done. It matches ctx.Err().
func cause(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
		return fmt.Errorf("%w: %w", ctx.Err(), cause)
	}
	return ctx.Err()
}

// headroom is the room that is left free before the parameter, in addition to the method's
// name: for three lengths and the header's other fields.
const headroom = 64

// encode builds the call's frame and registers the call. The header has the lengths of the
// parts after it, so it is written last, into the headroom.
func (c *Conn) encode(ctx context.Context, call *call, param, cells wire.Appender) error {
	frame := newBuffer(int(c.frameSize.Load()))
	room := headroom + len(call.method)
	b := append(frame.b[:0], make([]byte, room)...)
	b = param.Append(b)
	paramLen := len(b) - room
	if cells != nil {
		b = cells.Append(b)
	}
	frame.b = b
	c.frameSize.Store(int64(len(b)))
	if len(b) > math.MaxInt32 {
		return fmt.Errorf("request of %d bytes: the protocol's limit is %d", len(b), math.MaxInt32)
	}

	if err := c.register(call); err != nil {
		frame.release()
		return err
	}
	header := wire.RequestHeader{
		CallID:    call.id,
		Method:    call.method,
		CellBlock: len(b) - room - paramLen,
		TimeoutMS: timeout(ctx),
	}
	var scratch [2 * headroom]byte
	h := header.Append(scratch[:0])
	start := room - 4 - protowire.SizeBytes(len(h)) - protowire.SizeVarint(uint64(paramLen))
	head := binary.BigEndian.AppendUint32(b[:start], uint32(len(b)-start-4))
	head = protowire.AppendBytes(head, h)
	protowire.AppendVarint(head, uint64(paramLen))
	call.frame, call.bytes = frame, b[start:]
	return nil
}

// timeout returns the time that ctx has left, in ms; 0 is no limit.
func timeout(ctx context.Context) uint32 {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	return uint32(min(max(time.Until(deadline).Milliseconds(), 1), math.MaxInt32))
}
