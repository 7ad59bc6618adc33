package rpc

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/store/secure/sasl"
)

// writeSize is the number of bytes of waiting calls that one write sends.
const writeSize = 256 << 10

// lastWords is the time for which the client still reads after a write has failed. A server
// that closes the connection often sends the reason.
const lastWords = time.Second

// write sends calls until the connection is closed or writing fails.
func (c *Conn) write() {
	var calls []*call
	for {
		select {
		case call := <-c.queue:
			calls = c.gather(append(calls[:0], call))
		case <-c.done:
			return
		}
		if err := c.send(calls); err != nil {
			c.writeFailed(err)
			return
		}
	}
}

// gather adds the calls that are already waiting, up to writeSize bytes.
func (c *Conn) gather(calls []*call) []*call {
	for size := len(calls[0].bytes); size < writeSize; {
		select {
		case call := <-c.queue:
			calls = append(calls, call)
			size += len(call.bytes)
		default:
			return calls
		}
	}
	return calls
}

// send writes the frames of the calls that have not been withdrawn.
func (c *Conn) send(calls []*call) error {
	frames := make(net.Buffers, 0, queueLen)
	for _, call := range calls {
		if call.begin() {
			frames = append(frames, call.bytes)
		}
	}
	err := c.put(frames)
	for i, call := range calls {
		call.frame.release()
		calls[i] = nil
	}
	return err
}

// writeFailed lets the reader end the connection shortly afterwards.
func (c *Conn) writeFailed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writeErr = err
	c.lastWord = time.Now().Add(lastWords)
	_ = c.net.SetReadDeadline(c.lastWord) // the reader gets the same error
}

// read delivers frames to their calls until reading fails, and then ends the connection.
func (c *Conn) read() {
	r := c.reader()
	for first := true; ; first = false {
		frame, err := c.readFrame(r)
		if err == nil {
			err = c.deliver(frame)
		}
		if err == nil {
			continue
		}
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("closed by the server: %w", err)
			if first {
				err = ErrRefused
			}
		}
		c.fail(err)
		return
	}
}

// reader returns the bytes of the server.
func (c *Conn) reader() io.Reader {
	raw := bufio.NewReaderSize((*stream)(c), 64<<10)
	if c.layer == nil {
		return raw
	}
	return sasl.NewReader(raw, c.layer, c.opts.MaxFrame+maxToken, func(length int) error {
		if length == refusal {
			return readRefusal(raw)
		}
		return nil
	})
}

// readFrame reads a frame without its length.
func (c *Conn) readFrame(r io.Reader) (*buffer, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	n := int(int32(binary.BigEndian.Uint32(length[:])))
	if n == refusal && c.opts.Auth != nil {
		return nil, readRefusal(r)
	}
	if n <= 0 || n > c.opts.MaxFrame {
		return nil, fmt.Errorf("response of %d bytes: must be 1 to %d; ask for less at once, or raise the limit", n, c.opts.MaxFrame)
	}
	frame := newBuffer(n)
	if _, err := io.ReadFull(r, frame.b); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("response of %d bytes: %w", n, err)
	}
	return frame, nil
}

// deliver passes a frame to its call. It drops a late response. It fails if the frame is about
// the connection.
func (c *Conn) deliver(frame *buffer) error {
	id, err := wire.CallID(frame.b)
	if err != nil {
		return err
	}
	if id == wire.ConnectionCallID {
		var r wire.Response
		if err := r.Decode(frame.b); err != nil {
			return err
		}
		if r.Exception != nil {
			return r.Exception
		}
		return fmt.Errorf("%w: a response to no call without an exception", wire.ErrMalformed)
	}
	call := c.take(id)
	if call == nil {
		frame.release()
		return nil
	}
	call.outcome <- outcome{frame: frame}
	return nil
}

// A stream is a Conn's input from the server. Its Read tracks the silence of the server.
type stream Conn

func (s *stream) Read(p []byte) (int, error) {
	c := (*Conn)(s)
	for {
		if err := c.setReadDeadline(); err != nil {
			return 0, err
		}
		n, err := c.net.Read(p)
		if n > 0 {
			c.hear()
			return n, nil
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return 0, err
		}
		if err := c.silent(); err != nil {
			return 0, err
		}
	}
}

// setReadDeadline sets the time of the next check for silence.
func (c *Conn) setReadDeadline() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	deadline := time.Now().Add(c.opts.Silence)
	switch {
	case c.writeErr != nil:
		deadline = c.lastWord
	case len(c.pending) > 0:
		deadline = c.quietUntil()
	}
	return c.net.SetReadDeadline(deadline)
}
