package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// bulkloads runs a command line against the cluster, checks its status, and returns the
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

// writeJob writes a job file and some logs.
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
		testkit.WriteFile(t, path, text)
	}
	return name
}

// TestATableIsMadeCheckedAndLoaded creates a table, runs the pre-check and loads it.
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
	if r := bulkloads(t, 0, check...); r["ok"] != 16.0 {
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

// TestALayoutMakesItsTable creates tables of layouts that need other settings in HBase than
// the default layout.
func TestALayoutMakesItsTable(t *testing.T) {
	c := clustertest.Get(t)
	t.Setenv("HADOOP_CONF_DIR", c.ConfDir())
	dir := t.TempDir()
	place := func(name string) string {
		return fmt.Sprintf("{path: \"hbase://%s/%s\", catalog: %q, compression: gz}", c.ZooKeeper(), name, c.HDFS(t)+"/"+name)
	}
	j := writeJob(t, dir, place(c.Table(t))+"\nlayout: hashed")
	night := []string{"--job", j, "--from", "2014-09-01", "--to", "2014-09-01"}
	check := append([]string{"pre-check"}, night...)
	r := bulkloads(t, 0, "create-table", "--job", j)
	settings, ok := r["settings"].(map[string]any)
	if !ok || settings["VERSIONS"] != "400" || settings["TTL"] != "31536000" || settings["BLOOMFILTER"] != "ROW" || r["regions"] != 16.0 {
		t.Errorf("made: %v", r)
	}
	if r := bulkloads(t, 0, check...); r["fail"] != 0.0 || r["warn"] != 1.0 || !strings.Contains(fmt.Sprint(r["checks"]), "16, all open, split as the layout requires") {
		t.Errorf("when it is made, with days older than its TTL: %v", r)
	}

	writeJob(t, dir, place(c.Create(t, "d"))+"\nlayout: hashed")
	r = bulkloads(t, 64, check...)
	if got := fmt.Sprint(r["error"]); !strings.Contains(got, "VERSIONS of family d is 1, and the layout needs 400") || !strings.Contains(got, "VERSIONS => 400}") {
		t.Errorf("of one version: %v", r)
	}
	r = bulkloads(t, 64, append(night, "--quiet")...)
	if got := fmt.Sprint(r["error"]); r["loaded"] != 0.0 || !strings.Contains(got, "pre-check family-fit: ") {
		t.Errorf("loaded into one version: %v", r)
	}

	files := filepath.Join(dir, "trails")
	few := fmt.Sprintf("hbase://%s/%s", c.ZooKeeper(), c.Create(t, "d"))
	many := fmt.Sprintf("hbase://%s/%s", c.ZooKeeper(), c.Create(t, "d", "VERSIONS=400"))
	bulkloads(t, 0, append(night, "--quiet", "--table", files)...)
	if got := fmt.Sprint(bulkloads(t, 64, "import", "--from", files, "--table", few)["error"]); !strings.Contains(got, "VERSIONS of family d is 1, and the layout needs 400") {
		t.Errorf("imported into one version: %s", got)
	}
	if r := bulkloads(t, 0, "import", "--from", files, "--table", many, "--quiet"); r["loaded"] != 200.0 {
		t.Errorf("imported: %v", r)
	}
}

// TestWhatALayoutCannotHoldIsNotPut loads users that are not numbers of three digits, by
// puts and by HFiles.
func TestWhatALayoutCannotHoldIsNotPut(t *testing.T) {
	c := clustertest.Get(t)
	t.Setenv("HADOOP_CONF_DIR", c.ConfDir())
	dir := t.TempDir()
	name := c.Create(t, "d")
	address := fmt.Sprintf("hbase://%s/%s", c.ZooKeeper(), name)
	j := writeJob(t, dir, fmt.Sprintf("{path: %q, catalog: %q}\nlayout: fixed/3", address, c.HDFS(t)+"/catalog"))
	for _, mode := range []string{"put", "hfile"} {
		r := bulkloads(t, 64, "--job", j, "--from", "2014-09-01", "--to", "2014-09-01", "--mode", mode, "--quiet")
		got := fmt.Sprint(r["error"])
		for _, says := range []string{"logs/2014-09-01/play.csv: ", "record at byte ", `user ID "0`, "layout"} {
			if !strings.Contains(got, says) {
				t.Errorf("by %s: %s, without %q", mode, got, says)
			}
		}
		if r["loaded"] != 0.0 || r["quarantined"] != 0.0 {
			t.Errorf("by %s: %v", mode, r)
		}
	}
	if d := c.Digest(t, name); d.Cells != 0 {
		t.Errorf("the table has %d cells", d.Cells)
	}
}

// TestATableMadeAgainIsForgotten drops a table with its rows and creates it again. Commands
// refuse the old catalog until forget has moved it.
func TestATableMadeAgainIsForgotten(t *testing.T) {
	c := clustertest.Get(t)
	t.Setenv("HADOOP_CONF_DIR", c.ConfDir())
	name := c.Table(t)
	j := writeJob(t, t.TempDir(), fmt.Sprintf("{path: \"hbase://%s/%s\", catalog: %q, compression: gz}", c.ZooKeeper(), name, c.HDFS(t)+"/catalog"))
	night := []string{"--job", j, "--from", "2014-09-01", "--to", "2014-09-01"}
	create := append([]string{"create-table", "--regions", "4"}, night...)
	for _, mode := range []string{"put", "hfile"} {
		load := append(night, "--mode", mode, "--quiet")
		bulkloads(t, 0, create...)
		bulkloads(t, 0, load...)
		bulkloads(t, 99, load...)
		if r := bulkloads(t, 64, "forget", "--job", j); !strings.Contains(fmt.Sprint(r["error"]), "truncate") {
			t.Errorf("with rows: %v", r)
		}
		c.Admin(t, "drop", name)
		bulkloads(t, 0, create...)
		for _, args := range [][]string{load, append([]string{"pre-check"}, night...)} {
			if r := bulkloads(t, 64, args...); !strings.Contains(fmt.Sprint(r["error"]), "bulkload forget") {
				t.Errorf("%s of a table made again: %v", args[0], r)
			}
		}
		if r := bulkloads(t, 1, "verify", "--job", j, "--quiet"); r["differing_days"] != 1.0 {
			t.Errorf("verified: %v", r)
		}
		if r := bulkloads(t, 0, "forget", "--job", j); !strings.Contains(fmt.Sprint(r["forgotten"]), "/forgotten/00000") {
			t.Errorf("forgotten: %v", r)
		}
		bulkloads(t, 99, "forget", "--job", j)
		if r := bulkloads(t, 0, load...); r["loaded"] != 200.0 {
			t.Errorf("loaded again: %v", r)
		}
		bulkloads(t, 0, "verify", "--job", j, "--quiet")
		c.Admin(t, "drop", name)
		bulkloads(t, 0, create...)
		bulkloads(t, 0, "forget", "--job", j)
		c.Admin(t, "drop", name)
	}
}
