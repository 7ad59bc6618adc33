package e2e_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"usertrail/internal/test/document"
	"usertrail/internal/test/testkit"
)

// A clone of the repository in which README's shell blocks have run, in order.
var clone struct {
	once sync.Once
	dir  string
	said string // the output of the commands
}

// readmeRun runs README's commands once.
func readmeRun(t *testing.T) (dir, said string) {
	t.Helper()
	clone.once.Do(func() {
		dir := filepath.Join(testkit.Home(), "clone")
		copyRepository(t, dir)
		var all strings.Builder
		for _, block := range document.Blocks(t, document.Read(t, "README.md"), "sh") {
			c := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", block)
			c.Dir = dir
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("README's\n%s\nends with %v:\n%s", block, err, out)
			}
			all.Write(out)
		}
		clone.dir, clone.said = dir, all.String()
	})
	if clone.dir == "" {
		t.Fatal("README did not run to its end")
	}
	return clone.dir, clone.said
}

// copyRepository copies the files of a fresh clone.
func copyRepository(t *testing.T, to string) {
	t.Helper()
	from := testkit.Repository(t)
	leave := []string{".git", ".cache", "bin", "demo", "trails", filepath.Join("bench", "data")}
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && slices.Contains(leave, name):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		return copyFile(path, filepath.Join(to, name))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, info.Mode().Perm())
}

// TestReadmeRuns runs README's commands in a fresh clone, beginning with the demo.
func TestReadmeRuns(t *testing.T) {
	dir, said := readmeRun(t)
	if _, err := os.Stat(filepath.Join(dir, "demo", "active", "_SUCCESS")); err != nil {
		t.Errorf("README's commands left no result: %v", err)
	}
	lines := strings.Split(withoutTime(said), "\n")
	for line := range strings.Lines(document.Blocks(t, document.Read(t, "README.md"), "text")[0]) {
		line = strings.TrimSuffix(withoutTime(line), "\n")
		if line != "…" && !slices.Contains(lines, line) {
			t.Errorf("README shows %q, which none of its commands says", line)
		}
	}
}

// withoutTime removes the durations at the ends of lines.
func withoutTime(text string) string {
	return regexp.MustCompile(`(?m), in [0-9.]+m?s$`).ReplaceAllString(text, "")
}

// TestCommandsDocRuns runs the commands of docs/reference/commands.md in the clone that
// README's have run in, and finds the last line that it shows.
func TestCommandsDocRuns(t *testing.T) {
	dir, _ := readmeRun(t)
	text := document.Read(t, "docs/reference/commands.md")
	var said []string
	for _, block := range document.Blocks(t, text, "sh") {
		c := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", block)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("docs/reference/commands.md's\n%s\nends with %v:\n%s", block, err, out)
		}
		said = append(said, strings.Split(string(out), "\n")...)
	}
	if _, err := os.Stat(filepath.Join(dir, "demo", "weekend", "_SUCCESS")); err != nil {
		t.Errorf("the commands left no result: %v", err)
	}
	for _, block := range document.Blocks(t, text, "json") {
		shown, err := withoutSeconds(block)
		if err != nil {
			t.Fatalf("the JSON %s: %v", block, err)
		}
		if !slices.ContainsFunc(said, func(line string) bool { s, err := withoutSeconds(line); return err == nil && s == shown }) {
			t.Errorf("docs/reference/commands.md shows %s, which none of its commands says", block)
		}
	}
}

// withoutSeconds returns a last line of stdout without its duration.
func withoutSeconds(line string) (string, error) {
	var o map[string]any
	if err := json.Unmarshal([]byte(line), &o); err != nil {
		return "", err
	}
	delete(o, "seconds")
	b, err := json.Marshal(o)
	return string(b), err
}

// TestDocsSayWhatHelpSays compares the flags of the two commands, and the exit statuses.
func TestDocsSayWhatHelpSays(t *testing.T) {
	dir, _ := readmeRun(t)
	synopsis := document.Blocks(t, document.Read(t, "docs/reference/commands.md"), "text")[0]
	if !strings.Contains(document.Read(t, "README.md"), synopsis) {
		t.Errorf("README does not have the commands of docs/reference/commands.md:\n%s", synopsis)
	}
	listed := document.Statuses(document.Read(t, "docs/reference/exit-status.md"))
	for line := range strings.Lines(synopsis) {
		name, flags, _ := strings.Cut(strings.TrimSpace(line), " ")
		out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "bin", name), "-h").Output()
		if err != nil {
			t.Fatalf("%s -h: %v", name, err)
		}
		help := string(out)
		for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(flags, -1) {
			if !strings.Contains(help, flag+" ") {
				t.Errorf("README names %s %s, which -h does not list", name, flag)
			}
		}
		if want := append(document.HelpStatuses(help), "141"); !slices.Equal(listed, want) {
			t.Errorf("docs/reference/exit-status.md lists the statuses %q, %s -h and the end of a pipe are %q", listed, name, want)
		}
	}
}
