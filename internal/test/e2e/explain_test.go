package e2e_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"usertrail/internal/test/document"
)

// TestExplainDocRuns runs the commands of docs/reference/explain.md in the clone in which README's demo
// ran, and compares the output.
func TestExplainDocRuns(t *testing.T) {
	dir, _ := readmeRun(t)
	text := document.Read(t, "docs/reference/explain.md")
	var said strings.Builder
	for _, block := range document.Blocks(t, text, "sh") {
		c := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", block)
		c.Dir, c.Env = dir, append(os.Environ(), "LC_ALL=C")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("docs/reference/explain.md's\n%s\nends with %v:\n%s", block, err, out)
		}
		said.Write(out)
	}
	for _, shown := range document.Blocks(t, text, "text") {
		if !strings.Contains(said.String(), shown) {
			t.Errorf("docs/reference/explain.md shows\n%s\nbut its commands say\n%s", shown, said.String())
		}
	}
}
