package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"usertrail/internal/test/document"
	"usertrail/internal/test/testkit"
)

// TestFormatsDocRunsInPython runs the commands and the Python of docs/reference/formats.md, in order,
// in the clone in which README's demo ran, and compares the output.
func TestFormatsDocRunsInPython(t *testing.T) {
	dir, _ := readmeRun(t)
	text := document.Read(t, "docs/reference/formats.md")
	var said strings.Builder
	ran := map[string]int{}
	for _, m := range regexp.MustCompile("(?ms)^```(sh|python)\n(.*?)^```").FindAllStringSubmatch(text, -1) {
		out := formatsExample(t, dir, m[1], m[2])
		if strings.Contains(m[2], "select user_id") && !strings.Contains(out, "user_id") {
			t.Errorf("docs/reference/formats.md's\n%s\nprints\n%s", m[2], out)
		}
		said.WriteString(out)
		ran[m[1]]++
	}
	if ran["sh"] < 4 || ran["python"] < 4 {
		t.Errorf("only %v blocks ran", ran)
	}
	for _, shown := range document.Blocks(t, text, "text") {
		for line := range strings.Lines(shown) {
			if !strings.Contains(said.String(), line) {
				t.Errorf("docs/reference/formats.md shows %sbut its commands say\n%s", line, said.String())
			}
		}
	}
}

// formatsExample runs a block of the document, and returns what it prints.
func formatsExample(t *testing.T, dir, language, code string) string {
	t.Helper()
	if language == "python" {
		file := filepath.Join(t.TempDir(), "example.py")
		testkit.WriteFile(t, file, code)
		return runPython(t, dir, file)
	}
	c := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", code)
	c.Dir, c.Env = dir, append(os.Environ(), "LC_ALL=C")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("docs/reference/formats.md's\n%s\nends with %v:\n%s", code, err, out)
	}
	return string(out)
}
