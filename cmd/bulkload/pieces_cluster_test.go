package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/hdfs"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
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
		nights := twoNights(t, dir, j)
		if way == "one" {
			bulkloads(t, 0, append(nights, "--mode", "put", "--quiet")...)
			want = c.Digest(t, name)
			continue
		}
		lines := planPieces(t, append(nights, "--mode", way, "--piece-size", "7KiB")...)
		if len(lines) != 2 {
			t.Fatalf("%d pieces, want 2", len(lines))
		}
		pieces := writePieces(t, dir, lines)
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

// twoNights writes the log of a second night, and returns the flags of a load of both.
func twoNights(t *testing.T, dir, job string) []string {
	t.Helper()
	second := filepath.Join(dir, "logs", "2014-09-02", "play.csv")
	testkit.WriteFile(t, second, strings.ReplaceAll(nightOf(200, 300), "2014-09-01", "2014-09-02"))
	return []string{"--job", job, "--from", "2014-09-01", "--to", "2014-09-02"}
}

// writePieces writes the lines of pieces to a file and returns its name.
func writePieces(t *testing.T, dir string, lines []string) string {
	t.Helper()
	name := filepath.Join(dir, "pieces")
	testkit.WriteFile(t, name, strings.Join(lines, "\n"))
	return name
}

// TestDamagedPiecesAreDoneAgain damages the files of finished pieces on the cluster's HDFS: an
// HFile is cut, another is changed, a roll is removed. No region gets such a file. The commit
// names the piece, and the same piece and commit continue.
func TestDamagedPiecesAreDoneAgain(t *testing.T) {
	c := clustertest.Get(t)
	t.Setenv("HADOOP_CONF_DIR", c.ConfDir())
	dir, catalog := t.TempDir(), c.HDFS(t)+"/catalog"
	name := c.Create(t, "d", "split=0100")
	j := writeJob(t, dir, fmt.Sprintf("{path: %q, catalog: %q}", "hbase://"+c.ZooKeeper()+"/"+name, catalog))
	lines := planPieces(t, append(twoNights(t, dir, j), "--mode", "hfile", "--piece-size", "7KiB")...)
	pieces := writePieces(t, dir, lines)
	for _, line := range lines {
		bulkloads(t, 0, "run-piece", "--quiet", "--piece", line)
	}
	for _, x := range []struct {
		what, file string
		change     func(b []byte) []byte // nil removes the file
	}{
		{"an HFile that was cut", "/pieces/*/staging/d/*.hfile", func(b []byte) []byte { return b[:len(b)/2] }},
		{"an HFile that was changed", "/pieces/*/staging/d/*.hfile", func(b []byte) []byte { b[len(b)/3] ^= 1; return b }},
		{"an HFile that was removed", "/pieces/*/staging/d/*.hfile", func([]byte) []byte { return nil }},
		{"a roll that was changed", "/pieces/*/*.roll", func(b []byte) []byte { b[len(b)/3] ^= 1; return b }},
	} {
		changeFile(t, catalog+x.file, x.change)
		if r := bulkloads(t, 75, "commit", "--quiet", "--pieces", pieces); !strings.Contains(fmt.Sprint(r["error"]), "run it again, then commit") || r["loaded"] != 0.0 {
			t.Errorf("%s: committed %v", x.what, r)
		}
		if got := c.Digest(t, name); got.Cells != 0 {
			t.Errorf("%s: the table has %d cells", x.what, got.Cells)
		}
		for _, line := range lines {
			bulkloads(t, 0, "run-piece", "--quiet", "--piece", line)
		}
	}
	if r := bulkloads(t, 0, "commit", "--quiet", "--pieces", pieces); r["loaded"] != 300.0 || r["cells"] != float64(c.Digest(t, name).Cells) {
		t.Errorf("committed %v", r)
	}
	bulkloads(t, 0, "verify", "--job", j)
}

// changeFile changes the last file on HDFS that a pattern finds.
func changeFile(t *testing.T, pattern string, change func(b []byte) []byte) {
	t.Helper()
	files := hdfs.New(hdfs.Config{})
	all, err := dfs.Glob(t.Context(), files, pattern)
	if err != nil || len(all) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(all), err)
	}
	name := all[len(all)-1].Name
	b, err := dfs.ReadFile(t.Context(), files, name)
	if err == nil {
		err = files.Remove(t.Context(), name)
	}
	if b = change(b); err == nil && b != nil {
		err = dfs.WriteFile(t.Context(), files, name, b)
	}
	if err != nil {
		t.Fatal(err)
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
