package streaming_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload/samplelog"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// newLocal returns a fixture without servers. Hadoop cannot be reached: the program java fails.
func newLocal(t *testing.T) *fixture {
	dir := t.TempDir()
	build(t, dir)
	w := &fixture{files: local.New(), dir: dir, hdfs: dir, env: []string{"PATH=/usr/bin:/bin", "JAVA_HOME=" + dir, "HADOOP_CLASSPATH=none"}}
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

// fakeHadoop is a program java that copies files to a local folder, and does the map tasks of a
// job one after the other. Next to itself it keeps the arguments of the job in java.job, and the file
// of tokens in java.tokens. If FAIL is in its environment, the job fails.
const fakeHadoop = `#!/bin/bash
all=("$@")
after() { for ((i = 0; i < ${#all[@]}; i++)); do [ "${all[i]}" != "$1" ] || echo "${all[i + 1]}"; done; }
case "$*" in
*" -put "*) mkdir -p "$(dirname "${all[-1]}")" && cp "${all[-2]}" "${all[-1]}" ;;
*HadoopStreaming*)
	echo 'INFO mapreduce.Job: Running job: job_1_1' >&2
	printf '%s\n' "$@" >"$0.job"
	tokens=$(sed -n 's|^mapreduce.job.credentials.binary=file://||p' "$0.job")
	[ -z "$tokens" ] || cp -p "$tokens" "$0.tokens"
	[ -z "${FAIL:-}" ] || { echo "subprocess failed with code $FAIL" >&2; exit 1; }
	cd "$(dirname "$0")"
	while read -r line; do echo "$line" | bash -c "$(after -mapper)" || exit 1; done <"$(after -input)"
	;;
esac
`

// TestTheWholeIsOneRun reads the metrics and the OpenLineage events of a load that fails before its
// job, of a load that fails in its job, and of a load that succeeds.
func TestTheWholeIsOneRun(t *testing.T) {
	w := newLocal(t)
	w.env = append(w.env, "USERTRAIL_YARN_DIR="+w.dir+"/lines")
	table := w.dir + "/trails"
	load := append([]string{"load", w.job(t, "job", table), "--piece-size", "20KiB"}, span...)
	of := func(what string) reporter {
		return reporter{w.dir + "/load.prom", filepath.Join(w.dir, what+".events")}
	}
	start := func(what string) *process { return w.start(t, "./onyarn", append(load, of(what).flags()...)...) }
	tells := func(what string, p *process, status int, types ...string) {
		t.Helper()
		last := p.ends(status)
		want := report{table: table, status: status, types: types, runs: 1}
		if slices.Contains(types, "COMPLETE") {
			want.inputs, want.output = w.dir+"/logs", table
		}
		of(what).check(t, "bulkload", "load", want)
		if _, ok := last["seconds"]; !ok || status != 0 && last["error"] == nil {
			t.Errorf("%s: the last line is %v", what, last)
		}
	}
	check := func(what string, status int, types ...string) {
		t.Helper()
		tells(what, start(what), status, types...)
	}
	check("no-hdfs", 75, "START", "FAIL")
	if err := os.WriteFile(filepath.Join(w.dir, "bin", "java"), []byte(fakeHadoop), 0o755); err != nil {
		t.Fatal(err)
	}
	plain := w.env
	w.env = append(plain, "FAIL=66")
	check("failed-job", 66, "START", "FAIL")
	for step, part := range map[string]string{breakpoint.Commit: "commit", breakpoint.Begun: "plan"} {
		w.env = append(plain, breakpoint.Variable+"="+step)
		p := start("killed-" + part)
		p.killChildAtStep("bulkload")
		tells("killed-"+part, p, 1, "START", "FAIL")
		if !strings.Contains(p.stderr.String(), "bulkload "+part+" was ended by signal 9") {
			t.Errorf("a %s that was killed: %s", part, p.stderr.Bytes())
		}
	}
	w.env = plain
	check("done", 0, "START", "COMPLETE")
	if args := w.kept(t, "java.job"); strings.Contains(strings.Join(args, "\n"), binary) {
		t.Errorf("without Kerberos the job has tokens: %q", args)
	}
	b, err := os.ReadFile(w.dir + "/load.prom")
	if err != nil || !strings.Contains(string(b), `usertrail_last_run_records{command="load",outcome="read",program="bulkload",table="`+table+`"} `) {
		t.Errorf("the metrics have no counts: %v\n%s", err, b)
	}
	check("nothing", 99, "START", "COMPLETE")
}

// TestAnExtractIsOneRun reports an extract that is made, and one that has nothing to do.
func TestAnExtractIsOneRun(t *testing.T) {
	w := newLocal(t)
	w.env = append(w.env, "USERTRAIL_YARN_DIR="+w.dir+"/lines")
	if err := os.WriteFile(filepath.Join(w.dir, "bin", "java"), []byte(fakeHadoop), 0o755); err != nil {
		t.Fatal(err)
	}
	table, out, reports := w.dir+"/trails", w.dir+"/out", w.reporter("extract")
	w.program(t, "bulkload", append([]string{w.job(t, "job", table)}, span...)...).ends(0)
	want := report{table: table, inputs: table, output: out}
	for i, status := range []int{0, 99} {
		w.start(t, "./onyarn", append([]string{"extract"}, queryFlags(table, out, reports.flags()...)...)...).ends(status)
		want.status, want.types, want.runs = status, append(want.types, "START", "COMPLETE"), i+1
		reports.check(t, "extract", "extract", want)
	}
}

// fakeToken is a program bulkload whose command token needs no cluster. It keeps its arguments in
// bulkload.args. If TOKEN_STATUS is in its environment, it fails with this status.
const fakeToken = `#!/bin/bash
[ "$1" = token ] || exec "$0.real" "$@"
printf '%s\n' "$@" >"$0.args"
[ -z "${TOKEN_STATUS:-}" ] || { echo 'bulkload: no Kerberos ticket: run kinit' >&2; exit "$TOKEN_STATUS"; }
umask 077
echo secret >"$3"
`

// withTokens makes the fixture's programs those of a cluster with Kerberos.
func (w *fixture) withTokens(t *testing.T) {
	t.Helper()
	bin := filepath.Join(w.dir, "bin")
	if err := os.Rename(filepath.Join(bin, "bulkload"), filepath.Join(bin, "bulkload.real")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"java": fakeHadoop, "bulkload": fakeToken} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	conf := filepath.Join(w.dir, "conf")
	testkit.WriteFile(t, filepath.Join(conf, "core-site.xml"), "<configuration/>")
	testkit.WriteFile(t, filepath.Join(conf, "yarn-site.xml"), `<configuration>
  <property>
    <name>yarn.resourcemanager.principal</name>
    <value>rm/_HOST@REALM.TEST</value>
  </property>
  <property><name>yarn.nodemanager.principal</name><value>nm/_HOST@REALM.TEST</value></property>
</configuration>`)
	testkit.WriteFile(t, filepath.Join(w.dir, "hbase", "hbase-site.xml"), "<configuration/>")
	w.env = append(w.env, "USERTRAIL_YARN_DIR="+w.dir+"/lines", "HADOOP_CONF_DIR="+conf, "HBASE_CONF_DIR="+w.dir+"/hbase")
}

// kept returns the lines of a file that a program in bin has kept, and removes the file.
func (w *fixture) kept(t *testing.T, name string) []string {
	t.Helper()
	file := filepath.Join(w.dir, "bin", name)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// expectAll checks that a list has all the wanted words.
func expectAll(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	for _, word := range want {
		if !slices.Contains(got, word) {
			t.Errorf("%s: %q is not in %q", what, word, got)
		}
	}
}

const (
	binary = "mapreduce.job.credentials.binary="
	cancel = "mapreduce.job.complete.cancel.delegation.tokens=false"
)

// TestPiecesGetTokens does a load and an extract of a cluster with Kerberos.
func TestPiecesGetTokens(t *testing.T) {
	w := newLocal(t)
	w.withTokens(t)
	table, job := w.dir+"/trails", w.job(t, "job", w.dir+"/trails")
	load := slices.Concat([]string{"load", job, "--protection=privacy", "--keytab", "alice.keytab"}, span)
	w.start(t, "./onyarn", load...).ends(0)
	expectAll(t, "token for a load", w.kept(t, "bulkload.args"), "--renewer=rm/_HOST@REALM.TEST", job, "--keytab=alice.keytab", "--protection=privacy")
	info, err := os.Stat(filepath.Join(w.dir, "bin", "java.tokens"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the job has the tokens in %v, %v, want a file of its user only", info, err)
	}
	expectAll(t, "tokens", w.kept(t, "java.tokens"), "secret")
	args := w.kept(t, "java.job")
	expectAll(t, "job", args, "HADOOP_CONF_DIR=HADOOP_CONF_DIR", "HBASE_CONF_DIR=HBASE_CONF_DIR")
	all := strings.Join(args, "\n")
	if !strings.Contains(all, "'--protection=privacy'") || strings.Contains(all, "keytab") || slices.Contains(args, cancel) {
		t.Errorf("the job has the arguments %q, want --protection for the pieces, and no keytab", args)
	}
	tokens := all[strings.Index(all, binary+"file://")+len(binary+"file://"):]
	if _, err := os.Stat(strings.SplitN(tokens, "\n", 2)[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the tokens are left: %v", err)
	}

	out := w.dir + "/out"
	w.env = append(w.env, "HADOOP_TOKEN_FILE_LOCATION="+w.dir+"/own")
	w.start(t, "./onyarn", append([]string{"extract"}, queryFlags(table, out)...)...).ends(0)
	expectAll(t, "token for an extract", w.kept(t, "bulkload.args"), "--table="+table, "--also="+out)
	expectAll(t, "job with the user's own tokens", w.kept(t, "java.job"), cancel)
}

// TestNoTokensNoJob runs a load whose tokens cannot be got.
func TestNoTokensNoJob(t *testing.T) {
	w := newLocal(t)
	w.withTokens(t)
	w.env = append(w.env, "TOKEN_STATUS=64")
	reports := w.reporter("load")
	table := w.dir + "/trails"
	last := w.start(t, "./onyarn", slices.Concat([]string{"load", w.job(t, "job", table)}, span, reports.flags())...).ends(64)
	if want := "there are no tokens for the pieces: no Kerberos ticket: run kinit"; last["error"] != want {
		t.Errorf("the error is %q, want %q", last["error"], want)
	}
	reports.check(t, "bulkload", "load", report{table: table, status: 64, types: []string{"START", "FAIL"}, runs: 1})
	for _, name := range []string{w.dir + "/lines", w.dir + "/bin/java.job"} {
		if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("there is %s, and no tokens: %v", name, err)
		}
	}
}
