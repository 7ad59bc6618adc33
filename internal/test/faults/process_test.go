package faults_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"usertrail/internal/run/breakpoint"
	"usertrail/internal/test/testkit"
)

// deadline is the time after which a process is considered to wait forever. It is longer than
// the default of --retry-for.
const deadline = 7 * time.Minute

// killedStatus is the status of a process that a signal ended.
const killedStatus = -1

// A process is a run of one of the programs.
type process struct {
	name   string
	cmd    *exec.Cmd
	limit  time.Duration
	stdout bytes.Buffer
	stderr bytes.Buffer
	ended  chan struct{}
}

// A result is the exit status of a process and the last line of its output.
type result struct {
	status int
	stderr string

	Read, Loaded, Quarantined, Duplicate, Skipped, Cells int64
	Users, Found, Active, Events, Records                int64
	Files                                                int
	Status                                               *int
	Error                                                string
}

// start runs a program in a directory. The program is killed at t's end at the latest.
func start(t *testing.T, dir string, env []string, program string, args ...string) *process {
	t.Helper()
	p := &process{name: program + " " + strings.Join(args, " "), limit: deadline, ended: make(chan struct{})}
	p.cmd = exec.Command(filepath.Join(testkit.Commands(t), program), args...)
	p.cmd.Dir, p.cmd.Env = dir, append(testkit.CleanEnv(), env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // wait reads the status from ProcessState
		close(p.ended)
	}()
	t.Cleanup(p.kill)
	return p
}

// A stop is the value of breakpoint.Variable: the step at which a process stops itself.
type stop string

// nowhere is the stop of a process that runs to its end.
const nowhere stop = ""

// at returns the stop at which step is reached for the nth time.
func at(step string, n int) stop { return stop(fmt.Sprintf("%s:%d", step, n)) }

func (s stop) env() []string { return []string{breakpoint.Variable + "=" + string(s)} }

// awaitStop waits until the process has stopped at its step.
func (p *process) awaitStop(t *testing.T) {
	t.Helper()
	if !testkit.AwaitStop(p.cmd.Process.Pid, p.ended) {
		t.Fatalf("%s ended before it reached its step: %+v", p.name, p.wait(t))
	}
}

func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
}

// resume continues the process after its stop.
func (p *process) resume(t *testing.T) {
	t.Helper()
	p.signal(t, syscall.SIGCONT)
}

// crash kills the process at its stop.
func (p *process) crash(t *testing.T) {
	t.Helper()
	p.kill()
	if got := p.wait(t).status; got != killedStatus {
		t.Errorf("%s ended with status %d before it was killed", p.name, got)
	}
}

// kill ends the process by SIGKILL, if it still runs.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// wait waits for the end of the process. If the process does not end, t fails and prints its
// goroutines.
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

// done waits for the end of the process and checks that it succeeded.
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
