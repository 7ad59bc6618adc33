package hadoopconf

import (
	"net"
	"net/url"
	"strconv"
	"strings"
)

// nameNodePort is HDFS's own default.
const nameNodePort = "8020"

// NameNodes returns the addresses, host:port, of the NameNodes of an authority, which is the
// part between hdfs:// and the path:
//
//	nn.example:8020   that host
//	nn.example        that host, port 8020, unless it is a nameservice
//	cluster           a nameservice: all its NameNodes, one of which is active
//	(empty)           the value of fs.defaultFS, or the only nameservice
func (c *Conf) NameNodes(authority string) ([]string, error) {
	if authority == "" {
		var err error
		if authority, err = c.defaultAuthority(); err != nil {
			return nil, err
		}
	}
	services, err := c.list("dfs.nameservices")
	if err != nil {
		return nil, err
	}
	for _, s := range services {
		if s == authority {
			return c.nameservice(s)
		}
	}
	if _, _, err := net.SplitHostPort(authority); err == nil {
		return []string{authority}, nil
	}
	return []string{net.JoinHostPort(strings.Trim(authority, "[]"), nameNodePort)}, nil
}

// defaultAuthority returns the authority of hdfs:///path.
func (c *Conf) defaultAuthority() (string, error) {
	const name = "fs.defaultFS"
	v, err := c.Get(name)
	if err != nil {
		return "", err
	}
	if v == "" {
		return c.onlyService(name)
	}
	u, err := url.Parse(v)
	switch {
	case err != nil:
		return "", c.wrong(name, "%w", err)
	case u.Scheme == "viewfs":
		return "", c.wrong(name, "%s is a view of several file systems, which is not supported; name the cluster, as in hdfs://nameservice/path", v)
	case u.Scheme != "hdfs" || u.Host == "":
		return "", c.wrong(name, "%q is not an HDFS; name the NameNode, as in hdfs://host:8020/path", v)
	}
	return u.Host, nil
}

// onlyService returns the nameservice to use if none is named.
func (c *Conf) onlyService(missing string) (string, error) {
	services, err := c.list("dfs.nameservices")
	if err != nil {
		return "", err
	}
	switch len(services) {
	case 0:
		return "", c.wrong(missing, "not set; name the NameNode, as in hdfs://host:8020/path, or set HADOOP_CONF_DIR")
	case 1:
		return services[0], nil
	}
	return "", c.wrong("dfs.nameservices", "%s are several; name the one that is meant, as in hdfs://%s/path", strings.Join(services, ", "), services[0])
}

// nameservice returns the NameNodes of a nameservice.
func (c *Conf) nameservice(service string) ([]string, error) {
	nodes := "dfs.ha.namenodes." + service
	ids, err := c.list(nodes)
	if err != nil {
		return nil, err
	}
	keys := []string{"dfs.namenode.rpc-address." + service}
	if len(ids) > 0 {
		keys = keys[:0]
		for _, id := range ids {
			keys = append(keys, "dfs.namenode.rpc-address."+service+"."+id)
		}
	}
	var out []string
	for _, key := range keys {
		addr, err := c.Get(key)
		if err != nil {
			return nil, err
		}
		if addr == "" {
			return nil, c.wrong(key, "not set, but nameservice %s needs it", service)
		}
		if _, _, err := net.SplitHostPort(addr); err != nil {
			return nil, c.wrong(key, "%q is not host:port", addr)
		}
		out = append(out, addr)
	}
	return out, nil
}

// DatanodeHostnames reports whether clients reach DataNodes by name. Otherwise they use the
// IP address that the DataNode gave the NameNode.
func (c *Conf) DatanodeHostnames() (bool, error) {
	v, err := c.Get("dfs.client.use.datanode.hostname")
	return v == "true", err
}

// Umask returns the bits that are cleared in the mode of new files and directories: 027
// unless the configuration sets others. Hadoop's own default is 022, which lets everybody read.
func (c *Conf) Umask() (uint32, error) {
	const name = "fs.permissions.umask-mask"
	v, err := c.Get(name)
	if err != nil || v == "" {
		return 0o027, err
	}
	n, err := strconv.ParseUint(v, 8, 9)
	if err != nil {
		return 0, c.wrong(name, "%q is not an octal number such as 022", v)
	}
	return uint32(n), nil
}
