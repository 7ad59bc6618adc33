package hbase

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"usertrail/internal/run/pipe"
	"usertrail/internal/store/hbase/wire"
)

// A Registry returns the host:port of two servers: the server that has hbase:meta and
// the active master. The client finds all other servers through these two. An error
// that satisfies ErrUnavailable may pass.
type Registry interface {
	Meta(ctx context.Context) (string, error)
	Master(ctx context.Context) (string, error)
}

// An identifier is a Registry that knows the cluster's ID, which no other cluster has.
// An empty ID means that the ID is not known.
type identifier interface {
	ClusterID(ctx context.Context) (string, error)
}

// ClusterID returns the ID that the cluster created when it first started. It is empty
// if the registry does not know it.
func (c *Client) ClusterID(ctx context.Context) (string, error) {
	r, ok := c.registry.(identifier)
	if !ok {
		return "", nil
	}
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	id, err := r.ClusterID(ctx)
	if err != nil {
		return "", fmt.Errorf("hbase: ID of the cluster: %w", err)
	}
	return id, nil
}

// knownID returns the ID of the cluster. It asks the registry only once.
func (c *Client) knownID(ctx context.Context, r identifier) (string, error) {
	c.mu.Lock()
	id := c.id
	c.mu.Unlock()
	if id != "" {
		return id, nil
	}
	id, err := r.ClusterID(ctx)
	c.mu.Lock()
	c.id = id
	c.mu.Unlock()
	return id, err
}

// zooKeeper is the registry in ZooKeeper. The client asks it rarely. Therefore it
// connects for each request and keeps no session in between.
type zooKeeper struct {
	servers []string
	znode   string
	timeout time.Duration
	start   func(func()) // starts a goroutine, which may outlive a request
}

func (z *zooKeeper) Meta(ctx context.Context) (string, error) {
	name := path.Join(z.znode, "meta-region-server")
	b, err := z.data(ctx, name)
	if err != nil {
		return "", err
	}
	server, open, err := wire.DecodeMetaZnode(b)
	if err != nil {
		return "", fmt.Errorf("znode %s: %w", name, err)
	}
	if !open {
		return "", unavailable{fmt.Errorf("no RegionServer has hbase:meta, says ZooKeeper %s: is one up?", z)}
	}
	return server.Addr(), nil
}

func (z *zooKeeper) Master(ctx context.Context) (string, error) {
	name := path.Join(z.znode, "master")
	b, err := z.data(ctx, name)
	if errors.Is(err, zk.ErrNoNode) {
		return "", unavailable{fmt.Errorf("no HBase master is active, says ZooKeeper %s: start one", z)}
	}
	if err != nil {
		return "", err
	}
	server, err := wire.DecodeMasterZnode(b)
	if err != nil {
		return "", fmt.Errorf("znode %s: %w", name, err)
	}
	return server.Addr(), nil
}

func (z *zooKeeper) ClusterID(ctx context.Context) (string, error) {
	b, err := z.data(ctx, path.Join(z.znode, "hbaseid"))
	if errors.Is(err, zk.ErrNoNode) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return wire.DecodeClusterZnode(b)
}

// data reads a znode. The library's calls wait without a limit. Therefore they run in
// another goroutine, and data closes their connection when ctx ends.
func (z *zooKeeper) data(ctx context.Context, name string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, z.timeout, fmt.Errorf("no response within %s", z.timeout))
	defer cancel()
	type response struct {
		data []byte
		err  error
	}
	got := make(chan response, 1)
	var d zkDialer
	z.start(func() {
		b, err := d.get(ctx, z.servers, name, z.timeout)
		got <- response{b, err}
	})
	var a response
	select {
	case a = <-got:
	case <-ctx.Done():
		a.err = context.Cause(ctx)
	}
	switch {
	case a.err == nil && len(a.data) > 0:
		return a.data, nil
	case a.err == nil:
		return nil, unavailable{fmt.Errorf("znode %s on ZooKeeper %s is empty", name, z)}
	case errors.Is(a.err, zk.ErrNoNode):
		return nil, unavailable{fmt.Errorf("ZooKeeper %s: %w: %s: has HBase been started, and is %s its zookeeper.znode.parent?", z, zk.ErrNoNode, name, z.znode)}
	case errors.Is(a.err, context.Canceled):
		return nil, a.err
	}
	var dns *net.DNSError
	if errors.As(a.err, &dns) && dns.IsNotFound {
		return nil, fmt.Errorf("ZooKeeper %s: %w: %w", z, ErrUnknownHost, a.err)
	}
	last := d.lastError()
	var net net.Error
	switch {
	case z.timeout < dialTimeout && (last == nil || errors.As(last, &net) && net.Timeout()):
		return nil, unavailable{fmt.Errorf("ZooKeeper %s does not respond within %s, all that --call-timeout and --retry-for allow: raise them; if that does not help, is it up, and is the address right?", z, z.timeout)}
	case last != nil:
		a.err = last
	case errors.Is(a.err, zk.ErrNoServer):
		a.err = errors.New("it accepts connections, but does not respond as ZooKeeper does")
	}
	return nil, unavailable{fmt.Errorf("ZooKeeper %s does not respond: %w: is it up, and is the address right?", z, a.err)}
}

