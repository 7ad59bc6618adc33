package e2e_test

import (
	"os/exec"
	"strings"
	"testing"

	"usertrail/internal/test/document"
)

// TestPiecesDocRuns runs the commands of docs/howto/pieces.md in the clone in which README's
// commands ran.
func TestPiecesDocRuns(t *testing.T) {
	dir, _ := readmeRun(t)
	for _, block := range document.Blocks(t, document.Read(t, "docs/howto/pieces.md"), "sh") {
		c := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", block)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("docs/howto/pieces.md's\n%s\nends with %v:\n%s", block, err, out)
		}
		if !strings.Contains(string(out), `"pieces":`) || strings.Contains(string(out), `"error":`) {
			t.Errorf("docs/howto/pieces.md's\n%s\ndid no pieces:\n%s", block, out)
		}
	}
}
