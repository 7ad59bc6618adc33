package hbase

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"usertrail/internal/store/hbase/rpc"
	"usertrail/internal/store/hbase/wire"
)

// A Client calls the servers of one cluster. Many goroutines may use it. It keeps one
// connection to each server and service.
type Client struct {
	cfg      Config
	registry Registry

	life context.Context // ends at Close
	end  context.CancelCauseFunc
	wg   sync.WaitGroup // of all goroutines

	calls    atomic.Int64
	came     atomic.Int64 // cells
	overload overload

	mu      sync.Mutex
	closed  bool
	ops     sync.WaitGroup // of the running operations
	servers map[serverKey]*server
	tables  map[string]*table
	meta    string // address of the server that has hbase:meta; empty if not known
	master  string // address of the active master; empty if not known
	id      string // of the cluster; empty if not known
}

// Dial checks cfg and that the cluster's registry responds. Close ends the client.
func Dial(ctx context.Context, cfg Config) (*Client, error) {
	cfg, err := cfg.resolve()
	if err != nil {
		return nil, err
	}
	c := &Client{cfg: cfg, servers: map[serverKey]*server{}, tables: map[string]*table{}}
	c.overload.log = cfg.Log
	c.life, c.end = context.WithCancelCause(context.Background())
	switch {
	case cfg.Registry != nil:
		c.registry = cfg.Registry
	case len(cfg.ZooKeeper) > 0:
		c.registry = &zooKeeper{servers: cfg.ZooKeeper, znode: cfg.Znode, timeout: cfg.DialTimeout, start: c.wg.Go}
	default:
		c.registry = &masters{c: c, addrs: cfg.Masters}
	}
	if _, err := c.metaServer(ctx); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("hbase: %w", err)
	}
	return c, nil
}

// Calls returns the number of calls that the client has made to servers.
func (c *Client) Calls() int64 { return c.calls.Load() }

// Came returns the number of cells that gets and scans have received.
func (c *Client) Came() int64 { return c.came.Load() }

// User returns the user name that the client sends to HBase.
func (c *Client) User() string { return c.cfg.User }

// Close makes running operations fail with ErrClosed. It returns when the client's goroutines
// have ended.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.end(ErrClosed)
	c.ops.Wait()
	c.mu.Lock()
	servers := c.servers
	c.servers = map[serverKey]*server{}
	c.mu.Unlock()
	for _, s := range servers {
		s.close()
	}
	c.wg.Wait()
	return nil
}

// begin returns a context for an operation. The context ends with the client. The
// caller must call done at the end of the operation.
func (c *Client) begin(ctx context.Context) (in context.Context, done func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, ErrClosed
	}
	c.ops.Add(1)
	in, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.life, func() { cancel(ErrClosed) })
	return in, func() {
		stop()
		cancel(nil)
		c.ops.Done()
	}, nil
}

// metaServer returns the server that has hbase:meta.
func (c *Client) metaServer(ctx context.Context) (*server, error) {
	addr, err := c.address(ctx, &c.meta, c.registry.Meta)
	if err != nil {
		return nil, err
	}
	return c.server(addr, wire.ClientService), nil
}

// masterServer returns the active master.
func (c *Client) masterServer(ctx context.Context) (*server, error) {
	addr, err := c.address(ctx, &c.master, c.registry.Master)
	if err != nil {
		return nil, err
	}
	return c.server(addr, wire.MasterService), nil
}

// address returns the last known address. If it is empty, address asks the registry and stores
// the reply.
func (c *Client) address(ctx context.Context, known *string, ask func(context.Context) (string, error)) (string, error) {
	c.mu.Lock()
	addr := *known
	c.mu.Unlock()
	if addr != "" {
		return addr, nil
	}
	addr, err := ask(ctx)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	*known = addr
	c.mu.Unlock()
	return addr, nil
}

// forget drops the known addresses, so that the next call asks the registry again.
func (c *Client) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.meta, c.master = "", ""
}

// callKnown calls a server that the registry knows until it responds or the budget
// is used up. use decodes the response before callKnown releases the response's buffer.
func (c *Client) callKnown(ctx context.Context, e *retryState, find func(context.Context) (*server, error),
	method string, param wire.Appender, use func(*rpc.Response) error) error {
	for {
		took, err := c.callOnce(ctx, e, find, method, param, use)
		if err == nil {
			return nil
		}
		if ended := context.Cause(ctx); ended != nil {
			return ended
		}
		v := judge(err)
		if v.remedy == relocate { // the region of hbase:meta is moving to another server
			v.remedy = pause
		}
		c.forget()
		if err := e.pauseAfter(ctx, c, took, v); err != nil {
			return err
		}
	}
}

func (c *Client) callOnce(ctx context.Context, e *retryState, find func(context.Context) (*server, error),
	method string, param wire.Appender, use func(*rpc.Response) error) (took time.Duration, err error) {
	began := time.Now()
	s, err := find(ctx)
	if err != nil {
		return time.Since(began), err
	}
	e.server = s.addr
	r, f, err := s.call(ctx, request{method: method, param: param, first: true})
	if err != nil {
		return f.took, err
	}
	s.window.grow()
	defer r.Release()
	return f.took, use(r)
}
