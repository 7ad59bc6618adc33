package breakpoint

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"usertrail/internal/test/testkit"
)

// child is set in the processes that tests start.
const child = "USERTRAIL_BREAKPOINT_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(child) == "" {
		os.Exit(m.Run())
	}
	if err := Arm(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ReleaseAfter(ctx)
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGUSR1, syscall.SIGTERM)
	go func() {
		for s := range heard {
			fmt.Println(s)
			if s == syscall.SIGTERM {
				cancel()
			}
		}
	}()
	for i := range 3 {
		Reach(Put)
		Reach(Part)
		fmt.Println(i)
	}
}

func TestAStepIsReachedOnce(t *testing.T) {
	defer func() { armed = nil }()
	t.Setenv(Variable, "put:70")
	if err := Arm(); err != nil {
		t.Fatal(err)
	}
	var stops atomic.Int32
	armed.stop = func() { stops.Add(1) }
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			for range 10 {
				Reach(Put)
				Reach(Batch)
			}
		})
	}
	all.Wait()
	if got := stops.Load(); got != 1 {
		t.Errorf("stopped %d times, want once", got)
	}
}

func TestWithoutTheVariableNothingStops(t *testing.T) {
	defer func() { armed = nil }()
	t.Setenv(Variable, "")
	if err := Arm(); err != nil || armed != nil {
		t.Fatalf("Arm: %v, %+v", err, armed)
	}
	Reach(Put)
}

func TestValuesThatNameNoStepAreRefused(t *testing.T) {
	for value, want := range map[string]string{"pull": `no step "pull"`, "put:0": `"0" is no positive number`, "put:x": `"x" is no positive number`, "put:1:held": `"held" is not hold`} {
		t.Setenv(Variable, value)
		if err := Arm(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", value, err, want)
		}
		if armed != nil {
			t.Fatalf("%s armed the process", value)
		}
	}
}

// start starts a process with a value of Variable, and waits until it has stopped.
func start(t *testing.T, value string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), child+"=1", Variable+"="+value)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() }) // the process has ended, unless the test failed
	if !testkit.AwaitStop(c.Process.Pid, nil) {
		t.Fatal("the process ended before it stopped")
	}
	return c, bufio.NewScanner(out)
}

// send sends a process signals.
func send(t *testing.T, c *exec.Cmd, signals ...syscall.Signal) {
	t.Helper()
	for _, s := range signals {
		if err := c.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
}

// says reads lines of a process, and compares them.
func says(t *testing.T, out *bufio.Scanner, lines ...string) {
	t.Helper()
	for _, want := range lines {
		if !out.Scan() || out.Text() != want {
			t.Fatalf("it says %q, %v, want %q", out.Text(), out.Err(), want)
		}
	}
}

// TestAProcessStopsUntilItIsContinued also checks that wait4 reports the stop. testkit reads
// it from /proc.
func TestAProcessStopsUntilItIsContinued(t *testing.T) {
	c, out := start(t, "part:2")
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(c.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("wait4: %v, status %#x, want a stopped process", err, status)
	}
	send(t, c, syscall.SIGCONT)
	says(t, out, "0", "1", "2")
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if testkit.AwaitStop(c.Process.Pid, nil) {
		t.Error("a process that has ended is reported as stopped")
	}
}

// TestAHeldStepLetsOtherGoroutinesContinue checks that a process handles a signal while the
// goroutine that reached the step waits.
func TestAHeldStepLetsOtherGoroutinesContinue(t *testing.T) {
	c, out := start(t, "part:2:hold")
	send(t, c, syscall.SIGUSR1, syscall.SIGCONT)
	says(t, out, "0", "user defined signal 1")
	send(t, c, syscall.SIGUSR2)
	says(t, out, "1", "2")
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// TestAHeldStepContinuesWhenTheRunEnds sends SIGTERM. The process then cancels its context.
func TestAHeldStepContinuesWhenTheRunEnds(t *testing.T) {
	c, out := start(t, "part:2:hold")
	send(t, c, syscall.SIGTERM, syscall.SIGCONT)
	says(t, out, "0", "terminated", "1", "2")
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}
