package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path"
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

// leastSilence is the shortest wait for a response, however short the patience is.
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
	security  *security // nil without Kerberos

	refused atomic.Pointer[error] // why the last connection could not be secured, if no retry solves it

	least atomic.Int64 // the lower of Config.Silence and the patience of the last request; 0 before the first

	mu      sync.Mutex
	clients [4]*hdfs.Client // by mode, nil until first used
}

// A mode determines how the requests of a client are changed.
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
		NamenodeDialFunc:    c.dialNameNode(amends[m]),
		DatanodeDialFunc:    c.dialDataNode,
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

// dialNameNode returns a function that connects to a NameNode. If amend is not nil, it changes
// the bytes that are sent.
func (c *cluster) dialNameNode(amend func([]byte) []byte) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := c.connect(ctx, network, addr)
		if err == nil && c.security != nil {
			nc, err = c.security.secureRPC(ctx, nc, addr)
			c.refused.Store(refusal(err))
		}
		if err != nil {
			return nil, err
		}
		if c.security == nil {
			nc = &unproved{Conn: nc, addr: addr, refused: &c.refused}
		}
		return &conn{Conn: nc, limit: c.silence, amend: amend}, nil
	}
}

// refusal returns an error that no retry solves, and nil for others.
func refusal(err error) *error {
	if err == nil || !final(err) {
		return nil
	}
	return &err
}

// dialDataNode connects to a DataNode.
func (c *cluster) dialDataNode(ctx context.Context, network, addr string) (net.Conn, error) {
	nc, err := c.connect(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	limited := &conn{Conn: nc, limit: c.silence}
	if c.security == nil {
		return limited, nil
	}
	return c.security.secureData(limited, addr), nil
}

// connect connects to a server.
func (c *cluster) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	d := &net.Dialer{Timeout: min(dialTime, c.silence())}
	return d.DialContext(ctx, network, addr)
}

// call makes a request. It repeats the request while the NameNode cannot be reached or
// reports that it cannot respond yet. The request may have taken effect each time.
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
// each later response to the patience of ctx.
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
	if err == nil {
		err = request(client)
	}
	if refused := c.refused.Load(); err != nil && refused != nil && passing(err) {
		return *refused // the library keeps only its text
	}
	return err
}

// stat describes a path, with all its attributes in HDFS.
func (c *cluster) stat(ctx context.Context, path string) (*hdfs.FileInfo, error) {
	out, err := c.statOnly(ctx, path)
	return out, c.belowFile(ctx, path, err)
}

func (c *cluster) statOnly(ctx context.Context, path string) (*hdfs.FileInfo, error) {
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

// belowFile returns dfs.ErrNotDir in place of a missing permission if at is below a file. HDFS
// returns this error to its superuser. To other users it reports that they may not traverse the
// file.
func (c *cluster) belowFile(ctx context.Context, at string, err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	for dir := path.Dir(at); dir != "/"; dir = path.Dir(dir) {
		if fi, fail := c.statOnly(ctx, dir); fail == nil {
			if !fi.IsDir() {
				return dfs.ErrNotDir
			}
			break
		}
	}
	return err
}

// inode returns the number of a file. No other file has this number or will have it.
func inode(fi *hdfs.FileInfo) uint64 { return fi.Sys().(*hdfs.FileStatus).GetFileId() }

// rename renames from to to. If a response was lost and a repeated rename fails, rename
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
