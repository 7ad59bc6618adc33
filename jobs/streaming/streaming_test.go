// Package streaming_test runs onyarn's loads and extracts on a real YARN, kills attempts
// of tasks, and compares the results with the results of one process. It has only tests.
package streaming_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"usertrail/internal/bulkload/samplelog"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/dfs"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// limit is the longest time of one program. The program may wait for a job of YARN.
const limit = 15 * time.Minute

// sample describes the logs that are loaded: eight files.
var sample = samplelog.Config{Records: 80_000, Users: 2_000, Days: 2, Seed: 9, Bad: samplelog.DefaultBad, Compress: "gz"}

// span has the flags for the days of the sample.
var span = []string{"--from", "2014-09-01", "--to", "2014-09-02"}

// A fixture has logs on HDFS, and a cluster that loads them.
type fixture struct {
	c     *clustertest.Cluster
	y     *clustertest.YARN
	files dfs.FS
	env   []string // environment variables that name Hadoop
	dir   string   // local directory with bin and the job files
	hdfs  string   // directory on HDFS with the logs and the tables
}

func newFixture(t *testing.T) *fixture {
	dir := t.TempDir()
	if os.Getenv("USERTRAIL_CLUSTER") != "none" {
		build(t, dir) // before the cluster is asked for, because it may take a while
	}
	c := clustertest.Get(t)
	return onCluster(t, c, c.Files(), dir)
}

// onCluster returns a fixture on a cluster, with the programs in dir. env has more variables.
func onCluster(t *testing.T, c *clustertest.Cluster, files dfs.FS, dir string, env ...string) *fixture {
	t.Helper()
	w := &fixture{c: c, y: c.YARN(t), dir: dir, hdfs: c.HDFS(t), files: files}
	w.env = append(env, "USERTRAIL_YARN_DIR="+w.hdfs+"/lines", "HADOOP_HOME="+w.y.Home())
	if _, err := samplelog.Write(t.Context(), w.files, w.hdfs+"/logs", sample); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestMain(m *testing.M) { testkit.Main(m) }

// build puts both commands into dir/bin.
func build(t *testing.T, dir string) {
	t.Helper()
	programs := testkit.Commands(t)
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bulkload", "extract"} {
		program, err := os.ReadFile(filepath.Join(programs, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "bin", name), program, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// job writes a job for a table, and returns the flag that names the job. table is an address, or
// a mapping in the flow style of YAML.
func (w *fixture) job(t *testing.T, name, table string) string {
	t.Helper()
	file := filepath.Join(w.dir, name+".yaml")
	text := fmt.Sprintf("logs: {path: %q, zone: Asia/Shanghai}\ntable: %s\n%s", w.hdfs+"/logs/{date}/{behaviour}.csv.gz", table, testkit.SampleBehaviours)
	testkit.WriteFile(t, file, text)
	return "--job=" + file
}

// live makes a table in HBase and a job for it. name is in the name of the job and of the catalog.
func (w *fixture) live(t *testing.T, name string) (job, table string) {
	t.Helper()
	table = w.c.Create(t, "d", "split=2", "split=5", "split=8")
	address := "hbase://" + w.c.ZooKeeper() + "/" + table
	return w.job(t, name, fmt.Sprintf("{path: %q, catalog: %q}", address, w.hdfs+"/catalog-"+name)), table
}

// A process is a program that runs.
type process struct {
	t              *testing.T
	y              *clustertest.YARN
	name           string
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	ended          chan struct{}
	err            error // of Wait, when it has ended
}

// start starts a program with the variables that name Hadoop, and without variables of the test.
func (w *fixture) start(t *testing.T, program string, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	p := &process{
		t: t, y: w.y, name: filepath.Base(program) + " " + strings.Join(args, " "),
		cmd: exec.CommandContext(ctx, program, args...), ended: make(chan struct{}),
	}
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.WaitDelay = 30 * time.Second
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	p.cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "USERTRAIL_") || strings.HasPrefix(v, "HADOOP_") })
	p.cmd.Env = append(append(p.cmd.Env, "USERTRAIL_BIN="+filepath.Join(w.dir, "bin")), w.env...)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		p.err = p.cmd.Wait()
	}()
	return p
}

