package scripttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"usertrail/internal/run/breakpoint"
	"usertrail/internal/test/testkit"
)

// deadline is the time after which a process counts as hanging. It is long, because no test
// measures how fast a process ends.
const deadline = 10 * time.Minute

// A Process is a program under test that runs concurrently with the test.
type Process struct {
	name           string
	cmd            *exec.Cmd
	ended          chan struct{}
	Stdout, Stderr Output
}

// An Output has the bytes that a process has written so far.
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

// Start runs a program of testscript.Main in a directory. The end of t kills it.
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
		_ = p.cmd.Wait() // Wait returns the status
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // usually it has ended
		<-p.ended
	})
	return p
}

// Armed returns the main function of a program that stops at the step of package breakpoint
// that its environment names.
func Armed(program func()) func() {
	return func() {
		if err := breakpoint.Arm(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		program()
	}
}

// At returns the environment of a process that stops when it reaches a step for the nth time.
func At(step string, n int) []string {
	return []string{fmt.Sprintf("%s=%s:%d", breakpoint.Variable, step, n)}
}

// Holds is At for a process in which only one goroutine waits after SIGCONT. See package
// breakpoint.
func Holds(step string, n int) []string {
	return []string{fmt.Sprintf("%s=%s:%d:hold", breakpoint.Variable, step, n)}
}

// Stops waits until the process has stopped at its step. It fails t if the process ends
// first.
func (p *Process) Stops(t *testing.T) {
	t.Helper()
	if !testkit.AwaitStop(p.Pid(), p.ended) {
		<-p.ended
		t.Fatalf("%s ended with status %d before it reached its step\n%s", p.name, p.cmd.ProcessState.ExitCode(), p.Stderr.String())
	}
}

// GoOn sends signals to a stopped process, and continues it.
func (p *Process) GoOn(t *testing.T, signals ...os.Signal) {
	t.Helper()
	for _, s := range append(signals, syscall.SIGCONT) {
		if !p.Signal(s) {
			t.Fatalf("%s has ended before it was sent %s\n%s", p.name, s, p.Stderr.String())
		}
	}
}

// Pid returns the process ID.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Reads waits until a thread of the process is in a read of a file descriptor. Linux shows this
// in /proc/PID/task/TID/syscall: see proc(5).
func (p *Process) Reads(t *testing.T, fd int) {
	t.Helper()
	call := fmt.Sprintf("%d %#x ", syscall.SYS_READ, fd)
	p.until(t, fmt.Sprintf("read file descriptor %d", fd), func() bool {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", p.Pid())) // the pattern is right
		return slices.ContainsFunc(tasks, func(name string) bool {
			text, err := os.ReadFile(name)
			return err == nil && strings.HasPrefix(string(text), call)
		})
	})
}

// Says waits until standard error has a text n times.
func (p *Process) Says(t *testing.T, text string, n int) {
	t.Helper()
	p.until(t, fmt.Sprintf("said %q %d times", text, n), func() bool { return strings.Count(p.Stderr.String(), text) >= n })
}

// until waits until done reports true. It fails t if the process ends first.
func (p *Process) until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for began := time.Now(); !done(); time.Sleep(2 * time.Millisecond) {
		select {
		case <-p.ended:
			if !done() {
				t.Fatalf("%s has ended, and has not %s:\n%s", p.name, what, p.Stderr.String())
			}
			return
		default:
		}
		if time.Since(began) > deadline {
			t.Fatalf("%s has not %s after %s:\n%s", p.name, what, deadline, p.Stderr.String())
		}
	}
}

// SignalUntilItEnds sends a signal again and again. Two that follow each other closely may
// reach the process as one.
func (p *Process) SignalUntilItEnds(t *testing.T, s os.Signal) {
	t.Helper()
	for began := time.Now(); p.Signal(s); time.Sleep(2 * time.Millisecond) {
		if time.Since(began) > deadline {
			t.Fatalf("%s has not ended after %s", p.name, deadline)
		}
	}
}

// Signal sends a signal to the process, and reports whether the process still existed.
func (p *Process) Signal(s os.Signal) bool { return p.cmd.Process.Signal(s) == nil }

// TellsAt sends USR1 several times to a process that holds at a step, checks that it prints
// each of the texts, and releases the goroutine.
func (p *Process) TellsAt(t *testing.T, step string, texts []string) {
	t.Helper()
	p.Stops(t)
	p.GoOn(t, syscall.SIGUSR1)
	for n := range 4 {
		p.Says(t, " after its start:", n+1)
		p.Signal(syscall.SIGUSR1)
	}
	for _, want := range texts {
		if said := p.Stderr.String(); !strings.Contains(said, want) {
			t.Errorf("at the step %s it does not say %q:\n%s", step, want, said)
		}
	}
	p.Signal(syscall.SIGUSR2)
}

// Wait waits for the end and returns the status, -1 if a signal ended the process, and
// the last line of standard output.
func (p *Process) Wait(t *testing.T) (status int, last map[string]any) {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(deadline):
		t.Fatalf("%s has not ended after %s", p.name, deadline)
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
