package live

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"usertrail/internal/run/exit"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/hbase/wire"
)

// Scheme is the scheme of a live table's address.
const Scheme = "hbase"

// ErrAddress is wrapped by errors about an address.
var ErrAddress = exit.New(exit.Usage, "not an HBase table's address")

// An Address is the place of a table:
//
//	hbase://zk1,zk2:2181/namespace:table              ZooKeeper's quorum
//	hbase://zk1,zk2:2181/table?parent=/hbase-secure   zookeeper.znode.parent
//	hbase:///table                                    the quorum of hbase-site.xml
//
// A host without a port has the port of the last host, or 2181. Without a parent, Parent is
// zookeeper.znode.parent of hbase-site.xml, or /hbase.
type Address struct {
	Quorum []string // host:port
	Parent string
	Table  string // with its namespace, unless that is "default"
}

const (
	defaultPort   = "2181"
	defaultParent = "/hbase"
)

// ParseAddress parses an address. It reads missing parts from conf.
func ParseAddress(s string, conf *hadoopconf.Conf) (Address, error) {
	var a Address
	wrong := func(format string, args ...any) (Address, error) {
		return Address{}, fmt.Errorf("%w: %s: %s; write hbase://zk1,zk2:2181/namespace:table", ErrAddress, s, fmt.Sprintf(format, args...))
	}
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || !strings.EqualFold(scheme, Scheme) {
		return wrong("it does not begin with hbase://")
	}
	hosts, rest, _ := strings.Cut(rest, "/")
	name, query, _ := strings.Cut(rest, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return wrong("%v", err)
	}
	for key := range values {
		if key != "parent" {
			return wrong("it may say ?parent=, not ?%s=", key)
		}
	}
	a.Parent = values.Get("parent")
	known, err := conf.ZooKeeper()
	if err != nil {
		return Address{}, fmt.Errorf("%w: %s: %w", ErrAddress, s, err)
	}
	if a.Parent == "" {
		a.Parent = known.Parent
	}
	if a.Parent == "" {
		a.Parent = defaultParent
	}
	if !strings.HasPrefix(a.Parent, "/") {
		return wrong("the parent znode %q does not begin with a slash", a.Parent)
	}
	if a.Quorum = known.Quorum; hosts != "" {
		if a.Quorum, err = quorum(hosts); err != nil {
			return wrong("%v", err)
		}
	}
	if len(a.Quorum) == 0 {
		return wrong("it names no ZooKeeper, and there is no hbase-site.xml in $HADOOP_CONF_DIR that does")
	}
	a.Table = strings.TrimPrefix(name, "default:")
	if err := wire.CheckTableName(a.Table); err != nil {
		return wrong("%v", err)
	}
	return a, nil
}

// quorum parses hosts between commas. Hosts without a port get the port of the last host.
func quorum(s string) ([]string, error) {
	hosts := strings.Split(s, ",")
	port := defaultPort
	if _, p, err := net.SplitHostPort(hosts[len(hosts)-1]); err == nil {
		port = p
	}
	for i, h := range hosts {
		if h == "" {
			return nil, fmt.Errorf("a host of %q is empty", s)
		}
		if _, _, err := net.SplitHostPort(h); err != nil {
			hosts[i] = net.JoinHostPort(strings.Trim(h, "[]"), port)
		}
	}
	return hosts, nil
}

// folder returns the default folder of the table's catalog, below the root of a file system.
func (a Address) folder() string {
	space, name, ok := strings.Cut(a.Table, ":")
	if !ok {
		space, name = "default", a.Table
	}
	return "usertrail/" + space + "/" + name
}

// String returns the full address.
func (a Address) String() string {
	s := Scheme + "://" + strings.Join(a.Quorum, ",") + "/" + a.Table
	if a.Parent != defaultParent {
		s += "?parent=" + a.Parent
	}
	return s
}
