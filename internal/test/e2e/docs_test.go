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

	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
)

// document returns the text of a file of the repository.
func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository(t), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blocks are the fenced blocks of a language in a document.
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
	said string // by the commands
}

// readmeRun runs README as it is written, once.
func readmeRun(t *testing.T) (dir, said string) {
	t.Helper()
	clone.once.Do(func() {
		dir := filepath.Join(scratch, "clone")
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

// copyRepository copies what a fresh clone holds.
func copyRepository(t *testing.T, to string) {
	t.Helper()
	from := repository(t)
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

// TestReadmeRuns pastes what README says into a fresh clone, the demo first.
func TestReadmeRuns(t *testing.T) {
	dir, said := readmeRun(t)
	for _, name := range []string{"demo/active/_SUCCESS", "demo/weekend/_SUCCESS", "demo/first/both/_SUCCESS", "demo/first/trails/manifest.json"} {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Errorf("README's commands left no %s: %v", name, err)
		}
	}
	for _, block := range blocks(t, document(t, "README.md"), "json") {
		shown, err := withoutSeconds(block)
		if err != nil {
			t.Fatalf("README's JSON %s: %v", block, err)
		}
		if !slices.ContainsFunc(strings.Split(said, "\n"), func(line string) bool { s, err := withoutSeconds(line); return err == nil && s == shown }) {
			t.Errorf("README shows %s, which none of its commands says", block)
		}
	}
}

// withoutSeconds is a last line of stdout without the time it took.
func withoutSeconds(line string) (string, error) {
	var o map[string]any
	if err := json.Unmarshal([]byte(line), &o); err != nil {
		return "", err
	}
	delete(o, "seconds")
	b, err := json.Marshal(o)
	return string(b), err
}

// TestReadmeDuckDBRuns runs README's Python in the same clone.
func TestReadmeDuckDBRuns(t *testing.T) {
	dir, _ := readmeRun(t)
	for _, block := range blocks(t, document(t, "README.md"), "python") {
		c := exec.CommandContext(t.Context(), pythonProgram(t), "-c", block)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "user_id") {
			t.Errorf("README's\n%s\nends with %v:\n%s", block, err, out)
		}
	}
}

// TestReadmeSaysWhatHelpSays compares flags and exit statuses.
func TestReadmeSaysWhatHelpSays(t *testing.T) {
	dir, _ := readmeRun(t)
	readme := document(t, "README.md")
	listed := regexp.MustCompile(`(?m)^\| (\d+) \|`).FindAllStringSubmatch(readme, -1)
	synopsis := blocks(t, readme, "text")[0]
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
		statuses := regexp.MustCompile(`(?m)^  (\d+) +\w`).FindAllStringSubmatch(help, -1)
		if a, b := firstGroups(listed), firstGroups(statuses); !slices.Equal(a, b) {
			t.Errorf("README lists the statuses %q, %s -h %q", a, name, b)
		}
	}
}

func firstGroups(matches [][]string) []string {
	var out []string
	for _, m := range matches {
		out = append(out, m[1])
	}
	return out
}

// TestReadmeJobsLoad loads README's YAML; its first job has ten lines at most.
func TestReadmeJobsLoad(t *testing.T) {
	for _, block := range blocks(t, document(t, "README.md"), "yaml") {
		if _, err := job.Parse("README.md", []byte(block)); err != nil {
			t.Errorf("%v\n%s", err, block)
		}
		if n := strings.Count(block, "\n"); n > 10 {
			t.Errorf("the first job has %d lines, want at most ten", n)
		}
	}
}

// TestTableDocNamesEveryField holds docs/reference/table.md against the JSON of manifests,
// ledgers and quarantine files.
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
