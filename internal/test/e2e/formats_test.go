package e2e_test

import (
	"regexp"
	"strings"
	"testing"

	"usertrail/internal/test/document"
)

// TestFormatsDocRunsInPython runs the commands and the Python of docs/reference/formats.md, in order,
// in the clone in which README's demo ran, and compares the output.
func TestFormatsDocRunsInPython(t *testing.T) {
	dir, _ := readmeRun(t)
	text := document.Read(t, "docs/reference/formats.md")
	var said strings.Builder
	ran := map[string]int{}
	for _, m := range regexp.MustCompile("(?ms)^```(sh|python)\n(.*?)^```").FindAllStringSubmatch(text, -1) {
		out := runBlock(t, "docs/reference/formats.md", dir, m[1], m[2])
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
