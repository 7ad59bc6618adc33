package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"usertrail/internal/test/testkit"
)

var initTrace = regexp.MustCompile(`(?m)^init (\S+) @.* clock, ([0-9]+) bytes`)

// TestCommandsStartWithLittleWork measures the memory that the variables of each package need
// before main. A large table or expression costs each of the many short runs of a command.
func TestCommandsStartWithLittleWork(t *testing.T) {
	t.Parallel()
	const most = 1 << 20 // bytes
	dir := testkit.Commands(t)
	for _, name := range []string{"bulkload", "extract"} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(dir, name), "--version")
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s --version: %v\n%s", name, err, out)
		}
		packages := initTrace.FindAllSubmatch(out, -1)
		if len(packages) < 10 {
			t.Fatalf("%s: the trace names %d packages:\n%s", name, len(packages), out)
		}
		for _, p := range packages {
			if n, err := strconv.Atoi(string(p[2])); err != nil || n > most {
				t.Errorf("%s: the variables of %s take %s bytes before main, at most %d are expected", name, p[1], p[2], most)
			}
		}
	}
}
