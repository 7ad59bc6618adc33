package rpc

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/store/secure/sasl"
)

// Options configure a connection. The zero Options are the defaults.
type Options struct {
	DialTimeout time.Duration // limit of connecting; 10 s
	Silence     time.Duration // the connection is closed if nothing arrives for this time while calls wait; 60 s
	MaxFrame    int           // bytes of the largest response; 256 MiB

	Dial func(ctx context.Context, addr string) (net.Conn, error) // replaces the dialing of TCP; nil is TCP

	TLS  *tls.Config                             // the server's certificate must be for the host of its address; nil is no TLS
	Auth func(ctx context.Context) (Auth, error) // makes the exchange with the server; nil is simple authentication
}

func (o Options) withDefaults() Options {
	if o.DialTimeout <= 0 {
		o.DialTimeout = 10 * time.Second
	}
	if o.Silence <= 0 {
		o.Silence = time.Minute
	}
	if o.MaxFrame <= 0 {
		o.MaxFrame = 256 << 20
	}
	return o
}

// A Conn is a connection. Many goroutines may use it.
type Conn struct {
	addr       string
	net        net.Conn
	layer      sasl.Layer              // of the bytes on net; may be nil
	protection sasl.Protection         // 0 without an exchange
	put        func(net.Buffers) error // writes frames to net
	opts       Options

	queue chan *call    // calls that wait for the writer
	done  chan struct{} // closed when err is set
	ended sync.WaitGroup

	began     time.Time
	heard     atomic.Int64 // when bytes last arrived, in ns after began, so that setting the clock does not change it
	frameSize atomic.Int64 // of the last request; a guess for the next one

	mu       sync.Mutex
	pending  map[uint32]*call
	since    time.Time // when pending was last empty
	nextID   uint32
	writeErr error     // the error that ended the writer
	lastWord time.Time // until when the client still reads after writeErr
	err      error     // a *ConnError
}

// queueLen is the number of calls that may wait for the writer. The writer sends them in one
// system call. Further callers block until the writer has sent some.
const queueLen = 32

// Dial connects to addr, host:port, as user. If Options.Auth is set, user must be empty. Its errors
// are *DialError.
func Dial(ctx context.Context, addr string, service wire.Service, user string, o Options) (*Conn, error) {
	o = o.withDefaults()
	nc, err := o.dial(ctx, addr)
	if err != nil {
		return nil, &DialError{Addr: addr, Err: err}
	}
	c, err := start(ctx, nc, addr, service, user, o)
	if err != nil {
		nc.Close()
		return nil, &DialError{Addr: addr, Err: err}
	}
	return c, nil
}

// dial makes the connection to addr.
func (o Options) dial(ctx context.Context, addr string) (net.Conn, error) {
	if o.Dial == nil {
		return (&net.Dialer{Timeout: o.DialTimeout}).DialContext(ctx, "tcp", addr)
	}
	ctx, cancel := context.WithTimeout(ctx, o.DialTimeout)
	defer cancel()
	return o.Dial(ctx, addr)
}

// start secures nc, sends the header of the connection, and starts the connection's goroutines.
func start(ctx context.Context, nc net.Conn, addr string, service wire.Service, user string, o Options) (*Conn, error) {
	nc, mechanism, err := o.secure(ctx, nc, addr)
	if err != nil {
		return nil, err
	}
	if err := nc.SetWriteDeadline(time.Now().Add(o.DialTimeout)); err != nil {
		return nil, err
	}
	var first []byte
	if o.Auth == nil {
		first = wire.AppendMagic(first, wire.Simple)
	}
	first = wire.AppendHeader(first, service, user)
	c := &Conn{
		addr:    addr,
		began:   time.Now(),
		net:     nc,
		opts:    o,
		queue:   make(chan *call, queueLen),
		done:    make(chan struct{}),
		pending: map[uint32]*call{},
	}
	if mechanism != nil {
		c.layer, c.protection = mechanism.Layer(), mechanism.Protection()
	}
	c.put = c.writer()
	if err := c.put(net.Buffers{first}); err != nil {
		return nil, err
	}
	if err := nc.SetWriteDeadline(time.Time{}); err != nil {
		return nil, err
	}
	c.hear()
	c.ended.Go(c.read)
	c.ended.Go(c.write)
	return c, nil
}

// Protection returns how the connection is protected, such as "TLS 1.3, privacy" or "none".
func (c *Conn) Protection() string {
	var all []string
	if t, ok := c.net.(*tls.Conn); ok {
		all = append(all, tls.VersionName(t.ConnectionState().Version))
	}
	if c.protection != 0 {
		all = append(all, c.protection.String())
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

// Addr returns the address that was passed to Dial.
func (c *Conn) Addr() string { return c.addr }

// Heard returns the time at which bytes last arrived from the server. If none have arrived, it
// returns the time at which the connection began.
func (c *Conn) Heard() time.Time { return c.began.Add(time.Duration(c.heard.Load())) }

// hear records that bytes have arrived from the server.
func (c *Conn) hear() { c.heard.Store(int64(time.Since(c.began))) }

// Pending returns the number of calls that wait for a response.
func (c *Conn) Pending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending)
}

// Done returns a channel that is closed with the connection. After that, Err returns the
// cause.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns why the connection is closed, a *ConnError. It returns nil while the connection
// is open.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close fails all calls that wait, with ErrClosed, and returns when the
// connection's goroutines have ended.
func (c *Conn) Close() error {
	c.fail(ErrClosed)
	c.ended.Wait()
	return nil
}

// fail ends the connection. The first cause counts.
func (c *Conn) fail(cause error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = &ConnError{Addr: c.addr, Err: cause}
	orphans := c.pending
	c.pending = nil
	close(c.done)
	c.mu.Unlock()

	c.net.Close()
	for _, call := range orphans {
		call.outcome <- outcome{err: c.callError(call, c.err)}
	}
}

// register sets the ID of the call, and adds the call to pending.
func (c *Conn) register(call *call) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	for c.nextID == wire.ConnectionCallID || c.pending[c.nextID] != nil {
		c.nextID++
	}
	call.id = c.nextID
	c.nextID++
	if len(c.pending) == 0 {
		c.since = time.Now()
	}
	c.pending[call.id] = call
	return nil
}

// forget removes the call from pending. It returns false if an outcome is already being
// delivered.
func (c *Conn) forget(call *call) bool {
	return c.take(call.id) == call
}

// take removes the call with an ID from pending and returns it, or nil if there is none. The
// caller must deliver the outcome to the call.
func (c *Conn) take(id uint32) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.pending[id]
	delete(c.pending, id)
	return call
}

// callError returns the error for a call that gets no response. If the call is not sent yet,
// callError ensures that it is never sent.
func (c *Conn) callError(call *call, err error) error {
	return &CallError{Method: call.method, Addr: c.addr, Sent: !call.withdraw(), Err: err}
}

// silent is called when a read has timed out. It returns an error, or nil to wait longer.
func (c *Conn) silent() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.writeErr != nil {
		return c.writeErr
	}
	if len(c.pending) == 0 || time.Now().Before(c.quietUntil()) {
		return nil
	}
	return fmt.Errorf("%w for %s while %d calls waited", ErrSilent, c.opts.Silence, len(c.pending))
}

// quietUntil returns the time until which the server may be silent while calls wait.
func (c *Conn) quietUntil() time.Time {
	last := c.since
	if heard := c.Heard(); heard.After(last) {
		last = heard
	}
	return last.Add(c.opts.Silence)
}
