package faults_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// deadline is when a process counts as one that waits without a limit. It is more
// than --retry-for.
const deadline = 7 * time.Minute

// A process is a run of one of the programs.
type process struct {
	name   string
	cmd    *exec.Cmd
	limit  time.Duration
	stdout bytes.Buffer
	stderr bytes.Buffer
	ended  chan struct{}
}

// A result is how a process ended: its status and the last line of its output.
type result struct {
	status int
	stderr string

	Read, Loaded, Quarantined, Duplicate, Skipped, Cells int64
	Users, Found, Active, Events, Records                int64
	Files                                                int
	Status                                               *int
	Error                                                string
}

// start runs a program in a directory. It is killed at t's end at the latest.
func start(t *testing.T, dir string, env []string, program string, args ...string) *process {
	t.Helper()
	p := &process{name: program + " " + strings.Join(args, " "), limit: deadline, ended: make(chan struct{})}
	p.cmd = exec.Command(filepath.Join(bin, program), args...)
	p.cmd.Dir, p.cmd.Env = dir, append(clean(os.Environ()), env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // its status is asked for
		close(p.ended)
	}()
	t.Cleanup(p.kill)
	return p
}

// clean leaves out of an environment what tells the programs where things are.
func clean(env []string) []string {
	var out []string
	for _, v := range env {
		if !strings.HasPrefix(v, "USERTRAIL_") && !strings.HasPrefix(v, "HADOOP_") {
			out = append(out, v)
		}
	}
	return out
}

func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
}

// kill ends the process by SIGKILL, if it still runs.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// wait waits for the process's end. Where it does not come, t fails with what the
// goroutines wait for.
func (p *process) wait(t *testing.T) result {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(p.limit):
		_ = p.cmd.Process.Signal(syscall.SIGQUIT)
		select {
		case <-p.ended:
		case <-time.After(10 * time.Second):
			p.kill()
		}
		t.Fatalf("%s had not ended after %s:\n%s", p.name, p.limit, p.stderr.String())
	}
	r := result{status: p.cmd.ProcessState.ExitCode(), stderr: p.stderr.String()}
	lines := strings.Split(strings.TrimRight(p.stdout.String(), "\n"), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); r.status >= 0 && err != nil {
		t.Fatalf("%s: the last line is %q: %v\n%s", p.name, lines[len(lines)-1], err, r.stderr)
	}
	return r
}

// done waits for the process's end and checks that it was a good one.
func (p *process) done(t *testing.T) result {
	t.Helper()
	r := p.wait(t)
	if r.status != 0 || r.Status == nil || *r.Status != 0 || r.Error != "" {
		t.Fatalf("%s ended with status %d, want 0:\n%s", p.name, r.status, r.stderr)
	}
	if sum := r.Loaded + r.Quarantined + r.Duplicate + r.Skipped; r.Read != sum {
		t.Errorf("%s read %d records and accounts for %d: %+v", p.name, r.Read, sum, r)
	}
	return r
}

// received and sent are how many bytes the process has read and written, of servers'
// and of files.
func (p *process) received() (int64, error) { return p.moved("rchar") }
func (p *process) sent() (int64, error)     { return p.moved("wchar") }

// moved is one of the counts of proc(5)'s /proc/PID/io.
func (p *process) moved(name string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if n, ok := strings.CutPrefix(line, name+": "); ok {
			return strconv.ParseInt(strings.TrimSpace(n), 10, 64)
		}
	}
	return 0, fmt.Errorf("no %s in /proc/PID/io", name)
}
