package e2e_test

import (
	"os/exec"
	"strings"
	"testing"

	"usertrail/internal/test/document"
)

const layouts = "docs/explanation/layouts.md"

// TestConvertDocRuns runs the commands of docs/explanation/layouts.md that convert a table, in the clone
// in which README's commands ran.
func TestConvertDocRuns(t *testing.T) {
	dir, _ := readmeRun(t)
	ran := 0
	for _, block := range document.Blocks(t, document.Read(t, layouts), "sh") {
		if !strings.Contains(block, "bulkload convert") {
			continue
		}
		ran++
		c := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", block)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s's\n%s\nends with %v:\n%s", layouts, block, err, out)
		}
		for _, word := range []string{"loaded", "converted", "verified"} {
			if !strings.Contains("\n"+string(out), "\n"+word+" ") {
				t.Errorf("no line begins with %q:\n%s", word, out)
			}
		}
	}
	if ran == 0 {
		t.Errorf("%s does not convert a table", layouts)
	}
}
