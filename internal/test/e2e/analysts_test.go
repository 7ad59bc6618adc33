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

	"usertrail/internal/extract"
	"usertrail/internal/format/manifest"
	"usertrail/internal/test/testkit"
)

const analysts = "docs/tutorial/analysts.md"

var rewriteAnalysts = flag.Bool("rewrite", false, "write what the examples of "+analysts+" print into the document")

// An example is a block of a document that is run.
type example struct {
	section  string // the heading above it
	language string
	code     string
	shown    *shown // nil where the document does not say what it prints
}

// shown is what a document says that an example prints, in the block of text right
// below it.
type shown struct {
	text     string
	from, to int // where it stands in the document
}

var (
	fence   = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```\n")
	heading = regexp.MustCompile(`(?m)^## (.*)$`)
)

// examples are the blocks of sh and python in a document, in order.
func examples(text string) []example {
	var out []example
	end := 0 // of the example before
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

// lastLine is the line that commands end with, for scripts.
var lastLine = regexp.MustCompile(`(?m)^\{.*"status":\d+.*\}\n`)

// run runs an example in dir. What it prints comes without last lines of commands,
// and of Python without standard error.
func (e *example) run(t *testing.T, dir string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", e.code)
	if e.language == "python" {
		// A file, since DuckDB takes -c for a person, and draws a bar where a query takes long.
		file := filepath.Join(t.TempDir(), "example.py")
		if err := os.WriteFile(file, []byte(e.code), 0o644); err != nil {
			t.Fatal(err)
		}
		c = exec.CommandContext(t.Context(), pythonProgram(t), file)
	}
	c.Dir = dir
	// Spark is on the loopback from its first moment, and is done before what its JVM
	// optimizes would pay off.
	c.Env = append(os.Environ(), "SPARK_LOCAL_IP=127.0.0.1", "JDK_JAVA_OPTIONS=-XX:TieredStopAtLevel=1", "COLUMNS=80", "LC_ALL=C.UTF-8")
	var out, said strings.Builder
	c.Stdout, c.Stderr = &out, &out
	if e.language == "python" {
		c.Stderr = &said
	}
	if err := c.Run(); err != nil {
		t.Fatalf("%s's\n%s\nends with %v:\n%s%s", analysts, e.code, err, out.String(), said.String())
	}
	return lastLine.ReplaceAllString(out.String(), "")
}

// TestAnalystsDocRunsInPythonDuckDBPolarsSpark types a day of an analyst into the
// clone that README's demo ran in, and compares what it prints. With -rewrite it
// writes the output into the document. Spark runs if everything is tested or with
// -rewrite: it needs a JVM and as long as all the others.
func TestAnalystsDocRunsInPythonDuckDBPolarsSpark(t *testing.T) {
	dir, _ := readmeRun(t)
	text := document(t, analysts)
	rewrite := *rewriteAnalysts
	var told strings.Builder
	written := 0 // how much of text is in told
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
		if err := os.WriteFile(filepath.Join(repository(t), filepath.FromSlash(analysts)), []byte(told.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// sameFunnels compares what the programs printed of the funnel with one another and
// with what extract counted.
func sameFunnels(t *testing.T, dir string, programs, printed []string) {
	t.Helper()
	if len(printed) != len(programs) {
		t.Fatalf("%d programs counted the funnel, want %q", len(printed), programs)
	}
	text, err := os.ReadFile(filepath.Join(dir, "demo", "day", "funnel", extract.ManifestName))
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
