package clustertest

import (
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/hdfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/store/secure"
	"usertrail/internal/store/secure/kerberos"
)

// Files returns a file system with the local files and the cluster's HDFS.
func (c *Cluster) Files() dfs.FS { return c.files(nil) }

// FilesOf is Files for a user of a secured cluster.
func (c *Cluster) FilesOf(user string) dfs.FS {
	return c.files(secure.New(secure.Config{Kerberos: kerberos.Config{Krb5Conf: c.Krb5Conf(), Keytab: c.Keytab(user)}}))
}

func (c *Cluster) files(id *secure.Identity) dfs.FS {
	conf := func() (*hadoopconf.Conf, error) { return hadoopconf.Load(c.ConfDir()) }
	return dfs.NewMux(map[string]dfs.FS{"": local.New(), hdfs.Scheme: hdfs.New(hdfs.Config{Conf: conf, Identity: id})})
}
