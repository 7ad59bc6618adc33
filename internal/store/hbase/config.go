package hbase

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/user"
	"time"

	"usertrail/internal/run/ratelimit"
)

// dialTimeout is the default time limit for a connection, unless the limit of a call
// is shorter.
const dialTimeout = 10 * time.Second

// Config describes where a cluster is and how much the client may request from it.
// Zero fields mean the defaults that their comments name.
type Config struct {
	ZooKeeper []string // host or host:port of the quorum
	Znode     string   // zookeeper.znode.parent; /hbase
	Masters   []string // host:port; the client asks them where hbase:meta is if ZooKeeper is empty
	Registry  Registry // the client asks it in place of both

	User string // $HADOOP_USER_NAME, else the user that runs the program; with Kerberos, the user who logs in

	Security *Security // nil: the servers believe User

	DialTimeout time.Duration // to connect to one server; 10 s, but no more than CallTimeout
	CallTimeout time.Duration // of one call; 60 s, but no more than OpTimeout
	OpTimeout   time.Duration // of a get, a batch or a step of a scan, with all attempts; 5 min
	BulkTimeout time.Duration // of one call that loads files, which may flush first; 10 min, but no less than CallTimeout

	MaxRequestBytes   int // cells of one Multi of puts; 2 MiB
	MaxRequestActions int // puts of one Multi; 4000, below HBase's warning at 5000
	MaxResponseBytes  int // a longer response breaks its connection; 256 MiB
	InFlight          int // calls at once on one server, of all kinds and with all attempts; 6

	Limiter *ratelimit.Limiter // limits the requests per second; nil sets no limit
	Log     *slog.Logger       // receives messages about busy servers; nil discards them

	// Dial connects to masters and RegionServers, host:port; nil is TCP.
	Dial func(ctx context.Context, addr string) (net.Conn, error)
}

// MaxInFlight is the largest value of InFlight.
const MaxInFlight = 1000

// minBackoff is the bound of the random pause before the second attempt. The bound
// doubles with each attempt, up to maxBackoff.
const (
	minBackoff = 100 * time.Millisecond
	maxBackoff = 10 * time.Second
)

// resolve sets the defaults and reports all invalid fields.
func (cfg Config) resolve() (Config, error) {
	var errs []error
	bad := func(field, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %s", field, fmt.Sprintf(format, args...)))
	}
	if len(cfg.ZooKeeper) == 0 && len(cfg.Masters) == 0 && cfg.Registry == nil {
		bad("ZooKeeper", "no address, and no Masters either")
	}
	duration := func(field string, d *time.Duration, usual time.Duration) {
		if *d < 0 {
			bad(field, "%s is negative", *d)
		}
		if *d == 0 {
			*d = usual
		}
	}
	number := func(field string, n *int, usual, most int) {
		if *n < 0 || *n > most {
			bad(field, "%d is not in 1..%d", *n, most)
		}
		if *n == 0 {
			*n = usual
		}
	}
	if cfg.Znode == "" {
		cfg.Znode = "/hbase"
	}
	if cfg.Znode[0] != '/' {
		bad("Znode", "%q does not begin with /", cfg.Znode)
	}
	duration("CallTimeout", &cfg.CallTimeout, time.Minute)
	duration("OpTimeout", &cfg.OpTimeout, 5*time.Minute)
	cfg.CallTimeout = min(cfg.CallTimeout, cfg.OpTimeout)
	duration("BulkTimeout", &cfg.BulkTimeout, 10*time.Minute)
	cfg.BulkTimeout = max(cfg.BulkTimeout, cfg.CallTimeout)
	duration("DialTimeout", &cfg.DialTimeout, min(dialTimeout, cfg.CallTimeout))
	number("MaxRequestBytes", &cfg.MaxRequestBytes, 2<<20, 64<<20)
	number("MaxRequestActions", &cfg.MaxRequestActions, 4000, 1<<20)
	number("MaxResponseBytes", &cfg.MaxResponseBytes, 256<<20, 1<<31-1)
	number("InFlight", &cfg.InFlight, 6, MaxInFlight)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if proved, err := cfg.Security.user(); proved != "" || err != nil {
		cfg.User = proved
		errs = append(errs, err)
	}
	if cfg.User == "" {
		name, err := systemUser()
		if err != nil {
			bad("User", "%v; set HADOOP_USER_NAME", err)
		}
		cfg.User = name
	}
	if err := errors.Join(errs...); err != nil {
		return cfg, fmt.Errorf("hbase: %w", err)
	}
	return cfg, nil
}

// systemUser returns the user name that Hadoop's programs would use.
func systemUser() (string, error) {
	if name := os.Getenv("HADOOP_USER_NAME"); name != "" {
		return name, nil
	}
	u, err := user.Current()
	if err != nil {
		return "", err
	}
	return u.Username, nil
}
