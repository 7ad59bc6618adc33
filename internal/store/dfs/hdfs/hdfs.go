// Package hdfs implements dfs on HDFS, with github.com/colinmarc/hdfs/v2.
//
//	hdfs://nn:8020/path       a NameNode
//	hdfs://nameservice/path   the active one of several, by Hadoop's configuration
//	hdfs:///path              fs.defaultFS
//
// The user is $HADOOP_USER_NAME, or else the user of the operating system.
//
// # A file being written
//
// Write stores bytes in a local temporary file. The temporary file has no name, so it
// disappears with the process. Commit uploads the file, closes it, checks its
// length and renames it. The library cannot repair a broken pipeline of DataNodes,
// but a whole file can be uploaded again. This costs local disk in Config.Temp for the
// length of all pending files, and the time to read them back. It costs no memory.
// A file becomes one block, up to maxBlock.
//
// Create makes an empty file on HDFS under the temporary name. A missing right or an
// exhausted quota is therefore an error before hours of work and not after.
// Commit fails if the empty file is gone: the process that swept it has taken over.
//
// # A lock
//
// A lock is an empty file that stays open for append. HDFS gives the lease of a file
// to one client, which renews it each second. An extended attribute names the
// holder. A holder that was killed loses the lease 60 s after its last renewal
// (HdfsConstants.LEASE_SOFTLIMIT_PERIOD, which no configuration changes). Until then Lock
// returns ErrLocked. A process on the holder's machine does not wait: it sees that the
// holder is dead, and asks HDFS to remove the lease. Another attribute identifies the
// process of the holder, its boot and its machine.
//
// A holder that was frozen for longer may wake up when another process has the lock.
// Therefore each operation that changes something first checks that the locks of this FS
// are still held, if the last check is older than proofAge. It fails with
// dfs.ErrLockLost if a lock is lost. A process that is frozen for more than a minute
// between the check and the change still makes the change. A Commit
// fails even then if the new holder has swept.
//
// # Limits
//
// No operation waits without limit:
//
//   - Config.Silence limits each read from a connection and each write to it.
//   - Requests to the NameNode are repeated for Config.Patience, also in safe mode.
//     They then fail with dfs.ErrUnavailable.
//   - Uploads and reads are retried a few times.
//
// The package refuses erasure-coded files and encryption zones.
//
// # Security
//
// With Kerberos the user is who logs in, or the owner of a delegation token. The library knows
// nothing of it: the connections that it gets make the exchanges themselves. Package ipc has those with
// NameNodes, package transfer those with DataNodes.
//
// Errors are *fs.PathError with the name that the caller passed.
package hdfs

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path"
	"strings"
	"sync"
	"time"

	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/secure"
)

// Scheme is the scheme of the names of this file system.
const Scheme = "hdfs"

// A Config selects the configuration and the time limits. A zero field takes the
// default in the comment next to it.
type Config struct {
	Conf     func() (*hadoopconf.Conf, error) // called once, at the first name; hadoopconf.FromEnv
	User     string                           // $HADOOP_USER_NAME, else the operating system's
	Patience time.Duration                    // time for which requests to the NameNode are repeated; 20 s
	Temp     string                           // local directory of files that are not uploaded yet; $TMPDIR
	Silence  time.Duration                    // the longest wait for a server to receive or send something; 30 s

	// Identity is the user of clusters with Kerberos; the user of the ticket cache.
	Identity *secure.Identity
}

// New returns the file system of all hdfs:// names. It connects to a cluster when a
// name is first used.
func New(cfg Config) dfs.FS {
	if cfg.Conf == nil {
		cfg.Conf = hadoopconf.FromEnv
	}
	if cfg.Patience == 0 {
		cfg.Patience = 20 * time.Second
	}
	if cfg.Silence == 0 {
		cfg.Silence = 30 * time.Second
	}
	if cfg.Identity == nil {
		cfg.Identity = secure.New(secure.Config{})
	}
	return &system{cfg: cfg, conf: sync.OnceValues(cfg.Conf), clusters: map[string]*cluster{}}
}

// system is the FS. It holds all clusters that names have referred to so far.
type system struct {
	cfg  Config
	conf func() (*hadoopconf.Conf, error)

	mu       sync.Mutex
	clusters map[string]*cluster // by authority

	locks dfs.Locks[*lock]
}

// A place is a parsed name.
type place struct {
	*cluster
	path string // absolute and clean
}

// begin parses name. It returns an error if the context has ended or the name is invalid.
func (s *system) begin(ctx context.Context, op, name string) (place, error) {
	if ctx.Err() != nil {
		return place{}, &fs.PathError{Op: op, Path: name, Err: context.Cause(ctx)}
	}
	p, err := s.place(name)
	if err != nil {
		return place{}, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return p, nil
}

// change is like begin, for an operation that changes something. It fails if this FS
// has lost a lock.
func (s *system) change(ctx context.Context, op, name string) (place, error) {
	p, err := s.begin(ctx, op, name)
	if err != nil {
		return p, err
	}
	if err := s.locks.Held(ctx); err != nil {
		return p, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return p, nil
}

func (s *system) place(name string) (place, error) {
	scheme, rest, ok := strings.Cut(name, "://")
	if !ok || !strings.EqualFold(scheme, Scheme) {
		return place{}, fmt.Errorf("%w: a name on HDFS begins with %s://", fs.ErrInvalid, Scheme)
	}
	authority, below, _ := strings.Cut(rest, "/")
	if strings.Contains(below, ":") {
		return place{}, fmt.Errorf("%w: HDFS allows no colon in a name", fs.ErrInvalid)
	}
	c, err := s.cluster(authority)
	return place{c, path.Clean("/" + below)}, err
}

func (s *system) cluster(authority string) (*cluster, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.clusters[authority]; c != nil {
		return c, nil
	}
	c, err := s.newCluster(authority)
	if err == nil {
		s.clusters[authority] = c
	}
	return c, err
}

// newCluster reads the configuration of a cluster.
func (s *system) newCluster(authority string) (*cluster, error) {
	conf, err := s.conf()
	if err != nil {
		return nil, err
	}
	c := &cluster{cfg: s.cfg}
	if c.addresses, err = conf.NameNodes(authority); err != nil {
		return nil, err
	}
	if c.security, err = newSecurity(conf, s.cfg.Identity, authority); err != nil {
		return nil, err
	}
	if c.hostnames, err = conf.DatanodeHostnames(); err != nil {
		return nil, err
	}
	if c.umask, err = conf.Umask(); err != nil {
		return nil, err
	}
	if c.security != nil {
		c.user, err = c.security.user(c.addresses)
	} else {
		c.user, err = s.user()
	}
	return c, err
}

func (s *system) user() (string, error) {
	for _, name := range []string{s.cfg.User, os.Getenv("HADOOP_USER_NAME")} {
		if name != "" {
			return name, nil
		}
	}
	u, err := user.Current()
	if err != nil {
		return "", fmt.Errorf("%w; set HADOOP_USER_NAME", err)
	}
	return u.Username, nil
}