func (z *zooKeeper) String() string { return strings.Join(z.servers, ",") }

// An unavailable error satisfies ErrUnavailable and keeps its own text.
type unavailable struct{ error }

func (u unavailable) Unwrap() []error { return []error{u.error, ErrUnavailable} }

// zkDialer dials for the library within a context, and keeps the last error: the
// library itself retries and only logs.
type zkDialer struct {
	mu  sync.Mutex
	err error
}

func (d *zkDialer) lastError() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// get reads a znode, and reads it again while its connection ends before the response: the
// library closes a connection that is silent for two thirds of a session's timeout, as one to
// a busy server can be, and does not repeat the request.
func (d *zkDialer) get(ctx context.Context, servers []string, name string, timeout time.Duration) ([]byte, error) {
	for n := 1; ; n++ {
		b, err := d.getOnce(ctx, servers, name, timeout)
		if !errors.Is(err, zk.ErrConnectionClosed) && !errors.Is(err, zk.ErrSessionExpired) {
			return b, err
		}
		if pipe.Sleep(ctx, backoff(n)) != nil {
			return nil, err
		}
	}
}

func (d *zkDialer) getOnce(ctx context.Context, servers []string, name string, timeout time.Duration) ([]byte, error) {
	each := timeout / time.Duration(len(servers)) // there must be time for the other servers
	dial := func(network, addr string, limit time.Duration) (net.Conn, error) {
		// The library's limit is a second, which is short for a busy server.
		c, err := (&net.Dialer{Timeout: max(limit, each/3)}).DialContext(ctx, network, addr)
		if err == nil {
			context.AfterFunc(ctx, func() { _ = c.Close() })
		}
		d.mu.Lock()
		d.err = err
		d.mu.Unlock()
		return c, err
	}
	// The library waits 20/3 of the session's timeout for a server that takes the
	// connection and sends nothing.
	conn, events, err := zk.Connect(servers, each*3/20, zk.WithDialer(dial), zk.WithLogInfo(false), zk.WithLogger(silent{}))
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, conn.Close)
	defer func() {
		if stop() {
			conn.Close()
		}
		for range events { // ends when the library's goroutines have ended
		}
	}()
	b, _, err := conn.Get(name)
	return b, err
}

// silent is a logger for a library that would write to stderr.
type silent struct{}

func (silent) Printf(string, ...any) {}

// masters is the registry that every master serves, and from 2.5 every region server.
type masters struct {
	c     *Client
	addrs []string
}

func (m *masters) Meta(ctx context.Context) (string, error) {
	var addr string
	err := m.ask(ctx, "GetMetaRegionLocations", func(param []byte) error {
		locations, err := wire.DecodeMetaLocations(param)
		for _, l := range locations {
			if l.Region.ReplicaID == 0 && l.Server.Host != "" {
				addr = l.Server.Addr()
			}
		}
		if err == nil && addr == "" {
			err = fmt.Errorf("hbase:meta is not assigned: %w", ErrUnavailable)
		}
		return err
	})
	return addr, err
}

func (m *masters) Master(ctx context.Context) (string, error) {
	var addr string
	err := m.ask(ctx, "GetActiveMaster", func(param []byte) error {
		server, err := wire.DecodeActiveMaster(param)
		if err == nil && server.Host == "" {
			err = fmt.Errorf("no master is active: %w", ErrUnavailable)
		}
		addr = server.Addr()
		return err
	})
	return addr, err
}

func (m *masters) ClusterID(ctx context.Context) (string, error) {
	var id string
	err := m.ask(ctx, "GetClusterId", func(param []byte) (err error) {
		id, err = wire.DecodeClusterID(param)
		return err
	})
	return id, err
}

// ask calls one master after the other, until one responds.
func (m *masters) ask(ctx context.Context, method string, use func(param []byte) error) error {
	var errs []error
	for _, addr := range m.addrs {
		err := m.askOne(ctx, addr, method, use)
		if err == nil {
			return nil
		}
		if ended := context.Cause(ctx); ended != nil {
			return ended
		}
		errs = append(errs, err)
	}
	return fmt.Errorf("no response from %s: %w: %w", strings.Join(m.addrs, ","), ErrUnavailable, errors.Join(errs...))
}

func (m *masters) askOne(ctx context.Context, addr, method string, use func(param []byte) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, m.c.cfg.DialTimeout, context.DeadlineExceeded)
	defer cancel()
	conn, err := m.c.dial(ctx, addr, wire.ClientMetaService)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	r, err := conn.Call(ctx, method, wire.Raw(nil), nil)
	if err != nil {
		return err
	}
	defer r.Release()
	return use(r.Param)
}
