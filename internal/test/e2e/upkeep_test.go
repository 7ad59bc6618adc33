package e2e_test

import (
	"os/exec"
	"strings"
	"testing"

	"usertrail/internal/test/document"
)

// TestUpkeepDocRuns runs the commands of docs/howto/upkeep.md in the clone in which README's
// commands ran.
func TestUpkeepDocRuns(t *testing.T) {
	dir, _ := readmeRun(t)
	for _, block := range document.Blocks(t, document.Read(t, "docs/howto/upkeep.md"), "sh") {
		c := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", block)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("docs/howto/upkeep.md's\n%s\nends with %v:\n%s", block, err, out)
		}
		for _, word := range []string{"would merge", "merged", "would drop", "dropped", "verified"} {
			if !strings.Contains(string(out), "\n"+word+" ") {
				t.Errorf("no line begins with %q:\n%s", word, out)
			}
		}
	}
}
