package clustertest

import (
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/hdfs"
	"usertrail/internal/store/dfs/local"
)

// Files returns a file system with the local files and the cluster's HDFS.
func (c *Cluster) Files() dfs.FS {
	conf := func() (*hadoopconf.Conf, error) { return hadoopconf.Load(c.ConfDir()) }
	return dfs.NewMux(map[string]dfs.FS{"": local.New(), hdfs.Scheme: hdfs.New(hdfs.Config{Conf: conf})})
}
