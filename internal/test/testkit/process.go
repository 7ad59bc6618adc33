package testkit

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// buildLimit is the time after which a build is considered to hang.
const buildLimit = 10 * time.Minute

// Build builds programs into dir: packages, or the two commands if no package is named. The
// programs obey breakpoints. All other settings equal the settings of `make build`, so that both share
// the compiled packages in the build cache.
func Build(dir string, packages ...string) error {
	if len(packages) == 0 {
		packages = []string{"usertrail/cmd/bulkload", "usertrail/cmd/extract"}
	}
	ctx, cancel := context.WithTimeout(context.Background(), buildLimit)
	defer cancel()
	args := []string{"build", "-tags", "arrow_json_stdlib,breakpoints", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", dir + "/"}
	c := exec.CommandContext(ctx, "go", append(args, packages...)...)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// ours are the prefixes of variables that configure the commands.
var ours = []string{"USERTRAIL_", "HADOOP_", "HBASE_", "KRB5"}

// CleanEnv returns the environment of this process without the variables that configure the
// commands.
func CleanEnv() []string {
	var out []string
	for _, v := range os.Environ() {
		if !slices.ContainsFunc(ours, func(prefix string) bool { return strings.HasPrefix(v, prefix) }) {
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

// StartTwin starts the test binary again, for the tests that match the pattern run. env is
// added to its environment. The process is killed at t's end.
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