// onyarn starts the script, with containers that are small enough to run at the same time.
func (w *fixture) onyarn(t *testing.T, args ...string) *process {
	t.Helper()
	return w.start(t, "./onyarn", append(args, "--memory", "256MiB", "--workers", "1")...)
}

// program starts bulkload or extract as one process.
func (w *fixture) program(t *testing.T, name string, args ...string) *process {
	t.Helper()
	return w.start(t, filepath.Join(w.dir, "bin", name), args...)
}

// ends waits for the end of the process, compares its status, and returns the last line of
// standard output.
func (p *process) ends(status int) map[string]any {
	p.t.Helper()
	<-p.ended
	if status := (*exec.ExitError)(nil); p.err != nil && !errors.As(p.err, &status) {
		p.t.Fatalf("%s: %v", p.name, p.err)
	}
	lines := strings.Split(strings.TrimRight(p.stdout.String(), "\n"), "\n")
	var last map[string]any
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		p.t.Fatalf("%s: the last line is %q: %v\n%s", p.name, lines[len(lines)-1], err, p.stderr.Bytes())
	}
	if got := p.cmd.ProcessState.ExitCode(); got != status || last["status"] != float64(status) {
		p.t.Fatalf("%s ended with status %d, and says %v; want %d\n%s", p.name, got, last["status"], status, p.stderr.Bytes())
	}
	return last
}

// counters returns the counters of the group usertrail. Hadoop's client prints them when a job ends.
func (p *process) counters() map[string]int64 {
	_, text, _ := strings.Cut(p.stderr.String(), "\n\tusertrail\n")
	counts := map[string]int64{}
	for line := range strings.Lines(text) {
		m := regexp.MustCompile(`^\t\t(.*)=(\d+)\n$`).FindStringSubmatch(line)
		if m == nil {
			break
		}
		counts[m[1]], _ = strconv.ParseInt(m[2], 10, 64)
	}
	return counts
}

// counted compares the job's counters with the fields of the last line.
func (p *process) counted(last map[string]any, names map[string]string) {
	p.t.Helper()
	counts := p.counters()
	for counter, field := range names {
		if want, ok := last[field].(float64); !ok || counts[counter] != int64(want) {
			p.t.Errorf("%s: YARN counted %s %d times, commit says %s: %v", p.name, counter, counts[counter], field, last[field])
		}
	}
}

// stopping is the property of a job whose attempts stop when they reach a step of package
// breakpoint for the first time. The commands are built with -tags breakpoints.
func stopping(step string) string {
	return "mapreduce.map.env=" + breakpoint.Variable + "=" + step + ":1:hold"
}

// signalAtStep waits until a first attempt of the job has stopped at its step, sends it signals,
// and returns it. All other attempts continue from the step.
func (p *process) signalAtStep(program string, signals ...syscall.Signal) clustertest.Attempt {
	p.t.Helper()
	for {
		for _, a := range p.y.Attempts(program) {
			if strings.HasSuffix(a.Name, "_0") && testkit.Stopped(a.PID) {
				if err := a.Signal(signals...); err != nil {
					p.t.Error(err)
				}
				go p.continueOthers(program, a)
				return a
			}
		}
		select {
		case <-p.ended:
			p.t.Fatalf("%s ended before an attempt stopped\n%s", p.name, p.stderr.Bytes())
		case <-time.After(pause):
		}
	}
}

