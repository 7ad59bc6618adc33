package main

import (
	"testing"

	"usertrail/internal/test/clustertest"
)

// TestALoadKeepsToItsRate puts at most the allowed cells per second, over the whole run.
func TestALoadKeepsToItsRate(t *testing.T) {
	c := clustertest.Get(t)
	t.Setenv("HADOOP_CONF_DIR", c.ConfDir())
	j := writeJob(t, t.TempDir(), `{path: "hbase://`+c.ZooKeeper()+"/"+c.Create(t, "d")+`", catalog: "`+t.TempDir()+`"}`)
	r := bulkloads(t, 0, "--job", j, "--from", "2014-09-01", "--to", "2014-09-01", "--mode", "put", "--max-rate", "puts=50/s", "--quiet")
	if r["loaded"] != 200.0 || r["paced"] == nil {
		t.Fatalf("%v; want 200 records, and that something waited for the rate", r)
	}
	if rate := r["cells"].(float64) / r["seconds"].(float64); rate > 50 {
		t.Errorf("%.0f cells a second, with a bound of 50: %v", rate, r)
	}
}
