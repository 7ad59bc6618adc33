package live_test

import (
	"fmt"
	"testing"

	"usertrail/internal/format/layout"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/hdfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/store/secure"
	"usertrail/internal/store/secure/kerberos"
	"usertrail/internal/table"
	"usertrail/internal/table/live"
	"usertrail/internal/table/tabletest"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// A visitor is a user of the secured cluster, with the configuration of a client.
type visitor struct {
	c    *clustertest.Cluster
	id   *secure.Identity
	conf *hadoopconf.Conf
	fs   dfs.FS
}

// visit returns a user who logs in by a keytab.
func visit(t *testing.T, c *clustertest.Cluster, user string, properties map[string]string) *visitor {
	t.Helper()
	conf, err := hadoopconf.Load(c.ClientConf(t, properties))
	if err != nil {
		t.Fatal(err)
	}
	id := secure.New(secure.Config{Kerberos: kerberos.Config{Krb5Conf: c.Krb5Conf(), Keytab: c.Keytab(user)}})
	files := hdfs.New(hdfs.Config{Identity: id, Conf: func() (*hadoopconf.Conf, error) { return conf, nil }})
	return &visitor{c: c, id: id, conf: conf, fs: dfs.NewMux(map[string]dfs.FS{"": local.New(), hdfs.Scheme: files})}
}

// open returns a store, whose catalog is in a new directory on HDFS.
func (v *visitor) open(t *testing.T, name string, o live.Options) (*live.Store, error) {
	t.Helper()
	o.Conf, o.User = v.conf, v.id
	if o.Catalog == "" {
		o.Catalog = v.c.HDFS(t) + "/catalog"
	}
	s, err := live.Connect(t.Context(), v.fs, fmt.Sprintf("hbase://%s/%s", v.c.ZooKeeper(), name), o)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, nil
}

// protections are the settings of HBase and HDFS for each protection.
var protections = map[string]map[string]string{
	"authentication": {hadoopconf.HBaseProtection: "authentication", hadoopconf.RPCProtection: "authentication", hadoopconf.DataProtection: "authentication"},
	"integrity":      {hadoopconf.HBaseProtection: "integrity", hadoopconf.RPCProtection: "integrity", hadoopconf.DataProtection: "integrity"},
	"privacy":        {hadoopconf.HBaseProtection: "privacy", hadoopconf.RPCProtection: "privacy", hadoopconf.DataProtection: "privacy"},
}

// TestASecuredTableIsATable runs the suite by puts and by HFiles, in each protection. Alice has the
// rights that docs/howto/security.md names, and no others.
func TestASecuredTableIsATable(t *testing.T) {
	testkit.OnlyAll(t, "the suite without Kerberos, and where a secured cluster is up by TestSecuredCluster of internal/test/faults")
	for name, properties := range protections {
		for way, rights := range map[tabletest.Way]string{tabletest.Puts: "RW", tabletest.Files: "RC"} {
			t.Run(fmt.Sprintf("%s, %v", name, rights), func(t *testing.T) {
				t.Parallel()
				c := clustertest.Secure(t)
				alice := visit(t, c, clustertest.Alice, properties)
				tabletest.Run(t, way, func(t *testing.T, l layout.Layout) table.Store {
					table := createFor(t, c, l)
					c.Admin(t, "grant", clustertest.Alice, rights, table)
					s, err := alice.open(t, table, live.Options{Family: "d"})
					if err != nil {
						t.Fatal(err)
					}
					return s
				})
			})
		}
	}
}
