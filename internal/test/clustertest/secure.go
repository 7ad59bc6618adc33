package clustertest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"usertrail/internal/test/testkit"
)

// The users of a secured cluster, in addition to its administrator. None has a right in HBase.
// Alice and Bob have a directory on HDFS, /user/NAME.
const (
	Alice   = "alice"
	Bob     = "bob"
	Mallory = "mallory"
)

// Realm is the Kerberos realm of a secured cluster.
const Realm = "CLUSTER.TEST"

// secured is a cluster whose clients choose how they are protected.
var secured = kind{
	variable: "USERTRAIL_SECURE_CLUSTER", folder: ".cache/cluster-secure", alone: ".cache/cluster-secure", secured: true,
	settings: []string{"CLUSTER_SECURE=yes", "CLUSTER_DATANODES=1", "CLUSTER_REGIONSERVERS=2"},
}

// Secure is Get for the secured cluster. Its servers offer all protections, and TLS; clients
// choose. A run that does not cover everything never starts this cluster: it skips t unless the
// cluster is up or $USERTRAIL_SECURE_CLUSTER names one. $USERTRAIL_CLUSTER=none skips t, too.
func Secure(t testing.TB) *Cluster {
	t.Helper()
	return keep(t, lendSecure(t, false))
}

// SecureAlone is Alone for the secured cluster.
func SecureAlone(t testing.TB) *Cluster {
	t.Helper()
	return keep(t, lendSecure(t, true))
}

func lendSecure(t testing.TB, alone bool) *Cluster {
	t.Helper()
	plain.skip(t)
	secured.skip(t)
	if !testkit.All() && os.Getenv(secured.variable) == "" && !secureIsUp(t) {
		testkit.OnlyAll(t, "the packages below internal/store/secure, without servers; make cluster-secure starts the servers for other runs")
	}
	return secured.lend(t, alone)
}

// secureUp has whether the secured cluster of the checkout was up when a test of this process
// first needed it.
var secureUp struct {
	sync.Once
	yes bool
}

func secureIsUp(t testing.TB) bool {
	t.Helper()
	secureUp.Do(func() {
		c, err := secured.find("", false)
		if err != nil {
			t.Fatalf("cluster: %v", err)
		}
		ctx, cancel := limited(t, callLimit)
		defer cancel()
		_, err = c.run(ctx, "whole")
		secureUp.yes = err == nil
	})
	return secureUp.yes
}

// Krb5Conf returns the configuration file of Kerberos.
func (c *Cluster) Krb5Conf() string { return filepath.Join(c.dir, "conf", "krb5.conf") }

// KDC returns the host and port of the KDC.
func (c *Cluster) KDC() string { return c.net + ".0.1:18888" }

// Keytab returns the keytab of a user.
func (c *Cluster) Keytab(user string) string { return filepath.Join(c.dir, "kdc", user+".keytab") }

// TicketCache returns the file of a user's ticket, which is valid for a day from the start of
// the cluster.
func (c *Cluster) TicketCache(user string) string { return filepath.Join(c.dir, "kdc", user+".ccache") }

// TLS returns a file of certificates and keys: ca.pem, client.pem (its key comes first),
// client.pkcs12, trust.pem or trust.pkcs12. The password of a pkcs12 file is StorePassword.
func (c *Cluster) TLS(name string) string { return filepath.Join(c.dir, "tls", name) }

// StorePassword is the password of the files *.pkcs12.
const StorePassword = "changeit"

// Secrets returns the password of the stores, and a part of each user's key.
func (c *Cluster) Secrets(t testing.TB) [][]byte {
	t.Helper()
	all := [][]byte{[]byte(StorePassword)}
	for _, user := range []string{Alice, Bob, Mallory} {
		b, err := os.ReadFile(c.Keytab(user))
		if err != nil {
			t.Fatal(err)
		}
		part := b[len(b)-16 : len(b)-8] // of the last key; its version may follow
		all = append(all, part, []byte(hex.EncodeToString(part)))
	}
	return all
}

// HasNoSecret checks that no file below dir has one of Secrets, or one of others.
func (c *Cluster) HasNoSecret(t testing.TB, dir string, others ...[]byte) {
	t.Helper()
	secrets := append(c.Secrets(t), others...)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(name)
		for _, secret := range secrets {
			if bytes.Contains(b, secret) {
				t.Errorf("%s holds a secret", name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ClientConf writes a configuration directory of a client: the cluster's, with other values for
// some properties.
func (c *Cluster) ClientConf(t testing.TB, properties map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"core-site.xml", "hdfs-site.xml", "hbase-site.xml"} {
		b, err := os.ReadFile(filepath.Join(c.ConfDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "hbase-site.xml" { // the last file that is read
			var more strings.Builder
			for _, key := range slices.Sorted(maps.Keys(properties)) {
				fmt.Fprintf(&more, "  <property><name>%s</name><value>%s</value></property>\n", key, properties[key])
			}
			b = []byte(strings.Replace(string(b), "</configuration>", more.String()+"</configuration>", 1))
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// WithTLS are the properties of a client that speaks TLS and has no certificate. The servers of
// Secure speak it on the same ports.
func (c *Cluster) WithTLS() map[string]string {
	return map[string]string{
		"hbase.client.netty.tls.enabled": "true", "hbase.rpc.tls.keystore.location": "",
		"hbase.rpc.tls.truststore.location": c.TLS("trust.pkcs12"), "hbase.rpc.tls.truststore.password": StorePassword,
	}
}
