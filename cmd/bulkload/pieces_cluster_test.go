package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/test/clustertest"
)

// planPieces plans a load on the cluster, and returns its lines.
func planPieces(t *testing.T, args ...string) []string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if got := run(t.Context(), append([]string{"plan", "--quiet"}, args...), strings.NewReader(""), &stdout, &stderr); got != 0 {
		t.Fatalf("bulkload plan %s ended with status %d\n%s", strings.Join(args, " "), got, stderr.Bytes())
	}
	return strings.Split(strings.TrimSpace(stdout.String()), "\n")
}

// TestPiecesGoIntoARealHBase loads two files in pieces, by puts and by HFiles. The catalog of
// the HFiles is on HDFS. The test compares the tables with the table of one load.
func TestPiecesGoIntoARealHBase(t *testing.T) {
	c := clustertest.Get(t)
	t.Setenv("HADOOP_CONF_DIR", c.ConfDir())
	dir := t.TempDir()
	var want clustertest.Digest
	for _, way := range []string{"one", "put", "hfile"} {
		name := c.Create(t, "d", "split=0100", "COMPRESSION=SNAPPY")
		catalog := filepath.Join(dir, way)
		if way == "hfile" {
			catalog = c.HDFS(t) + "/catalog"
		}
		j := writeJob(t, dir, fmt.Sprintf("{path: %q, catalog: %q}", "hbase://"+c.ZooKeeper()+"/"+name, catalog))
		more := strings.ReplaceAll(nightOf(200, 300), "2014-09-01", "2014-09-02")
		second := filepath.Join(dir, "logs", "2014-09-02", "play.csv")
		if err := os.MkdirAll(filepath.Dir(second), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(second, []byte(more), 0o666); err != nil {
			t.Fatal(err)
		}
		nights := []string{"--job", j, "--from", "2014-09-01", "--to", "2014-09-02"}
		if way == "one" {
			bulkloads(t, 0, append(nights, "--mode", "put", "--quiet")...)
			want = c.Digest(t, name)
			continue
		}
		lines := planPieces(t, append(nights, "--mode", way, "--piece-size", "7KiB")...)
		if len(lines) != 2 {
			t.Fatalf("%d pieces, want 2", len(lines))
		}
		pieces := filepath.Join(dir, "pieces")
		if err := os.WriteFile(pieces, []byte(strings.Join(lines, "\n")), 0o666); err != nil {
			t.Fatal(err)
		}
		if r := bulkloads(t, 75, "commit", "--pieces", pieces); !strings.Contains(fmt.Sprint(r["error"]), "pieces 0-1 of 2") {
			t.Errorf("committed before it was done: %v", r)
		}
		for range 2 {
			for _, line := range lines {
				bulkloads(t, 0, "run-piece", "--quiet", "--piece", line)
			}
		}
		if r := bulkloads(t, 0, "commit", "--quiet", "--pieces", pieces); r["loaded"] != 300.0 {
			t.Errorf("committed: %v", r)
		}
		if got := c.Digest(t, name); got != want {
			t.Errorf("by %s in pieces the table is %+v, by one load %+v", way, got, want)
		}
		bulkloads(t, 99, "commit", "--pieces", pieces)
		bulkloads(t, 99, append(nights, "--quiet")...)
		bulkloads(t, 0, "verify", "--job", j)
	}
}

// nightOf returns a log of users with numbers of a range.
func nightOf(from, to int) string {
	var log strings.Builder
	log.WriteString("user_id,time,programme\n")
	for i := from; i < to; i++ {
		fmt.Fprintf(&log, "%04d,2014-09-01 08:00:00,news\n", i)
	}
	return log.String()
}
