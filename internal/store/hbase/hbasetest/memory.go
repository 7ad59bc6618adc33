package hbasetest

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// A Listener accepts connections that are buffers in memory. A goroutine that waits for one
// is durably blocked, in the terms of package synctest. Time therefore passes at once in a
// bubble in which nothing else runs. Sockets do not allow this.
type Listener struct {
	addr  *net.TCPAddr
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// NewListener returns a Listener whose address is port on the loopback.
func NewListener(port int) *Listener {
	return &Listener{
		addr:  &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port},
		conns: make(chan net.Conn), done: make(chan struct{}),
	}
}

// Accept returns the next connection.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case nc := <-l.conns:
		return nc, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept. Connections that were accepted stay.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr returns the address, a *net.TCPAddr.
func (l *Listener) Addr() net.Addr { return l.addr }

// Dial connects to the Listener. After Close the connection is refused.
func (l *Listener) Dial(ctx context.Context, _ string) (net.Conn, error) {
	up, down := newStream(), newStream()
	client, server := &conn{in: down, out: up, addr: l.addr}, &conn{in: up, out: down, addr: l.addr}
	select {
	case <-l.done:
		return nil, refused(l.addr)
	default:
	}
	select {
	case l.conns <- server:
		return client, nil
	case <-l.done:
		return nil, refused(l.addr)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func refused(addr net.Addr) error {
	return &net.OpError{Op: "dial", Net: "tcp", Addr: addr, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}

// A conn is one end of a connection.
type conn struct {
	in, out *stream
	addr    net.Addr
}

// A stream holds the bytes of one direction that have been written and not read. It has no
// limit, so a writer never waits.
type stream struct {
	mu       sync.Mutex
	bytes    []byte
	ended    bool          // the writer has closed its end
	left     bool          // the reader has
	deadline time.Time     // deadline of the reader; zero is none
	changed  chan struct{} // has room for one value, which wakes the reader
}

func newStream() *stream { return &stream{changed: make(chan struct{}, 1)} }

// change changes the stream and wakes the reader.
func (s *stream) change(f func()) {
	s.mu.Lock()
	f()
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Read returns the bytes that were written before the other end was closed, and then io.EOF.
// Only one goroutine may call it at a time.
func (c *conn) Read(p []byte) (int, error) {
	for {
		n, wait, err := c.in.read(p)
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
		if wait == 0 {
			<-c.in.changed
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-c.in.changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// read reads the bytes in the stream. wait is how long the reader may wait for more; 0
// sets no limit.
func (s *stream) read(p []byte) (n int, wait time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left {
		return 0, 0, net.ErrClosed
	}
	if !s.deadline.IsZero() {
		if wait = time.Until(s.deadline); wait <= 0 {
			return 0, 0, os.ErrDeadlineExceeded
		}
	}
	n = copy(p, s.bytes)
	s.bytes = s.bytes[n:]
	if n == 0 && s.ended {
		return 0, 0, io.EOF
	}
	return n, wait, nil
}

// Write never waits. It fails if one of the ends is closed.
func (c *conn) Write(p []byte) (n int, err error) {
	c.out.change(func() {
		switch {
		case c.out.ended:
			err = net.ErrClosed
		case c.out.left:
			err = &net.OpError{Op: "write", Net: "tcp", Addr: c.addr, Err: os.NewSyscallError("write", syscall.EPIPE)}
		default:
			c.out.bytes = append(c.out.bytes, p...)
			n = len(p)
		}
	})
	return n, err
}

// Close closes both directions. The other end can still read the bytes that were written.
func (c *conn) Close() error {
	c.in.change(func() { c.in.left = true })
	c.out.change(func() { c.out.ended = true })
	return nil
}

func (c *conn) LocalAddr() net.Addr  { return c.addr }
func (c *conn) RemoteAddr() net.Addr { return c.addr }

func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.change(func() { c.in.deadline = t })
	return nil
}

// SetWriteDeadline does nothing: a write never waits.
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

func (c *conn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// newListener returns the listener of the next server.
func (c *Cluster) newListener() (net.Listener, error) {
	if !c.cfg.InMemory {
		return net.Listen("tcp", "127.0.0.1:0")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	l := NewListener(16000 + len(c.listeners))
	c.listeners[l.Addr().String()] = l
	return l, nil
}

// Dial connects to a server of the cluster, as hbase.Config.Dial does. With
// Config.InMemory there is no other way.
func (c *Cluster) Dial(ctx context.Context, addr string) (net.Conn, error) {
	nc, err := c.dial(ctx, addr)
	if err == nil {
		c.mu.Lock()
		c.dialed++
		c.mu.Unlock()
	}
	return nc, err
}

func (c *Cluster) dial(ctx context.Context, addr string) (net.Conn, error) {
	if !c.cfg.InMemory {
		return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	}
	c.mu.Lock()
	l := c.listeners[addr]
	c.mu.Unlock()
	if l == nil {
		return nil, fmt.Errorf("dial %s: no server of this cluster has been there", addr)
	}
	return l.Dial(ctx, addr)
}
