package lint_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/test/document"
	"usertrail/internal/test/testkit"
)

// within lists errors that another error explains before a user sees them, or that the
// program uses internally.
var within = []string{"trailfile: the writer is closed", "client is closed", "not a row of the reversed layout", "snapshot exists"}

// TestOperationsNamesEveryError compares the runbook with the source. The source must contain
// its headings, and the runbook must contain the text of every named error.
func TestOperationsNamesEveryError(t *testing.T) {
	book := document.Read(t, "docs/howto/operations.md")
	var source strings.Builder
	for _, dir := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(testkit.Repository(t), dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test") {
				return err
			}
			text, err := os.ReadFile(path)
			source.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	named := regexp.MustCompile(`\bErr[A-Z]\w*\s*=\s*(?:errors\.New|fmt\.Errorf)\("(?:%w[:,] )?([^"]+)"`)
	found := 0
	for _, m := range named.FindAllStringSubmatch(source.String(), -1) {
		found++
		text := strings.TrimSuffix(strings.SplitN(m[1], ";", 2)[0], ": the server does not offer the service, or wants another authentication")
		text, _, _ = strings.Cut(text, ",")
		if !strings.Contains(book, text) && !slices.Contains(within, m[1]) {
			t.Errorf("docs/howto/operations.md does not say what %q means", m[1])
		}
	}
	if found < 30 {
		t.Errorf("found only %d errors that have names", found)
	}
	for _, a := range document.Advices(t) {
		if !strings.Contains(book, "### `"+a.Heading+"`") {
			continue
		}
		// The source has only parts of messages that are composed at run time. The system
		// reports a full disk.
		pieces := map[string]string{"but int64 in the table": "in the table", "stopped by SIGTERM": "stopped by ", "stopped by SIGHUP": "stopped by ", "id 3, but 2 in the table": "id %d, but %d in the table", "damaged list of retired files": "list of retired files", "no space left on device": "quota exceeded", "unexpected EOF": "io.ErrUnexpectedEOF", "is a directory": "syscall.EISDIR"}
		want := a.Heading
		if p, ok := pieces[want]; ok {
			want = p
		}
		if !strings.Contains(source.String(), want) {
			t.Errorf("no program says %q", a.Heading)
		}
	}
}

// TestOperationsListsTheStatuses compares the runbook's table with README's.
func TestOperationsListsTheStatuses(t *testing.T) {
	want := document.Statuses(document.Read(t, "docs/reference/exit-status.md"))
	got := slices.DeleteFunc(document.Statuses(document.Read(t, "docs/howto/operations.md")), func(s string) bool { return s == "137" }) // the shell's
	if !slices.Equal(got, want) {
		t.Errorf("docs/howto/operations.md lists the statuses %q, want %q", got, want)
	}
}
