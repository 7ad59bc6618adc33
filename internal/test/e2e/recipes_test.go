package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/test/document"
)

// TestRecipesDocRuns runs the commands of docs/howto/recipes.md in an empty folder, in one shell, and compares the
// output.
func TestRecipesDocRuns(t *testing.T) {
	clone, _ := readmeRun(t)
	text := document.Read(t, "docs/howto/recipes.md")
	c := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", strings.Join(document.Blocks(t, text, "sh"), "\n"))
	c.Dir = t.TempDir()
	c.Env = append(os.Environ(), "PATH="+filepath.Join(clone, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"), "HADOOP_CONF_DIR=", "USERTRAIL_JOB=", "LC_ALL=C")
	var errs strings.Builder
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("the commands of docs/howto/recipes.md end with %v:\n%s%s", err, out, &errs)
	}
	for _, shown := range document.Blocks(t, text, "text") {
		if !strings.Contains(string(out), shown) {
			t.Errorf("docs/howto/recipes.md shows\n%s\nand its commands print\n%s", shown, out)
		}
	}
}
