package lint_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"usertrail/internal/test/testkit"
)

// TestManyCasesAreTests looks for a test for each name in MANYCASES of the Makefile. The names
// choose the tests that run without the race detector.
func TestManyCasesAreTests(t *testing.T) {
	root := testkit.Repository(t)
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^MANYCASES := ((?:.*\\\n)*.*)`).FindSubmatch(text)
	if list == nil {
		t.Fatal("the Makefile has no MANYCASES")
	}
	tests := testNames(t, filepath.Join(root, "internal")) + testNames(t, filepath.Join(root, "cmd"))
	for _, name := range strings.Fields(strings.ReplaceAll(string(list[1]), "\\\n", " ")) {
		test, _, _ := strings.Cut(name, "/") // its subtests are not in the source
		if !regexp.MustCompile(test).MatchString(tests) {
			t.Errorf("MANYCASES in the Makefile names %s, and no test has that name", name)
		}
	}
}

// testNames returns the names of all tests and fuzz targets below a directory, one on a line.
func testNames(t *testing.T, dir string) string {
	t.Helper()
	var names strings.Builder
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		for _, m := range declared.FindAllSubmatch(text, -1) {
			names.Write(append(m[1], '\n'))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names.String()
}
