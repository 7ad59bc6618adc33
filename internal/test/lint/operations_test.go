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
	named := regexp.MustCompile(`\bErr[A-Z]\w*\s*=\s*(?:errors\.New|fmt\.Errorf)\("(?:%w: )?([^"]+)"`)
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
	adviceIsInTheBook(t, book, source.String())
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

// explained maps messages with their own advice, which the runbook need not repeat, to the
// place where users see them.
var explained = map[string]string{
	"** is not understood":      "lines of the job file is wrong, with file and line",
	"{date:%s}":                 "as above",
	"layout %s has no size":     "as above",
	"field %s: every trail has": "as above",
	"%q is not a time":          "a wrong command line or query, with the flag",
	"%q: write FROM-TO":         "as above",
	"%q: the hours of":          "as above",
	"plan get: which rows":      "as above",
	"xi:include":                "hadoop configuration, with the file",
	"hbase: put":                "the program gave itself a wrong cell",
	"response of %d bytes":      "the program asks for less by itself",
}

var (
	saidText   = regexp.MustCompile(`\b(?:fmt\.Errorf|errors\.New)\(\s*"((?:[^"\\]|\\.)*)"`)
	saysToDo   = regexp.MustCompile(`[:;,] (?:or )?(?:name|put|remove|run|say|deliver|move|correct|load|plan|take|raise|mount|type|make|write|choose|ask|upgrade|give|wait|let|keep|begin|lower|drop|rename|bring|use|set) `)
	formatVerb = regexp.MustCompile(`%[-+#0-9.]*[a-zA-Z]`)
)

// adviceIsInTheBook finds the messages in the source that give advice. A message that wraps
// an error belongs to the entry of the error. The runbook must have some words of each other
// message.
func adviceIsInTheBook(t *testing.T, book, source string) {
	t.Helper()
	found, used := 0, map[string]bool{}
	for _, m := range saidText.FindAllStringSubmatch(source, -1) {
		text := m[1]
		if !saysToDo.MatchString(text+" ") || strings.Contains(text, "%w") {
			continue
		}
		found++
		known := slices.ContainsFunc(formatVerb.Split(text, -1), func(part string) bool { return inTheBook(book, part) })
		for begins := range explained {
			if strings.HasPrefix(text, begins) || strings.Contains(text, ": "+begins) {
				known, used[begins] = true, true
			}
		}
		if !known {
			t.Errorf("docs/howto/operations.md has no words of %q", text)
		}
	}
	if found < 20 {
		t.Errorf("found only %d messages that say what to do", found)
	}
	for begins := range explained {
		if !used[begins] {
			t.Errorf("no program says %q any more", begins)
		}
	}
}

// inTheBook reports whether some adjacent words of a message are in the runbook.
func inTheBook(book, text string) bool {
	const together = 4
	words := strings.Fields(text)
	for i := range max(0, len(words)-together+1) {
		if strings.Contains(book, strings.Trim(strings.Join(words[i:i+together], " "), ":;,.")) {
			return true
		}
	}
	return false
}

// TestOperationsListsTheStatuses compares the runbook's table with README's.
func TestOperationsListsTheStatuses(t *testing.T) {
	want := document.Statuses(document.Read(t, "docs/reference/exit-status.md"))
	got := slices.DeleteFunc(document.Statuses(document.Read(t, "docs/howto/operations.md")), func(s string) bool { return s == "137" }) // the shell's
	if !slices.Equal(got, want) {
		t.Errorf("docs/howto/operations.md lists the statuses %q, want %q", got, want)
	}
}
