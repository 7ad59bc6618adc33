package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/clustertest"
)

// bulkloads runs a command line against the cluster, wants its status, and returns the
// last line of its standard output.
func bulkloads(t *testing.T, want int, args ...string) map[string]any {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if got := run(t.Context(), args, strings.NewReader(""), &stdout, &stderr); got != want {
		t.Fatalf("bulkload %s ended with status %d, want %d\n%s%s", strings.Join(args, " "), got, want, stdout.Bytes(), stderr.Bytes())
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	last := map[string]any{}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatalf("bulkload %s: %v\n%s", strings.Join(args, " "), err, stdout.Bytes())
	}
	return last
}

// writeJob writes a job file beside some logs.
func writeJob(t *testing.T, dir, table string) string {
	t.Helper()
	var log strings.Builder
	log.WriteString("user_id,time,programme\n")
	for i := range 200 {
		fmt.Fprintf(&log, "%04d,2014-09-01 08:00:00,news\n", i)
	}
	name := filepath.Join(dir, "usertrail.yaml")
	for path, text := range map[string]string{
		filepath.Join(dir, "logs", "2014-09-01", "play.csv"): log.String(),
		name: "logs: logs/{date}/{behaviour}.csv\ntable: " + table + "\nbehaviours: {play: {id: 1, fields: {programme: string}}}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return name
}

// TestATableIsMadeCheckedAndLoaded goes the way of a newcomer to a cluster.
func TestATableIsMadeCheckedAndLoaded(t *testing.T) {
	c := clustertest.Get(t)
	t.Setenv("HADOOP_CONF_DIR", c.ConfDir())
	dir := t.TempDir()
	address := fmt.Sprintf("hbase://%s/%s", c.ZooKeeper(), c.Table(t))
	table := func(more string) string {
		return fmt.Sprintf("{path: %q, catalog: %q, compression: gz%s}", address, c.HDFS(t)+"/catalog", more)
	}
	j := writeJob(t, dir, table(""))
	night := []string{"--job", j, "--from", "2014-09-01", "--to", "2014-09-01"}
	create := append([]string{"create-table", "--regions", "4"}, night...)
	check := append([]string{"pre-check"}, night...)

	if r := bulkloads(t, 64, check...); r["fail"] != 1.0 || !strings.Contains(fmt.Sprint(r["error"]), "bulkload create-table") {
		t.Errorf("before it is made: %v", r)
	}
	r := bulkloads(t, 0, create...)
	if r["made"] != true || r["regions"] != 4.0 || r["sampled"] != 200.0 {
		t.Errorf("made: %v", r)
	}
	if r := bulkloads(t, 99, create...); r["made"] != false || r["differs"] != nil {
		t.Errorf("made again: %v", r)
	}
	if r := bulkloads(t, 0, check...); r["ok"] != 15.0 {
		t.Errorf("when it is made: %v", r)
	}
	if r := bulkloads(t, 0, append(night, "--quiet")...); r["loaded"] != 200.0 {
		t.Errorf("loaded: %v", r)
	}
	bulkloads(t, 99, night...)
	bulkloads(t, 0, check...)

	writeJob(t, dir, strings.Replace(table(", ttl: 400d"), "compression: gz", "compression: none", 1))
	r = bulkloads(t, 73, create...)
	if got := fmt.Sprint(r["differs"]); !strings.Contains(got, "COMPRESSION is GZ, not NONE") || !strings.Contains(got, "TTL is 2147483647, not 34560000") {
		t.Errorf("of another job: %v", r)
	}
}
