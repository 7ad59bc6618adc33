package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/extract/report"
	"usertrail/internal/test/document"
)

// TestReportDocRuns runs the commands of docs/reference/report.md in the clone in which README's demo
// ran.
func TestReportDocRuns(t *testing.T) {
	dir, _ := readmeRun(t)
	for _, block := range document.Blocks(t, document.Read(t, "docs/reference/report.md"), "sh") {
		c := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", block)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("docs/reference/report.md's\n%s\nends with %v:\n%s", block, err, out)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "demo", "active.html"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "Which behaviour follows which") {
		t.Errorf("the page does not say which behaviour follows which")
	}
	text, err := os.ReadFile(filepath.Join(dir, "demo", "active.json"))
	if err != nil {
		t.Fatal(err)
	}
	r := new(report.Report)
	if err := json.Unmarshal(text, r); err != nil {
		t.Fatal(err)
	}
	if r.Kept == 0 || r.Days.Unit != report.Day || len(r.Days.Periods) != 10 || len(r.Samples.Trails) != report.SampleTrails {
		t.Errorf("the numbers are %+v", r)
	}
}
