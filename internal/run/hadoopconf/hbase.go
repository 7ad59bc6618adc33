package hadoopconf

import (
	"net"
	"strconv"
)

// A ZooKeeper holds the addresses at which an HBase cluster is found.
type ZooKeeper struct {
	Quorum []string // host:port
	Parent string   // znode
}

// ZooKeeper returns the values of hbase-site.xml. If the file does not set them, Quorum is
// empty.
func (c *Conf) ZooKeeper() (ZooKeeper, error) {
	hosts, err := c.list("hbase.zookeeper.quorum")
	if err != nil {
		return ZooKeeper{}, err
	}
	port, err := c.clientPort()
	if err != nil {
		return ZooKeeper{}, err
	}
	zk := ZooKeeper{Parent: "/hbase"}
	parent, err := c.Get("zookeeper.znode.parent")
	if err != nil {
		return ZooKeeper{}, err
	}
	if parent != "" {
		zk.Parent = parent
	}
	for _, h := range hosts {
		if _, _, err := net.SplitHostPort(h); err != nil {
			h = net.JoinHostPort(h, port)
		}
		zk.Quorum = append(zk.Quorum, h)
	}
	return zk, nil
}

func (c *Conf) clientPort() (string, error) {
	const name = "hbase.zookeeper.property.clientPort"
	port, err := c.Get(name)
	if err != nil || port == "" {
		return "2181", err
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", c.wrong(name, "%q is not a port", port)
	}
	return port, nil
}