// killChildAtStep waits until a child of the script that runs the program has stopped at its step,
// and kills it.
func (p *process) killChildAtStep(program string) {
	p.t.Helper()
	for {
		all, _ := filepath.Glob("/proc/[0-9]*") // the pattern is valid
		for _, dir := range all {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			if file, err := os.Readlink(filepath.Join(dir, "exe")); err != nil || filepath.Base(file) != program {
				continue
			}
			if testkit.Parent(pid) == p.cmd.Process.Pid && testkit.Stopped(pid) {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					p.t.Fatal(err)
				}
				return
			}
		}
		select {
		case <-p.ended:
			p.t.Fatalf("%s ended before %s stopped\n%s", p.name, program, p.stderr.Bytes())
		case <-time.After(pause):
		}
	}
}

// continueOthers continues all attempts except one, until the job ends.
func (p *process) continueOthers(program string, but clustertest.Attempt) {
	for {
		for _, a := range p.y.Attempts(program) {
			if a.Name != but.Name && testkit.Stopped(a.PID) {
				_ = a.Signal(syscall.SIGUSR2, syscall.SIGCONT) // it may have been killed
			}
		}
		select {
		case <-p.ended:
			return
		case <-time.After(pause):
		}
	}
}

// pause is the time between two checks of the processes of containers. It limits nothing.
const pause = 20 * time.Millisecond

// failed checks that Hadoop counts an attempt as failed. For the last attempt, with which the
// job fails, Hadoop's client may name only the task.
func (p *process) failed(a clustertest.Attempt) {
	p.t.Helper()
	task := "task_" + strings.TrimSuffix(strings.TrimPrefix(a.Name, "attempt_"), "_0")
	said := p.stderr.String()
	if !strings.Contains(said, "Task Id : "+a.Name+", Status : FAILED") && !strings.Contains(said, "Task failed "+task) {
		p.t.Errorf("%s: Hadoop does not say that %s failed:\n%s", p.name, a.Name, p.stderr.Bytes())
	}
}

