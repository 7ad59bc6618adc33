package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"usertrail/cmd/internal/scripttest"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// TestASignalEndsALoadIntoHBaseCleanly sends a signal at steps of loads of one table, and in
// complete test runs at every step: while cells are put, while HFiles are written to HDFS,
// while they are handed over, and after the commit but before the end of the run. The next
// run finishes the load.
func TestASignalEndsALoadIntoHBaseCleanly(t *testing.T) {
	c := clustertest.Get(t)
	dir := sampleDays(t, "20000")
	env := []string{"HADOOP_CONF_DIR=" + c.ConfDir()}
	some := map[string][]string{
		"put":   {breakpoint.Put, breakpoint.Ledger},
		"hfile": {breakpoint.Segment, breakpoint.Handover, breakpoint.Handed},
	}
	all := map[string][]string{
		"put":   {breakpoint.Begun, breakpoint.Read, breakpoint.Batch, breakpoint.Put, breakpoint.Commit, breakpoint.Ledger, breakpoint.Loaded},
		"hfile": {breakpoint.Begun, breakpoint.Batch, breakpoint.Segment, breakpoint.Handover, breakpoint.Handed, breakpoint.Commit, breakpoint.Ledger, breakpoint.Loaded},
	}
	for mode, steps := range testkit.Pick(some, all) {
		t.Run(mode, func(t *testing.T) {
			table := c.Create(t, "d", "split=3", "split=6")
			job := strings.Replace(sampleJob, "table: trails", fmt.Sprintf("table: {path: %q, catalog: %q}",
				"hbase://"+c.ZooKeeper()+"/"+table, c.HDFS(t)+"/catalog"), 1)
			testkit.WriteFile(t, filepath.Join(dir, mode+".yaml"), job)
			load := func(more []string) *scripttest.Process {
				return scripttest.Start(t, dir, append(more, env...), "bulkload", "--job", mode+".yaml", "--mode", mode, "--from", "2014-09-01", "--to", "2014-09-04",
					"--memory", "64MiB", "--wait", "3m", "--settle", "0", "--retry-for", "1m")
			}
			for _, step := range steps {
				p := load(scripttest.Holds(step, 1))
				p.Stops(t)
				p.GoOn(t, syscall.SIGTERM)
				status, last := p.Wait(t)
				text, _ := last["error"].(string)
				if status != 1 || !strings.HasPrefix(text, "stopped by SIGTERM") {
					t.Errorf("at the step %s: ended with status %d, and the last line has the error %q: %s", step, status, text, p.Stderr.String())
				}
			}
			p := load(nil)
			if status, _ := p.Wait(t); status != 0 && status != 99 {
				t.Fatalf("the last run ended with status %d: %s", status, p.Stderr.String())
			}
			verified := scripttest.Start(t, dir, env, "bulkload", "verify", "--job", mode+".yaml")
			status, last := verified.Wait(t)
			if status != 0 || scripttest.Number(t, last, "records") == 0 {
				t.Errorf("verify ended with status %d: %v\n%s", status, last, verified.Stdout.String())
			}
			runs := scripttest.Start(t, dir, env, "bulkload", "runs", "--job", mode+".yaml", "--json")
			if status, last := runs.Wait(t); status != 0 || scripttest.Number(t, last, "runs") < 2 || strings.Contains(runs.Stdout.String(), `"state":"died"`) {
				t.Errorf("bulkload runs of a live table ends with status %d and prints:\n%s", status, runs.Stdout.String())
			}
		})
	}
}
