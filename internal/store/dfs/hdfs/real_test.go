package hdfs_test

import (
	"testing"

	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/hdfs"
)

// TestAClusterHasOneName uses names of clusters without a connection to them.
func TestAClusterHasOneName(t *testing.T) {
	dir := t.TempDir()
	writeSite(t, dir, map[string]string{
		"fs.defaultFS": "hdfs://prod", "dfs.nameservices": "prod,spare",
		"dfs.ha.namenodes.prod": "a,b", "dfs.namenode.rpc-address.prod.a": "nn1:8020", "dfs.namenode.rpc-address.prod.b": "nn2:9000",
		"dfs.ha.namenodes.spare": "a,b", "dfs.namenode.rpc-address.spare.a": "nn3:8020", "dfs.namenode.rpc-address.spare.b": "nn4:8020",
	})
	fs := hdfs.New(hdfs.Config{Conf: func() (*hadoopconf.Conf, error) { return hadoopconf.Load(dir) }})
	for name, want := range map[string]string{
		"hdfs:///a/b": "hdfs:///a/b", "hdfs://prod/a/../b/": "hdfs:///b", "hdfs://nn1:8020/a": "hdfs:///a", "hdfs://NN1/a": "hdfs:///a", "HDFS://nn2:9000//a/.": "hdfs:///a",
		"hdfs://nn2/a": "hdfs://nn2:8020/a", "hdfs://nn5/a": "hdfs://nn5:8020/a", "hdfs://NN5:8020/a": "hdfs://nn5:8020/a", "hdfs://spare/a": "hdfs://spare/a",
		"hdfs://prod": "hdfs:///",
	} {
		if got, err := dfs.Real(t.Context(), fs, name); got != want || err != nil {
			t.Errorf("%s is %s, %v, want %s", name, got, err, want)
		}
	}
	for _, c := range []struct {
		dir, name string
		want      bool
	}{
		{"hdfs://prod/trails", "hdfs:///trails/x", true}, {"hdfs://prod", "hdfs://nn1:8020/x", true}, {"hdfs:///trails", "hdfs://nn5/trails", false},
		{"hdfs:///trails", "hdfs:///trails2", false},
	} {
		if got, err := dfs.Holds(t.Context(), fs, c.dir, c.name); got != c.want || err != nil {
			t.Errorf("%s holds %s: %t, %v", c.dir, c.name, got, err)
		}
	}
}
