package e2e_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/test/testkit"
)

// TestPythonNotebookRuns runs docs/analyst.ipynb in the clone of README's demo. The texts that its
// cells print are those that the file has, and the plots are drawn.
func TestPythonNotebookRuns(t *testing.T) {
	dir, _ := readmeRun(t)
	script, err := filepath.Abs("testdata/notebook.py")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), testkit.Python(t), script, "docs/analyst.ipynb")
	c.Dir = dir
	c.Env = append(testkit.CleanEnv(), "USERTRAIL_BIN="+filepath.Join(dir, "bin"), "PYTHONPATH="+filepath.Join(dir, "python/src"), "PYTHONDONTWRITEBYTECODE=1")
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		t.Fatalf("docs/analyst.ipynb: %v\n%s", err, said.String())
	}
	var got struct {
		Cells, Plots, Shown int
		Other               [][2]string
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got.Cells < 5 || got.Plots != 3 || got.Shown != got.Plots {
		t.Errorf("the notebook has %d cells, draws %d plots and shows %d, want 3", got.Cells, got.Plots, got.Shown)
	}
	for _, o := range got.Other {
		t.Errorf("a cell shows\n%s\nand prints\n%s\nRun testdata/notebook.py with --write", o[0], o[1])
	}
}
