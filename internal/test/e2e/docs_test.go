package e2e_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"usertrail/internal/format/manifest"
	"usertrail/internal/test/testkit"
)

// document returns the text of a file of the repository.
func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testkit.Repository(t), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blocks returns the fenced blocks of a language in a document.
func blocks(t *testing.T, text, language string) []string {
	t.Helper()
	var out []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```").FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	if len(out) == 0 {
		t.Fatalf("no block of %s in the document", language)
	}
	return out
}

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
		for _, block := range blocks(t, document(t, "README.md"), "sh") {
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
	for line := range strings.Lines(blocks(t, document(t, "README.md"), "text")[0]) {
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

// TestReadmeIsShort counts words as wc does.
func TestReadmeIsShort(t *testing.T) {
	const most = 900
	if n := len(strings.Fields(document(t, "README.md"))); n > most {
		t.Errorf("README has %d words, want at most %d", n, most)
	}
}

// TestCommandsDocRuns runs the commands of docs/reference/commands.md in the clone that
// README's have run in, and finds the last line that it shows.
func TestCommandsDocRuns(t *testing.T) {
	dir, _ := readmeRun(t)
	text := document(t, "docs/reference/commands.md")
	var said []string
	for _, block := range blocks(t, text, "sh") {
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
	for _, block := range blocks(t, text, "json") {
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
	synopsis := blocks(t, document(t, "docs/reference/commands.md"), "text")[0]
	if !strings.Contains(document(t, "README.md"), synopsis) {
		t.Errorf("README does not have the commands of docs/reference/commands.md:\n%s", synopsis)
	}
	listed := statusRows(document(t, "docs/reference/exit-status.md"))
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
		statuses := firstGroups(regexp.MustCompile(`(?m)^  (\d+) +\w`).FindAllStringSubmatch(help, -1))
		if want := append(statuses, "141"); !slices.Equal(listed, want) {
			t.Errorf("docs/reference/exit-status.md lists the statuses %q, %s -h and the end of a pipe are %q", listed, name, want)
		}
	}
}

// statusRows returns the exit statuses of a table that has one in each row. A second
// table of the same page may repeat some.
func statusRows(text string) []string {
	var out []string
	for _, status := range firstGroups(regexp.MustCompile(`(?m)^\| (\d+) \|`).FindAllStringSubmatch(text, -1)) {
		if !slices.Contains(out, status) {
			out = append(out, status)
		}
	}
	return out
}

func firstGroups(matches [][]string) []string {
	var out []string
	for _, m := range matches {
		out = append(out, m[1])
	}
	return out
}

// TestTableDocNamesEveryField compares docs/reference/table.md with the JSON of manifests, ledgers and
// quarantine files.
func TestTableDocNamesEveryField(t *testing.T) {
	text := document(t, "docs/reference/table.md")
	var named []string
	for _, m := range regexp.MustCompile("`([a-z0-9_]+)`").FindAllStringSubmatch(text, -1) {
		named = append(named, m[1])
	}
	seen := map[reflect.Type]bool{}
	var look func(reflect.Type)
	look = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || seen[typ] || !strings.HasPrefix(typ.PkgPath(), module) {
			return
		}
		seen[typ] = true
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && name != "-" && !slices.Contains(named, name) {
				t.Errorf("docs/reference/table.md does not name the field %s of %v", name, typ)
			}
			look(f.Type)
		}
	}
	for _, v := range []any{manifest.Table{}, manifest.Load{}, manifest.Plan{}, manifest.Report{}} {
		look(reflect.TypeOf(v))
	}
}

// TestIndexListsEveryPage finds a link to each page of docs in docs/README.md.
func TestIndexListsEveryPage(t *testing.T) {
	names, err := markdown(os.DirFS(testkit.Repository(t)))
	if err != nil {
		t.Fatal(err)
	}
	index := document(t, "docs/README.md")
	for _, name := range names {
		page, ok := strings.CutPrefix(name, "docs/")
		if ok && page != "README.md" && !strings.Contains(index, "]("+page+")") {
			t.Errorf("docs/README.md does not list %s", page)
		}
	}
}
