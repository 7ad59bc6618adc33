package e2e_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"usertrail/internal/extract/place"
	"usertrail/internal/format/manifest"
	"usertrail/internal/test/document"
	"usertrail/internal/test/testkit"
)

const analysts = "docs/tutorial/analysts.md"

var rewriteAnalysts = flag.Bool("rewrite", false, "write what the examples of "+analysts+" print into the document")

// An example is a block of a document that the test runs.
type example struct {
	section  string // the heading above it
	language string
	code     string
	shown    *shown // nil if the document does not show the output
}

// shown is the output of an example in a document, in the block of text right below it.
type shown struct {
	text     string
	from, to int // its place in the document
}

var (
	fence   = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```\n")
	heading = regexp.MustCompile(`(?m)^## (.*)$`)
)

// examples returns the blocks of sh and python in a document, in order.
func examples(text string) []example {
	var out []example
	end := 0 // of the previous example
	for _, at := range fence.FindAllStringSubmatchIndex(text, -1) {
		language, code := text[at[2]:at[3]], text[at[4]:at[5]]
		switch {
		case language == "sh" || language == "python":
			e := example{language: language, code: code}
			for _, m := range heading.FindAllStringSubmatch(text[:at[0]], -1) {
				e.section = m[1]
			}
			out = append(out, e)
			end = at[1]
		case language == "text" && len(out) > 0 && text[end:at[0]] == "\n":
			out[len(out)-1].shown = &shown{code, at[4], at[5]}
		}
	}
	return out
}

// lastLine matches the last line of a command's output, which is for scripts.
var lastLine = regexp.MustCompile(`(?m)^\{.*"status":\d+.*\}\n`)

// run runs an example in dir. It removes the last lines of commands from the output.
func (e *example) run(t *testing.T, dir string) string {
	t.Helper()
	return lastLine.ReplaceAllString(runBlock(t, analysts, dir, e.language, e.code), "")
}

// runBlock runs a block of a document in dir, and returns what it prints. If the block is Python, this is
// without its standard error.
func runBlock(t *testing.T, name, dir, language, code string) string {
	t.Helper()
	if language == "python" {
		file := filepath.Join(t.TempDir(), "example.py")
		testkit.WriteFile(t, file, code)
		return runPython(t, dir, file)
	}
	c := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", code)
	c.Dir = dir
	c.Env = append(os.Environ(), "COLUMNS=80", "LC_ALL=C.UTF-8")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s's\n%s\nends with %v:\n%s", name, code, err, out)
	}
	return string(out)
}

// TestAnalystsDocRunsInPythonDuckDBPolarsSpark runs an analyst's day in the clone in which
// README's demo ran, and compares the output. With -rewrite it writes the output into the
// document. Spark needs a JVM and as long as all the others together, so it runs only if
// everything is tested or with -rewrite.
func TestAnalystsDocRunsInPythonDuckDBPolarsSpark(t *testing.T) {
	dir, _ := readmeRun(t)
	text := document.Read(t, analysts)
	rewrite := *rewriteAnalysts
	var told strings.Builder
	written := 0 // the part of text that is already in told
	var funnels []string
	spark := testkit.All() || rewrite
	for _, e := range examples(text) {
		if strings.Contains(e.code, "import SparkSession") && !spark {
			continue
		}
		printed := e.run(t, dir)
		if e.section == "The funnel" && strings.Contains(e.code, "demo/day/everyone") && e.language == "python" {
			funnels = append(funnels, printed)
		}
		switch {
		case e.shown == nil:
		case rewrite:
			told.WriteString(text[written:e.shown.from] + printed)
			written = e.shown.to
		case printed != e.shown.text:
			t.Errorf("%s's\n%s\nprints\n%s\nthe document says\n%s", analysts, e.code, printed, e.shown.text)
		}
	}
	programs := []string{"DuckDB", "pandas", "polars"}
	if spark {
		programs = append(programs, "Spark")
	}
	sameFunnels(t, dir, programs, funnels)
	if rewrite {
		told.WriteString(text[written:])
		testkit.WriteFile(t, filepath.Join(testkit.Repository(t), filepath.FromSlash(analysts)), told.String())
	}
}

// sameFunnels compares the programs' numbers of the funnel with each other and with
// extract's.
func sameFunnels(t *testing.T, dir string, programs, printed []string) {
	t.Helper()
	if len(printed) != len(programs) {
		t.Fatalf("%d programs counted the funnel, want %q", len(printed), programs)
	}
	text, err := os.ReadFile(filepath.Join(dir, "demo", "day", "funnel", place.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	var m manifest.Extract
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Sequence) != 3 || m.Kept == 0 || m.Sequence[2].Users != m.Kept {
		t.Fatalf("the funnel is %+v, and %d users were kept", m.Sequence, m.Kept)
	}
	counts := fmt.Sprintf("(%d, %d, %d)\n", m.Sequence[0].Users, m.Sequence[1].Users, m.Sequence[2].Users)
	for i, p := range printed {
		if !strings.HasPrefix(p, counts) {
			t.Errorf("%s counts %s extract %s", programs[i], p, counts)
		}
		if p != printed[0] {
			t.Errorf("%s prints\n%s\n%s\n%s", programs[i], p, programs[0], printed[0])
		}
	}
}
