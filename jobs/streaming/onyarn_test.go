package streaming_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/dfs/local"
	"usertrail/internal/samplelog"
)

// newLocal is a world without servers. Its Hadoop is out of reach: the program java
// ends with a failure.
func newLocal(t *testing.T) *world {
	dir := t.TempDir()
	build(t, dir, "")
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
