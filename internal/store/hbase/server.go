package hbase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"usertrail/internal/store/hbase/rpc"
	"usertrail/internal/store/hbase/wire"
)

// A server is one service of one server. It has a connection, which the first call
// opens, and the window of calls in flight.
type server struct {
	c         *Client
	addr      string
	service   wire.Service
	window    *window
	baselines [kinds]baseline

	mu       sync.Mutex
	conn     *rpc.Conn
	dialling chan struct{} // closed when the attempt is over; nil if there is none
	failures int           // connections without a response, in a row
	silent   bool          // the last connection ended in silence
	err      error         // of the last attempt
	next     time.Time     // no attempt begins before this time
}

// server returns the client's server for an address and a service.
func (c *Client) server(addr string, service wire.Service) *server {
	key := serverKey{addr, service}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.servers[key]
	if s == nil {
		s = &server{c: c, addr: addr, service: service, window: newWindow(addr, c.cfg.InFlight, &c.overload)}
		c.servers[key] = s
	}
	return s
}

type serverKey struct {
	addr    string
	service wire.Service
}

// connect returns the connection, or opens it. Callers that need it at the same time
// wait for one attempt. After a failed attempt there is a pause, in which connect
// returns the attempt's error at once.
func (s *server) connect(ctx context.Context) (*rpc.Conn, error) {
	for {
		s.mu.Lock()
		if s.conn != nil && s.conn.Err() == nil {
			defer s.mu.Unlock()
			return s.conn, nil
		}
		if s.err != nil && time.Now().Before(s.next) {
			defer s.mu.Unlock()
			return nil, s.err
		}
		if s.dialling == nil {
			s.dialling = make(chan struct{})
			s.c.wg.Go(s.dial)
		}
		over := s.dialling
		s.mu.Unlock()
		select {
		case <-over:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// dial makes one attempt. A server that was silent before must first respond to a probe,
// because a frozen server still accepts connections.
func (s *server) dial() {
	conn, err := s.c.dial(s.c.life, s.addr, s.service)
	if ended := context.Cause(s.c.life); err != nil && ended != nil {
		err = ended
	}
	s.mu.Lock()
	silent := s.silent
	s.mu.Unlock()
	if err == nil && silent {
		if err = s.probe(conn); err != nil {
			_ = conn.Close()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.dialling)
	s.dialling, s.err = nil, err
	if err != nil {
		s.failures++
		s.next = time.Now().Add(backoff(s.failures))
		return
	}
	s.conn, s.silent = conn, false
	s.c.wg.Go(func() { s.watch(conn) })
}

// dial connects to a server.
func (c *Client) dial(ctx context.Context, addr string, service wire.Service) (*rpc.Conn, error) {
	o := rpc.Options{DialTimeout: c.cfg.DialTimeout, Silence: c.cfg.CallTimeout, MaxFrame: c.cfg.MaxResponseBytes, Dial: c.cfg.Dial}
	user := c.cfg.User
	c.cfg.Security.apply(&o, c, addr, service)
	if o.Auth != nil {
		user = ""
	}
	conn, err := rpc.Dial(ctx, addr, service, user, o)
	if _, refused := errors.AsType[*rpc.ServerError](err); refused {
		c.cfg.Security.forget(addr, service)
	}
	return conn, err
}

// watch closes conn if the server is frozen, which shows only as silence. If calls
// wait and no bytes have arrived for a while, watch sends one cheap call. If that call
// has no response, watch closes conn.
func (s *server) watch(conn *rpc.Conn) {
	patience := s.c.cfg.CallTimeout / 4
	tick := time.NewTicker(patience / 2)
	defer tick.Stop()
	for {
		select {
		case <-s.c.life.Done():
			_ = conn.Close()
			return
		case <-conn.Done():
			return
		case <-tick.C:
		}
		if conn.Pending() == 0 || time.Since(conn.Heard()) < patience {
			continue
		}
		if err := s.probe(conn); err != nil && time.Since(conn.Heard()) >= patience {
			s.drop(conn, true)
			return
		}
	}
}

// probe gets a row of hbase:meta. A server that does not have hbase:meta responds with
// an exception, which is a response too. Requests for hbase:meta do not wait behind
// others.
func (s *server) probe(conn *rpc.Conn) error {
	ctx, cancel := context.WithTimeout(s.c.life, s.c.cfg.CallTimeout/4)
	defer cancel()
	method, param := "Get", wire.Appender(&wire.GetRequest{Region: []byte(wire.MetaRegion), Row: []byte("-"), Fields: probeFields})
	if s.service != wire.ClientService {
		method, param = "GetClusterStatus", wire.Raw(nil)
	}
	r, err := conn.Call(ctx, method, param, nil)
	if err == nil {
		r.Release()
		return nil
	}
	if _, ok := errors.AsType[*rpc.ServerError](err); ok {
		return nil
	}
	return fmt.Errorf("probe of a server that was silent: %w", err)
}

var probeFields = (&wire.Get{ExistenceOnly: true, CacheBlocks: true}).Fields()

// drop closes conn, so that the next call opens another connection.
func (s *server) drop(conn *rpc.Conn, silent bool) {
	s.mu.Lock()
	if s.conn == conn {
		s.conn, s.silent = nil, silent
	}
	s.mu.Unlock()
	_ = conn.Close()
}

// A request is one call to be made.
type request struct {
	method       string
	param, cells wire.Appender
	limit        time.Duration // for its response; 0 is CallTimeout
	first        bool          // other calls wait for this one, so it goes before them
}

// call makes one call when the window has a place for it. The timing has the time of this. The
// caller releases the response, and reports a success to the window.
func (s *server) call(ctx context.Context, q request) (*rpc.Response, timing, error) {
	r, f, err := s.callSent(ctx, q)
	if ended := context.Cause(ctx); err != nil && ended != nil {
		return nil, f, ended
	}
	return r, f, err
}

// callSent is like call, but its error reports whether the call was sent even after ctx
// has ended.
func (s *server) callSent(ctx context.Context, q request) (*rpc.Response, timing, error) {
	if err := s.window.enter(ctx, q.first); err != nil {
		return nil, timing{}, err
	}
	defer s.window.leave()
	f := timing{sent: time.Now()}
	r, err := s.ask(ctx, q)
	f.took = time.Since(f.sent)
	if err != nil && context.Cause(ctx) == nil {
		s.refused(f, err)
	}
	return r, f, err
}

// ask makes one call.
func (s *server) ask(ctx context.Context, q request) (*rpc.Response, error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, cmp.Or(q.limit, s.c.cfg.CallTimeout))
	defer cancel()
	s.c.calls.Add(1)
	r, err := conn.Call(within, q.method, q.param, q.cells)
	if err != nil {
		if context.Cause(ctx) == nil {
			s.failed(conn, err)
		}
		return nil, err
	}
	s.mu.Lock()
	s.failures = 0
	s.mu.Unlock()
	return r, nil
}

// refused adjusts the window after a call, or a part of a call, has failed.
func (s *server) refused(f timing, err error) {
	v := judge(err)
	switch {
	case v.throttled:
		s.window.shrink(f.sent, 1, v.name())
		s.window.shutFor(min(v.wait, s.c.cfg.OpTimeout), v.name())
	case v.remedy == ease:
		s.window.shrink(f.sent, 1, v.name())
	case errors.Is(err, context.DeadlineExceeded):
		s.window.shrink(f.sent, 1, "no response within "+f.took.Round(time.Millisecond).String())
	}
}

// failed drops the connection if err shows that it is broken or that the server stops.
func (s *server) failed(conn *rpc.Conn, err error) {
	if _, broken := errors.AsType[*rpc.ConnError](err); broken {
		s.mu.Lock()
		if s.conn == conn {
			s.conn = nil
			s.silent = errors.Is(err, rpc.ErrSilent)
			s.failures++
			s.err, s.next = err, time.Now().Add(backoff(s.failures)/4)
		}
		s.mu.Unlock()
		return
	}
	if judge(err).remedy == reconnect {
		s.drop(conn, false)
	}
}

// close closes the connection and the window. The client has ended.
func (s *server) close() {
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	s.window.close()
	if conn != nil {
		_ = conn.Close()
	}
}