// digests returns the digests of the files of a directory whose names have the ending.
func (w *fixture) digests(t *testing.T, dir, ending string) map[string]string {
	t.Helper()
	all, err := w.files.List(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for _, f := range all {
		if name := dfs.Base(f.Name); strings.HasSuffix(name, ending) {
			b, err := dfs.ReadFile(t.Context(), w.files, dfs.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(b)
			sums[name] = hex.EncodeToString(sum[:])
		}
	}
	return sums
}

// queryFlags returns the flags of a query for all events of a table.
func queryFlags(table, out string, more ...string) []string {
	args := append([]string{"--table", table, "--users", "all", "--active", "any", "--types", "play,order,visit,login", "--out", out}, span...)
	return append(args, more...)
}

// rows returns all events of a table as csv.
func (w *fixture) rows(t *testing.T, table string) string {
	t.Helper()
	p := w.program(t, "extract", queryFlags(table, "-", "--format", "csv")...)
	if <-p.ended; p.err != nil {
		t.Fatalf("%s: %v\n%s", p.name, p.err, p.stderr.Bytes())
	}
	return p.stdout.String()
}

// loadCounters maps the counters of a load's pieces to the fields of its last line.
var loadCounters = map[string]string{"read": "read", "loaded": "loaded", "quarantined": "quarantined", "cells": "cells"}

// TestPiecesOnYARN is one test, because all its steps use one fixture.
func TestPiecesOnYARN(t *testing.T) {
	w := newFixture(t)
	one := w.hdfs + "/one"
	w.program(t, "bulkload", append([]string{w.job(t, "one", one)}, span...)...).ends(0)
	t.Run("HFiles for a table of files", func(t *testing.T) { w.tableOfFiles(t, one) })
	if !testkit.All() {
		return // extracts and jobs that load into HBase are for complete runs
	}

	t.Run("an extract", func(t *testing.T) { w.extract(t, one) })
	job, table := w.live(t, "live")
	w.program(t, "bulkload", append([]string{job, "--mode", "put"}, span...)...).ends(0)
	want := w.c.Digest(t, table)
	t.Run("puts", func(t *testing.T) { w.puts(t, want) })
	t.Run("HFiles for HBase", func(t *testing.T) { w.hfiles(t, want) })
}

// tableOfFiles ends an attempt by SIGQUIT and SIGTERM, as Hadoop's timeout does.
func (w *fixture) tableOfFiles(t *testing.T, one string) {
	many := w.hdfs + "/many"
	reports := w.reporter("load")
	load := slices.Concat([]string{"load", w.job(t, "many", many), "--piece-size", "1600KiB"}, reports.flags(), span)
	p := w.onyarn(t, append(load, "-D", stopping(breakpoint.Segment))...)
	ended := p.signalAtStep("bulkload", syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGCONT)
	last := p.ends(0)
	p.failed(ended)
	p.counted(last, loadCounters)
	if n, _ := last["pieces"].(float64); n < 3 || last["read"] != float64(sample.Records) {
		t.Errorf("read %v records in %v pieces, want all of %d in some", last["read"], last["pieces"], sample.Records)
	}
	w.program(t, "bulkload", "verify", "--table", many).ends(0)
	if w.rows(t, many) != w.rows(t, one) {
		t.Error("there are other rows in the table than one process makes")
	}
	said := report{table: many, types: []string{"START", "COMPLETE"}, runs: 1, inputs: w.hdfs + "/logs", output: many}
	reports.check(t, "bulkload", "load", said)
	w.onyarn(t, load...).ends(99)
	said.status, said.types, said.runs = 99, slices.Repeat(said.types, 2), 2
	reports.check(t, "bulkload", "load", said)
}

// extractCounters maps the counters of an extract's pieces to the fields of its last line.
var extractCounters = map[string]string{"found": "found", "active": "active", "kept": "kept", "events": "events", "files": "files"}

// extract compares the parts of a job with the parts of one process. The commit is killed when the
// result has its name; the same command then removes what the commit left.
func (w *fixture) extract(t *testing.T, table string) {
	one, many := w.hdfs+"/out-one", w.hdfs+"/out-many"
	size := []string{"--piece-size", "30000"}
	last := w.program(t, "extract", queryFlags(table, one, size...)...).ends(0)
	want := w.digests(t, one, ".parquet")
	w.repeated(t, table, want, size...)

	reports := w.reporter("extract")
	extract := append([]string{"extract"}, queryFlags(table, many, append(size, reports.flags()...)...)...)
	p := w.killedCommit(t, breakpoint.Published, extract)
	p.counted(last, extractCounters)
	said := report{table: table, status: 1, types: []string{"START", "FAIL"}, runs: 1}
	reports.check(t, "extract", "extract", said)
	if _, err := w.files.Stat(t.Context(), partial(many)); err != nil {
		t.Errorf("a killed commit left nothing: %v", err)
	}
	w.onyarn(t, extract...).ends(99)
	said.status, said.types, said.runs, said.inputs, said.output = 99, append(said.types, "START", "COMPLETE"), 2, table, many
	reports.check(t, "extract", "extract", said)
	w.checkResult(t, many, want)
}

// repeated kills the only attempt of a piece, so the job fails. It then kills the commit before
// the result has its name. The same command continues each time. The piece of an attempt that
// was killed stays locked for a minute.
func (w *fixture) repeated(t *testing.T, table string, want map[string]string, size ...string) {
	out := w.hdfs + "/out-repeated"
	extract := append([]string{"extract"}, queryFlags(table, out, size...)...)
	p := w.onyarn(t, append(extract, "-D", "mapreduce.map.maxattempts=1", "-D", stopping(breakpoint.Part))...)
	killed := p.signalAtStep("extract", syscall.SIGKILL)
	if last := p.ends(1); !strings.Contains(fmt.Sprint(last["error"]), "yarn logs -applicationId application_") {
		t.Errorf("the job failed with %v, want where to look", last["error"])
	}
	p.failed(killed)
	w.killedCommit(t, breakpoint.Publish, extract)
	if _, err := w.files.Stat(t.Context(), out); err == nil {
		t.Error("after a failed job and a killed commit there is an extract")
	}
	p = w.onyarn(t, extract...)
	p.counted(p.ends(0), extractCounters)
	w.checkResult(t, out, want)
}

// killedCommit does an extract whose commit is killed at a step.
func (w *fixture) killedCommit(t *testing.T, step string, extract []string) *process {
	t.Helper()
	plain := w.env
	w.env = append(slices.Clone(plain), breakpoint.Variable+"="+step)
	p := w.onyarn(t, extract...)
	w.env = plain
	p.killChildAtStep("extract")
	if last := p.ends(1); !strings.Contains(fmt.Sprint(last["error"]), "extract commit was ended by signal 9") {
		t.Errorf("a killed commit says %v", last["error"])
	}
	return p
}

// checkResult checks the parts of a result, and that nothing else is left of it.
func (w *fixture) checkResult(t *testing.T, out string, want map[string]string) {
	t.Helper()
	if got := w.digests(t, out, ".parquet"); len(want) < 3 || !maps.Equal(got, want) {
		t.Errorf("the parts are %v, one process makes %v", got, want)
	}
	if _, err := w.files.Stat(t.Context(), partial(out)); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("the folder of the pieces is left: %v", err)
	}
}

// partial returns the folder next to out in which pieces write their parts.
func partial(out string) string { return dfs.Join(dfs.Dir(out), "."+dfs.Base(out)+".partial") }

// puts freezes an attempt until Hadoop's timeout ends it. Its lock on HDFS stays as long.
func (w *fixture) puts(t *testing.T, want clustertest.Digest) {
	job, table := w.live(t, "puts")
	p := w.onyarn(t, append([]string{"load", "-D", "mapreduce.task.timeout=60000", "-D", "mapreduce.task.timeout.check-interval-ms=500",
		"-D", stopping(breakpoint.Put), job, "--mode", "put", "--piece-size", "400KiB"}, span...)...)
	hung := p.signalAtStep("bulkload")
	last := p.ends(0)
	p.failed(hung)
	p.counted(last, loadCounters)
	if got := w.c.Digest(t, table); got != want {
		t.Errorf("the table is %+v, want %+v", got, want)
	}
	w.program(t, "bulkload", "verify", job).ends(0)
}

// hfiles runs the commands of docs/howto/yarn.md without the script, and kills an attempt.
func (w *fixture) hfiles(t *testing.T, want clustertest.Digest) {
	_, table := w.live(t, "usertrail")
	p := w.start(t, "bash", "-euo", "pipefail", "-c", byHand(t), w.dir)
	killed := p.signalAtStep("bulkload", syscall.SIGKILL)
	last := p.ends(0)
	p.failed(killed)
	p.counted(last, loadCounters)
	if got := w.c.Digest(t, table); got != want {
		t.Errorf("the table is %+v, want %+v", got, want)
	}
	w.program(t, "bulkload", "verify", "--job", filepath.Join(w.dir, "usertrail.yaml")).ends(0)
}

// byHand returns the shell block of the document, for a folder and a Hadoop of the test. It adds
// --mode hfile, because the sample is so small that auto would choose puts. Its attempts stop
// when they have written an HFile.
func byHand(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/howto/yarn.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(text), "\n```sh\n")
	block, _, closed := strings.Cut(block, "\n```\n")
	if !ok || !closed {
		t.Fatal("docs/howto/yarn.md has no block of sh")
	}
	for old, changed := range map[string]string{
		"bulkload plan ":              "bulkload plan --mode hfile ",
		"-D mapreduce.job.reduces=0 ": "-D mapreduce.job.reduces=0 -D " + stopping(breakpoint.Segment) + " ",
	} {
		if strings.Count(block, old) != 1 {
			t.Fatalf("the block of docs/howto/yarn.md has not %q once", old)
		}
		block = strings.Replace(block, old, changed, 1)
	}
	return "cd \"$0\"; PATH=$HADOOP_HOME/bin:$PATH; " + block
}
