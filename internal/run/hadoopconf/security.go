package hadoopconf

import (
	"strings"
)

// An HBaseSecurity has the settings of hbase-site.xml that secure servers and clients.
type HBaseSecurity struct {
	Kerberos     bool
	Protections  []string // hbase.rpc.protection
	Master       string   // principal of masters; _HOST stands for the server's host
	RegionServer string

	TLS         bool
	Versions    []string // hbase.rpc.tls.enabledProtocols, or the only one of hbase.rpc.tls.protocol
	AnyName     bool     // a server's certificate need not be for its name
	Revocations bool     // revoked certificates must be refused
	Key, Trust  Store
}

// A Store is a file of keys or certificates.
type Store struct {
	Location, Type, Password string
}

// String hides the password.
func (s Store) String() string { return s.Location }

// GoString hides the password.
func (s Store) GoString() string { return s.Location }

// Properties of HBase's principals and protections.
const (
	HBaseProtection   = "hbase.rpc.protection"
	MasterPrincipal   = "hbase.master.kerberos.principal"
	RegionPrincipal   = "hbase.regionserver.kerberos.principal"
	NameNodePrincipal = "dfs.namenode.kerberos.principal"
	RPCProtection     = "hadoop.rpc.protection"
	DataProtection    = "dfs.data.transfer.protection"
)

// HBaseSecurity returns the values of hbase-site.xml.
func (c *Conf) HBaseSecurity() (HBaseSecurity, error) {
	g := getter{c: c}
	s := HBaseSecurity{
		Kerberos:     strings.EqualFold(g.get("hbase.security.authentication"), "kerberos"),
		Protections:  g.list(HBaseProtection),
		Master:       g.get(MasterPrincipal),
		RegionServer: g.get(RegionPrincipal),
		TLS:          g.is("hbase.client.netty.tls.enabled", false),
		Versions:     g.list("hbase.rpc.tls.enabledProtocols"),
		AnyName:      !g.is("hbase.client.netty.tls.verify.server.hostname", true),
		Revocations:  g.is("hbase.rpc.tls.clr", false) || g.is("hbase.rpc.tls.ocsp", false),
		Key:          g.store("hbase.rpc.tls.keystore"),
		Trust:        g.store("hbase.rpc.tls.truststore"),
	}
	if s.Master == "" {
		s.Master = s.RegionServer
	}
	if s.RegionServer == "" {
		s.RegionServer = s.Master
	}
	return s, g.err
}

// An HDFSSecurity has the settings of core-site.xml and hdfs-site.xml that secure servers and
// clients.
type HDFSSecurity struct {
	Kerberos    bool
	Protections []string // hadoop.rpc.protection: of the NameNode
	NameNode    string   // principal; _HOST stands for the server's host

	// NameNodePattern, if it is set, is a pattern of the principals that a NameNode may have.
	NameNodePattern string
	Data            []string // dfs.data.transfer.protection; empty: DataNodes speak without SASL
	Suites          []string // dfs.encrypt.data.transfer.cipher.suites
	Encrypted       bool     // dfs.encrypt.data.transfer
}

// HDFSSecurity returns the values of core-site.xml and hdfs-site.xml.
func (c *Conf) HDFSSecurity() (HDFSSecurity, error) {
	g := getter{c: c}
	return HDFSSecurity{
		Kerberos:    strings.EqualFold(g.get("hadoop.security.authentication"), "kerberos"),
		Protections: g.list(RPCProtection),
		NameNode:    g.get(NameNodePrincipal),

		NameNodePattern: g.get(NameNodePrincipal + ".pattern"),
		Data:            g.list(DataProtection),
		Suites:          g.list("dfs.encrypt.data.transfer.cipher.suites"),
		Encrypted:       g.is("dfs.encrypt.data.transfer", false),
	}, g.err
}

// A getter reads properties until the first error.
type getter struct {
	c   *Conf
	err error
}

func (g *getter) get(name string) string {
	v, err := g.c.Get(name)
	if g.err == nil {
		g.err = err
	}
	return v
}

func (g *getter) list(name string) []string {
	v, err := g.c.list(name)
	if g.err == nil {
		g.err = err
	}
	return v
}

// is returns a property that is true or false. As in Hadoop, anything else is the usual value.
func (g *getter) is(name string, usual bool) bool {
	switch v := g.get(name); {
	case strings.EqualFold(v, "true"):
		return true
	case strings.EqualFold(v, "false"):
		return false
	}
	return usual
}

func (g *getter) store(prefix string) Store {
	return Store{Location: g.get(prefix + ".location"), Type: g.get(prefix + ".type"), Password: g.get(prefix + ".password")}
}
