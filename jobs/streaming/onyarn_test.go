package streaming_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload/samplelog"
	"usertrail/internal/store/dfs/local"
)

// newLocal is a world without servers. Its Hadoop is out of reach: the program java
// ends with a failure.
func newLocal(t *testing.T) *world {
	dir := t.TempDir()
	build(t, dir)
	w := &world{files: local.New(), dir: dir, hdfs: dir, env: []string{"PATH=/usr/bin:/bin", "JAVA_HOME=" + dir, "HADOOP_CLASSPATH=none"}}
	if err := os.WriteFile(filepath.Join(dir, "bin", "java"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := samplelog.Write(t.Context(), w.files, dir+"/logs", samplelog.Config{Records: 1000, Users: 100, Days: 2, Seed: 1, Compress: "gz"}); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestStatusesBeforeAJob(t *testing.T) {
	w := newLocal(t)
	job := w.job(t, "job", w.dir+"/trails")
	w.hdfs = w.dir + "/none"
	noLogs := w.job(t, "none", w.dir+"/trails")
	load := append([]string{"load", job}, span...)
	says := func(p *process, status int, words string) {
		t.Helper()
		if last := p.ends(status); !strings.Contains(fmt.Sprint(last["error"]), words) {
			t.Errorf("%s: the error is %q, want %q", p.name, last["error"], words)
		}
	}
	onyarn := func(args ...string) *process { return w.start(t, "./onyarn", args...) }

	says(onyarn(), 64, "load or extract")
	says(onyarn("unload"), 64, "load or extract")
	says(onyarn("load", "-D"), 64, "-D takes NAME=VALUE")
	says(onyarn(append(load, "--memory")...), 64, "--memory needs a value")
	says(onyarn(append(load, "--memory", "1.5GiB")...), 64, "--memory 1.5GiB")
	says(onyarn(append(load, "--workers", "few")...), 64, "--workers few")

	says(onyarn(append(load, "--memroy", "1GiB")...), 64, "did you mean --memory?")
	says(onyarn(append([]string{"load", noLogs}, span...)...), 66, w.dir+"/none")
	says(onyarn(load...), 75, "cannot be made on HDFS")

	w.program(t, "bulkload", load[1:]...).ends(0)
	says(onyarn(load...), 99, "loaded before")

	w.env = append(w.env, "HADOOP_CLASSPATH=")
	says(onyarn(load...), 64, "set $HADOOP_HOME")
}

func TestADryRunNeedsNoHadoop(t *testing.T) {
	w := newLocal(t)
	w.env = nil
	p := w.start(t, "./onyarn", append([]string{"load", w.job(t, "job", w.dir+"/trails"), "--dry-run"}, span...)...)
	p.ends(0)
	if !strings.Contains(p.stdout.String(), "would read  8 files") {
		t.Errorf("it says %q", p.stdout.String())
	}
}

// fakeHadoop is a java that copies files to a local folder and does the map tasks of a job
// one after the other; with FAIL in its environment the job fails.
const fakeHadoop = `#!/bin/bash
all=("$@")
after() { for ((i = 0; i < ${#all[@]}; i++)); do [ "${all[i]}" != "$1" ] || echo "${all[i + 1]}"; done; }
case "$*" in
*" -put "*) mkdir -p "$(dirname "${all[-1]}")" && cp "${all[-2]}" "${all[-1]}" ;;
*HadoopStreaming*)
	echo 'INFO mapreduce.Job: Running job: job_1_1' >&2
	[ -z "${FAIL:-}" ] || { echo "subprocess failed with code $FAIL" >&2; exit 1; }
	cd "$(dirname "$0")"
	while read -r line; do echo "$line" | bash -c "$(after -mapper)" || exit 1; done <"$(after -input)"
	;;
esac
`

// told are the status that a metrics file tells for a load, and the events of a file of
// OpenLineage: their types, and what they tell of the job and the run.
func told(t *testing.T, metrics, events string) (status string, types []string, runs map[string]bool) {
	t.Helper()
	b, err := os.ReadFile(metrics)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, `usertrail_last_run_status{command="load",program="bulkload",table="`); ok {
			status = strings.TrimSpace(rest)
		}
	}
	if strings.Contains(string(b), `command="commit"`) || strings.Contains(string(b), `command="plan"`) {
		t.Errorf("the metrics tell of a part of the run:\n%s", b)
	}
	if b, err = os.ReadFile(events); err != nil {
		t.Fatal(err)
	}
	runs = map[string]bool{}
	for line := range strings.Lines(string(b)) {
		var e struct {
			EventType string
			Run       struct{ RunID string }
			Job       struct{ Name string }
			Inputs    []struct{ Name string }
			Outputs   []struct{ Name string }
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		types = append(types, e.EventType)
		runs[e.Run.RunID+" "+e.Job.Name] = true
		if e.EventType == "COMPLETE" && (len(e.Inputs) != 1 || !strings.HasSuffix(e.Inputs[0].Name, "/logs") || len(e.Outputs) != 1 || !strings.HasSuffix(e.Outputs[0].Name, "/trails")) {
			t.Errorf("the end tells of %v and %v: %s", e.Inputs, e.Outputs, line)
		}
	}
	return status, types, runs
}

// TestTheWholeIsOneRun has Prometheus and OpenLineage told of a load that fails before its
// job, in its job, and not at all.
func TestTheWholeIsOneRun(t *testing.T) {
	w := newLocal(t)
	w.env = append(w.env, "USERTRAIL_YARN_DIR="+w.dir+"/lines")
	table := w.dir + "/trails"
	load := append([]string{"load", w.job(t, "job", table), "--piece-size", "20KiB", "--metrics-file", w.dir + "/load.prom"}, span...)
	check := func(what string, status int, want ...string) {
		t.Helper()
		file := filepath.Join(w.dir, what+".events")
		p := w.start(t, "./onyarn", append(load, "--openlineage", file)...)
		last := p.ends(status)
		got, types, runs := told(t, w.dir+"/load.prom", file)
		if got != fmt.Sprintf(`%s"} %d`, table, status) || !slices.Equal(types, want) || len(runs) != 1 {
			t.Errorf("%s: told are status %q, events %v of runs %v; want %d, %v of one run", what, got, types, runs, status, want)
		}
		for run := range runs {
			if !strings.HasSuffix(run, " bulkload.load") {
				t.Errorf("%s: the run is %q", what, run)
			}
		}
		if _, ok := last["seconds"]; !ok || status != 0 && last["error"] == nil {
			t.Errorf("%s: the last line is %v", what, last)
		}
	}
	check("no-hdfs", 75, "START", "FAIL")
	if err := os.WriteFile(filepath.Join(w.dir, "bin", "java"), []byte(fakeHadoop), 0o755); err != nil {
		t.Fatal(err)
	}
	plain := w.env
	w.env = append(plain, "FAIL=66")
	check("failed-job", 66, "START", "FAIL")
	w.env = plain
	check("done", 0, "START", "COMPLETE")
	b, err := os.ReadFile(w.dir + "/load.prom")
	if err != nil || !strings.Contains(string(b), `usertrail_last_run_records{command="load",outcome="read",program="bulkload",table="`+table+`"} `) {
		t.Errorf("the metrics have no counts: %v\n%s", err, b)
	}
	check("nothing", 99, "START", "COMPLETE")
}
