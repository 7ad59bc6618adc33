package scripttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// deadline is when a process that was asked to end counts as one that never will.
const deadline = 30 * time.Second

// A Process is a run of a program under test that goes on beside the test.
type Process struct {
	name           string
	cmd            *exec.Cmd
	ended          chan struct{}
	Stdout, Stderr Output
}

// An Output is what a process has written so far.
type Output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(b)
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// Start runs a program that testscript.Main knows in a directory. It is killed at t's
// end at the latest.
func Start(t *testing.T, dir string, env []string, program string, args ...string) *Process {
	t.Helper()
	return StartReading(t, nil, dir, env, program, args...)
}

// StartReading is Start with a standard input.
func StartReading(t *testing.T, stdin *os.File, dir string, env []string, program string, args ...string) *Process {
	t.Helper()
	p := &Process{name: program + " " + strings.Join(args, " "), cmd: exec.Command(program, args...), ended: make(chan struct{})}
	p.cmd.Dir = dir
	p.cmd.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE")), env...)
	if stdin != nil {
		p.cmd.Stdin = stdin
	}
	p.cmd.Stdout, p.cmd.Stderr = &p.Stdout, &p.Stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // its status is asked for
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it has ended, as a rule
		<-p.ended
	})
	return p
}

// Pid is the number of the process.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Listens waits until the process hears signals: it asks what the process is at until
// it has an answer. A process that has ended already hears nothing.
func (p *Process) Listens(t *testing.T) {
	t.Helper()
	for began := time.Now(); time.Since(began) < deadline; time.Sleep(2 * time.Millisecond) {
		select {
		case <-p.ended:
			return
		default:
		}
		if strings.Contains(p.Stderr.String(), " is at, ") {
			return
		}
		if p.handles(syscall.SIGUSR1) {
			p.Signal(syscall.SIGUSR1)
		}
	}
	t.Fatalf("%s did not tell what it is at within %s", p.name, deadline)
}

// handles says whether a signal would not end the process, as Linux tells.
func (p *Process) handles(s syscall.Signal) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid()))
	if err != nil {
		return false
	}
	_, mask, _ := strings.Cut(string(b), "SigCgt:")
	mask, _, _ = strings.Cut(strings.TrimSpace(mask), "\n")
	caught, err := strconv.ParseUint(mask, 16, 64)
	return err == nil && caught&(1<<(s-1)) != 0
}

// Signal sends a signal to the process, and says whether it was still there.
func (p *Process) Signal(s os.Signal) bool { return p.cmd.Process.Signal(s) == nil }

// Wait waits for the end and returns the status, -1 if a signal ended the process, and
// the last line of standard output.
func (p *Process) Wait(t *testing.T) (status int, last map[string]any) {
	t.Helper()
	return p.WaitFor(t, deadline)
}

// WaitFor is Wait with another deadline.
func (p *Process) WaitFor(t *testing.T, limit time.Duration) (status int, last map[string]any) {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(limit):
		t.Fatalf("%s has not ended after %s", p.name, limit)
	}
	if o, ok := lastObject(p.Stdout.String()); ok {
		last = o
	}
	return p.cmd.ProcessState.ExitCode(), last
}

// Number is a number of a last line.
func Number(t *testing.T, last map[string]any, field string) int64 {
	t.Helper()
	n, ok := last[field].(json.Number)
	if !ok {
		t.Fatalf("the last line has no number %s: %v", field, last)
	}
	v, err := n.Int64()
	if err != nil {
		t.Fatal(err)
	}
	return v
}
