package hdfs

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/colinmarc/hdfs/v2"

	"usertrail/internal/run/pipe"
	"usertrail/internal/store/dfs"
)

// dialTime limits the time to make one connection.
const dialTime = 10 * time.Second

// leastSilence is the shortest wait for an answer, however short the patience is.
const leastSilence = 100 * time.Millisecond

// The wait between two requests grows from firstWait to lastWait.
const (
	firstWait = 100 * time.Millisecond
	lastWait  = 2 * time.Second
)

// A cluster is one HDFS, accessed as one user.
type cluster struct {
	cfg       Config
	addresses []string // of its NameNodes
	user      string
	hostnames bool // to reach DataNodes by
	umask     uint32

	least atomic.Int64 // the lower of Config.Silence and the patience of the last request; 0 before the first

	mu      sync.Mutex
	clients [4]*hdfs.Client // by mode, nil until first used
}

// A mode says how the requests of a client are changed.
type mode int

const (
	replacing mode = iota // a rename replaces its target
	keeping               // a rename fails if its target exists
	asking                // a truncation is replaced by a request whether the file is closed
	taking                // a truncation is replaced by a request that takes the file's lease and closes it
)

// amends holds, for each mode, the function that changes the bytes to send.
var amends = [...]func([]byte) []byte{replacing: nil, keeping: keepTarget, asking: askClosed, taking: recoverLease}

// client returns the connected client of a mode.
func (c *cluster) client(m mode) (*hdfs.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clients[m] != nil {
		return c.clients[m], nil
	}
	client, err := hdfs.NewClient(hdfs.ClientOptions{
		// After a failure the library does not use an address for 5 s. Each address is
		// listed twice, so that the library reconnects at once after a broken connection.
		Addresses:           slices.Concat(c.addresses, c.addresses),
		User:                c.user,
		UseDatanodeHostname: c.hostnames,
		NamenodeDialFunc:    c.dial(amends[m]),
		DatanodeDialFunc:    c.dial(nil),
	})
	if err != nil {
		return nil, err
	}
	// The library stores the server defaults without a lock. Therefore they are
	// requested before other goroutines get the client.
	if _, err := client.ServerDefaults(); err != nil {
		client.Close()
		return nil, err
	}
	c.clients[m] = client
	return client, nil
}

// dial returns a function that connects to a server. If amend is not nil, it changes the
// bytes that are sent to the server.
func (c *cluster) dial(amend func([]byte) []byte) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		d := &net.Dialer{Timeout: min(dialTime, c.silence())}
		nc, err := d.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &conn{Conn: nc, limit: c.silence, amend: amend}, nil
	}
}

// call makes a request. It repeats the request while the NameNode cannot be reached or
// reports that it cannot answer yet. The request may have taken effect each time.
func (c *cluster) call(ctx context.Context, m mode, request func(*hdfs.Client) error) error {
	began, patience := time.Now(), c.bounded(ctx)
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		err := c.once(m, request)
		if err == nil || !passing(err) {
			return err
		}
		if time.Since(began)+wait > patience {
			return fmt.Errorf("%w: NameNode %s: %w", dfs.ErrUnavailable, strings.Join(c.addresses, ", "), plain(err))
		}
		if err := pipe.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// bounded returns the duration for which a request is repeated. It also limits the wait for
// each later answer to the patience of ctx.
func (c *cluster) bounded(ctx context.Context) time.Duration {
	c.least.Store(int64(max(dfs.Patience(ctx, c.cfg.Silence), leastSilence)))
	return dfs.Patience(ctx, c.cfg.Patience)
}

// silence returns the longest wait for a server to receive or send something.
func (c *cluster) silence() time.Duration {
	if d := time.Duration(c.least.Load()); d > 0 {
		return d
	}
	return c.cfg.Silence
}

func (c *cluster) once(m mode, request func(*hdfs.Client) error) error {
	client, err := c.client(m)
	if err != nil {
		return err
	}
	return request(client)
}

// stat describes a path, with all its attributes in HDFS.
func (c *cluster) stat(ctx context.Context, path string) (*hdfs.FileInfo, error) {
	var out *hdfs.FileInfo
	err := c.call(ctx, replacing, func(client *hdfs.Client) error {
		fi, err := client.Stat(path)
		if err == nil {
			out = fi.(*hdfs.FileInfo)
		}
		return err
	})
	return out, err
}

// inode returns the number of a file. No other file has this number or will have it.
func inode(fi *hdfs.FileInfo) uint64 { return fi.Sys().(*hdfs.FileStatus).GetFileId() }

// rename renames from to to. If an answer was lost and a repeated rename fails, rename
// compares the inode at to, to find out whether the first rename succeeded.
func (c *cluster) rename(ctx context.Context, m mode, from, to string) error {
	fi, err := c.stat(ctx, from)
	if err != nil {
		return err
	}
	lost := false
	return c.call(ctx, m, func(client *hdfs.Client) error {
		err := client.Rename(from, to)
		switch {
		case err == nil:
			return nil
		case passing(err):
			lost = true
			return err
		case lost:
			if there, fail := client.Stat(to); fail == nil && inode(there.(*hdfs.FileInfo)) == inode(fi) {
				return nil
			}
		}
		return err
	})
}
