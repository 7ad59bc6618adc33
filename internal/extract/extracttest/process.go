package extracttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/pieces"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/job"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testtable"
	"usertrail/internal/test/testworld"
)

// childEnv is the environment variable with the Task of a process.
const childEnv = "USERTRAIL_TEST_CHILD"

// A Task is the work of a process that a test kills. The process loads a table day by day, extracts
// into Out, or does Pieces and commits them.
type Task struct {
	Dir, Table, Out string
	Span            behaviour.Span
	Query           testworld.Query
	Unrolled        bool   // the extract does not use the rolls
	Partition       string // the column whose values are directories of the result
	Append          bool   // add to the result in Out
	Overwrite       bool   // replace the result in Out
	Pieces          []pieces.Piece
}

// SmallSizes are small, so that a small result has several parts, and each part several batches.
var SmallSizes = memory.Sizes{PartEvents: 16 << 10, PartBytes: 2 << 20, BatchBytes: 256 << 10, SortBytes: 256 << 10}

// Main runs the tests of a package, or the task of a process that a test started.
func Main(m *testing.M) {
	if text := os.Getenv(childEnv); text != "" {
		if err := runChild(context.Background(), text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// runChild does the Task in text, and stops at the step that the environment names.
func runChild(ctx context.Context, text string) error {
	var e Task
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return err
	}
	h := &Fixture{Fixture: testtable.Fixture{Dir: e.Dir, Tables: e.Dir, FS: local.New()}, Sizes: SmallSizes}
	var err error
	if h.Job, err = job.Load(ctx, h.FS, filepath.Join(e.Dir, "usertrail.yaml")); err != nil {
		return err
	}
	if err := breakpoint.Arm(); err != nil {
		return err
	}
	return h.RunTask(ctx, e)
}

// RunTask does e in this process.
func (h *Fixture) RunTask(ctx context.Context, e Task) error {
	u := Turn{Name: e.Table, Workers: 2, Memory: 64 << 20, Regions: 2, Unrolled: e.Unrolled, Append: e.Append, Overwrite: e.Overwrite, Output: query.Output{Partition: e.Partition}}
	if len(e.Pieces) > 0 {
		if _, err := h.RunPieces(ctx, u, e.Pieces); err != nil {
			return err
		}
		_, err := pieces.Commit(ctx, h.FS, e.Pieces)
		return err
	}
	if e.Out != "" {
		_, err := h.Extract(ctx, e.Query, u, e.Out)
		return err
	}
	for d := e.Span.From; d <= e.Span.To; d++ {
		_, err := load.Run(ctx, h.LoadConfig(u, behaviour.Span{From: d, To: d}))
		if err != nil && !errors.Is(err, bulkload.ErrNothing) {
			return err
		}
	}
	return nil
}

// A Moment is the nth time that a process reaches a step.
type Moment struct {
	Step string
	N    int
}

// String returns the step and the number.
func (m Moment) String() string { return fmt.Sprintf("%s %d", m.Step, m.N) }

// process starts a process with a Task. env is added to the environment of the test.
func process(t *testing.T, e Task, env ...string) (c *exec.Cmd, stderr *strings.Builder) {
	t.Helper()
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	stderr = new(strings.Builder)
	c = exec.Command(self)
	c.Env = append(append(os.Environ(), childEnv+"="+string(text)), env...)
	c.Stderr = stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, stderr
}

// RunProcess does a Task in a process.
func RunProcess(t *testing.T, e Task) {
	t.Helper()
	c, stderr := process(t, e)
	if err := c.Wait(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
}

// KillProcess begins a Task in a process, and kills the process at a moment.
func KillProcess(t *testing.T, e Task, m Moment) {
	t.Helper()
	c, stderr := process(t, e, fmt.Sprintf("%s=%s:%d", breakpoint.Variable, m.Step, m.N))
	reached := testkit.AwaitStop(c.Process.Pid, nil)
	if reached {
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	err := c.Wait()
	if !reached {
		t.Fatalf("the process ended, %v, before it reached the step %s: %s", err, m, stderr)
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != -1 {
		t.Fatalf("a process that was killed ended with %v: %s", err, stderr)
	}
}

// SaveJob writes the fixture's job for other processes to read.
func SaveJob(t testing.TB, h *Fixture, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(h.Dir, "usertrail.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// KillTwice kills extracts of three parts or more below a directory, and compares the results.
// It kills one extract at step after step; each run continues from the finished parts. It
// kills other extracts once, at other moments.
func KillTwice(t *testing.T, h *Fixture, home string, want map[string]string, make func(out string) Task) {
	t.Helper()
	check := func(e Task, what any) {
		t.Helper()
		if diff := Differ(dfstest.Snapshot(t, h.FS, e.Out), want); diff != "" {
			t.Errorf("killed at %v: in the end %s", what, diff)
		}
		if left := Leftovers(t, filepath.Dir(e.Out)); len(left) > 0 {
			t.Errorf("killed at %v: in the end there is also %q", what, left)
		}
	}
	kill := func(e Task, m Moment) {
		t.Helper()
		KillProcess(t, e, m)
		if _, err := os.Stat(e.Out); m.Step != breakpoint.Published && !errors.Is(err, iofs.ErrNotExist) {
			t.Fatalf("killed at %s: there is OUT, %v", m, err)
		}
	}

	e := make(filepath.Join(home, "on", "out"))
	steps := []string{breakpoint.Fetch, breakpoint.Part, breakpoint.Publish, breakpoint.Published}
	for _, step := range steps {
		kill(e, Moment{step, 1})
	}
	if len(e.Pieces) > 0 { // files of the pieces remain until another commit finds that they are committed
		if _, err := pieces.Commit(t.Context(), h.FS, e.Pieces); !errors.Is(err, pieces.ErrNothing) {
			t.Errorf("commit after it was published: %v, want nothing to do", err)
		}
	}
	check(e, steps)

	for _, m := range []Moment{
		{breakpoint.Part, 2},
		{breakpoint.Fetch, 1}, {breakpoint.Fetch, 2}, {breakpoint.Part, 1}, {breakpoint.Part, 3}, {breakpoint.Publish, 1},
	}[:testkit.Pick(1, 6)] {
		e := make(filepath.Join(home, m.String(), "out"))
		kill(e, m)
		RunProcess(t, e)
		check(e, m)
	}
}
