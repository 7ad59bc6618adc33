package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"usertrail/cmd/internal/scripttest"
	"usertrail/internal/clustertest"
)

// TestASignalEndsALoadIntoHBaseCleanly sends one at random moments: while cells are put,
// while HFiles go to HDFS, while they are handed over. The next run finishes.
func TestASignalEndsALoadIntoHBaseCleanly(t *testing.T) {
	c := clustertest.Get(t)
	dir := sampleDays(t, "20000")
	env := []string{"HADOOP_CONF_DIR=" + c.ConfDir()}
	for _, mode := range []string{"put", "hfile"} {
		t.Run(mode, func(t *testing.T) {
			table := c.Create(t, "d", "split=3", "split=6")
			job := strings.Replace(sampleJob, "table: trails", fmt.Sprintf("table: {path: %q, catalog: %q}",
				"hbase://"+c.ZooKeeper()+"/"+table, c.HDFS(t)+"/catalog"), 1)
			if err := os.WriteFile(filepath.Join(dir, mode+".yaml"), []byte(job), 0o666); err != nil {
				t.Fatal(err)
			}
			load := func() *scripttest.Process {
				return scripttest.Start(t, dir, env, "bulkload", "--job", mode+".yaml", "--mode", mode, "--from", "2014-09-01", "--to", "2014-09-04",
					"--memory", "64MiB", "--wait", "3m", "--settle", "0", "--retry-for", "1m")
			}
			stopped := 0
			for range 5 {
				p := load()
				p.Listens(t)
				time.Sleep(rand.N(2 * time.Second))
				p.Signal(syscall.SIGTERM)
				status, last := p.Wait(t)
				if status == 1 {
					stopped++
					if text, _ := last["error"].(string); !strings.HasPrefix(text, "stopped by SIGTERM") {
						t.Errorf("the last line has the error %q", text)
					}
				} else if status != 0 && status != 99 {
					t.Fatalf("ended with status %d: %s", status, p.Stderr.String())
				}
			}
			t.Logf("%d of 5 were stopped in the middle", stopped)
			if p := load(); true {
				if status, _ := p.WaitFor(t, 5*time.Minute); status != 0 && status != 99 {
					t.Fatalf("the last run ended with status %d: %s", status, p.Stderr.String())
				}
			}
			verified := scripttest.Start(t, dir, env, "bulkload", "verify", "--job", mode+".yaml")
			status, last := verified.WaitFor(t, 5*time.Minute)
			if status != 0 || scripttest.Number(t, last, "records") == 0 {
				t.Errorf("verify ended with status %d: %v\n%s", status, last, verified.Stdout.String())
			}
			runs := scripttest.Start(t, dir, env, "bulkload", "runs", "--job", mode+".yaml", "--json")
			if status, last := runs.Wait(t); status != 0 || scripttest.Number(t, last, "runs") < 2 || strings.Contains(runs.Stdout.String(), `"state":"died"`) {
				t.Errorf("the journal of a live table tells, with status %d:\n%s", status, runs.Stdout.String())
			}
		})
	}
}
