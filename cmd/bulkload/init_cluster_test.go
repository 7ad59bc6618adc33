package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/bulkload/samplelog"
	"usertrail/internal/test/clustertest"
)

// TestInitDraftsAJobOfLogsOnHDFS writes the draft of a job for logs on HDFS to HDFS too, and
// loads the logs with it.
func TestInitDraftsAJobOfLogsOnHDFS(t *testing.T) {
	c := clustertest.Get(t)
	t.Setenv("HADOOP_CONF_DIR", c.ConfDir())
	dir := c.HDFS(t)
	s, err := samplelog.Write(t.Context(), cli.Files(), dir+"/logs", samplelog.Config{Records: 2000, Days: 2, Compress: "zst"})
	if err != nil {
		t.Fatal(err)
	}
	local := filepath.Join(t.TempDir(), "usertrail.yaml")
	for _, out := range []string{local, dir + "/jobs/usertrail.yaml"} {
		init := []string{"init", dir + "/logs", "--zone", samplelog.Zone, "--table", dir + "/trails", "--out", out}
		if r := bulkloads(t, 0, init...); r["good"] != r["records"] || r["records"] == 0.0 || r["skipped_files"] != 0.0 {
			t.Errorf("%s: %v", out, r)
		}
		if r := bulkloads(t, 73, init...); !strings.Contains(r["error"].(string), "name another file with --out") {
			t.Errorf("%s again: %v", out, r)
		}
	}
	text, err := os.ReadFile(local)
	if err != nil {
		t.Fatal(err)
	}
	if want := "\n  path: " + dir + "/logs/{date}/{behaviour}.csv.zst\n"; !strings.Contains(string(text), want) {
		t.Errorf("the draft has no%s%s", want, text)
	}
	r := bulkloads(t, 0, "--job", dir+"/jobs/usertrail.yaml", "--from", "2014-09-01", "--to", "2014-09-03", "--quiet")
	if r["loaded"] != float64(s.Records) {
		t.Errorf("%v, want %d loaded", r, s.Records)
	}
}
