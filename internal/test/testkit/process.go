package testkit

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// buildLimit is when a build counts as one that never ends.
const buildLimit = 10 * time.Minute

// Build builds the two commands with -tags breakpoints into dir.
func Build(dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), buildLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, "go", "build", "-tags", "breakpoints", "-ldflags=-w", "-o", dir+"/", "usertrail/cmd/bulkload", "usertrail/cmd/extract").CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// CleanEnv returns the environment of this process without the variables that tell the
// commands where things are.
func CleanEnv() []string {
	var out []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "USERTRAIL_") && !strings.HasPrefix(v, "HADOOP_") {
			out = append(out, v)
		}
	}
	return out
}

// A Twin is a second process of a test binary.
type Twin struct {
	*exec.Cmd
	Stdin io.Closer
	Out   *bufio.Scanner // standard output
}

// StartTwin starts the test binary once more, for the tests that the pattern run names. env
// is added to its environment. It is killed at t's end.
func StartTwin(t testing.TB, run string, env ...string) *Twin {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run="+run, "-test.count=1")
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return &Twin{cmd, stdin, bufio.NewScanner(out)}
}
