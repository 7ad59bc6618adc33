// Package hdfs is dfs on HDFS, by github.com/colinmarc/hdfs/v2.
//
//	hdfs://nn:8020/path       a NameNode
//	hdfs://nameservice/path   the active one of several, by Hadoop's configuration
//	hdfs:///path              fs.defaultFS
//
// The user is $HADOOP_USER_NAME, else that of the operating system.
//
// # A file being written
//
// What is written goes to a local temporary file first, which has no name and so
// disappears with the process; at Commit it is uploaded, closed, checked for its
// length and renamed. The library cannot repair a broken pipeline of DataNodes,
// but a whole file can be uploaded again. It costs as much local disk as the
// pending files are long, in Config.Temp, and the time to read them back; no memory.
// A file becomes one block, up to maxBlock.
//
// From Create on an empty file stands on HDFS under the temporary name, so that
// a missing right or a quota is an error before hours of work and not after.
// Commit fails if it is gone: whoever swept it has taken over.
//
// # A lock
//
// It is an empty file that stays open for append; HDFS gives the lease of a file
// to one client, which renews it each second. An extended attribute says who
// holds it. A holder that was killed loses the lease 60 s after its last renewal
// (HdfsConstants.LEASE_SOFTLIMIT_PERIOD, in no configuration); until then Lock
// says ErrLocked. A process on the holder's machine does not wait: it sees that the
// holder is dead, and has HDFS take the lease away. Another attribute tells which
// process of which boot of which machine the holder is.
//
// A holder that was frozen for longer may wake up when another has the lock.
// Therefore whatever changes something asks first whether the locks of this FS
// are still held, if the last answer is older than proofAge, and fails with
// dfs.ErrLockLost if one is not. A process that is frozen for more than a minute
// just between that question and the change itself makes the change; a Commit
// fails even then if the new holder has swept.
//
// # Limits
//
// Nothing waits for ever: each read from and write to a connection has a limit,
// Config.Silence; requests to the NameNode are repeated for Config.Patience, in
// safe mode too, and then fail with dfs.ErrUnavailable; an upload and a read are
// begun again a few times. Erasure-coded files, encryption zones and Kerberos
// are refused.
//
// Errors are *fs.PathError with the name that was asked for.
package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path"
	"strings"
	"sync"
	"time"

	"usertrail/internal/dfs"
	"usertrail/internal/hadoopconf"
)

// Scheme is what the names of this file system begin with.
const Scheme = "hdfs"

// A Config says whose configuration is read, and how long is waited. Zero fields
// take the defaults written beside them.
type Config struct {
	Conf     func() (*hadoopconf.Conf, error) // asked once, at the first name; hadoopconf.FromEnv
	User     string                           // $HADOOP_USER_NAME, else the operating system's
	Patience time.Duration                    // requests to the NameNode are repeated for so long; 20 s
	Temp     string                           // local directory of files that are not uploaded yet; $TMPDIR
	Silence  time.Duration                    // the longest wait for a server to take or send something; 30 s
}

// New returns the file system of all hdfs:// names. Nothing is connected until a
// name is used.
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
	return &system{cfg: cfg, conf: sync.OnceValues(cfg.Conf), clusters: map[string]*cluster{}}
}

// system is the FS: all clusters that were named so far.
type system struct {
	cfg  Config
	conf func() (*hadoopconf.Conf, error)

	mu       sync.Mutex
	clusters map[string]*cluster // by authority

	locks locks
}

// A place is a name taken apart.
type place struct {
	*cluster
	path string // absolute and clean
}

// begin reports what keeps an operation from beginning, and where name lies.
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

// change is begin for an operation that changes something, which nobody may who
// has lost a lock.
func (s *system) change(ctx context.Context, op, name string) (place, error) {
	p, err := s.begin(ctx, op, name)
	if err != nil {
		return p, err
	}
	if err := s.locks.held(ctx); err != nil {
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
		return place{}, fmt.Errorf("%w: HDFS takes no colon in a name", fs.ErrInvalid)
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

// newCluster reads all that the configuration says of a cluster.
func (s *system) newCluster(authority string) (*cluster, error) {
	conf, err := s.conf()
	if err != nil {
		return nil, err
	}
	c := &cluster{cfg: s.cfg}
	if c.addresses, err = conf.NameNodes(authority); err != nil {
		return nil, err
	}
	kerberos, err := conf.Kerberos()
	if err != nil {
		return nil, err
	}
	if kerberos {
		return nil, fmt.Errorf("%w: %w: hadoop.security.authentication is kerberos", hadoopconf.ErrConf, errors.ErrUnsupported)
	}
	if c.hostnames, err = conf.DatanodeHostnames(); err != nil {
		return nil, err
	}
	if c.umask, err = conf.Umask(); err != nil {
		return nil, err
	}
	c.user, err = s.user()
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
