package job

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// readDocs returns docs/reference/job.md, and the text below each heading.
func readDocs(t *testing.T) (whole string, sections map[string]string) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/reference/job.md")
	if err != nil {
		t.Fatal(err)
	}
	sections = map[string]string{}
	for _, part := range strings.Split(string(text), "\n## ")[1:] {
		heading, body, _ := strings.Cut(part, "\n")
		sections[strings.ToLower(heading)] = body
	}
	return string(text), sections
}

// keyRow matches a row of a table of keys: the key first, and its example last.
var keyRow = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|.*\\| `([^`]+)` \\|$")

// around holds, for each level, the rest of a job around an example of the level.
var around = map[string]string{
	topLevel.place:       "%s",
	logsLevel.place:      "logs:\n  %s",
	kindLevel.place:      "logs:\n  path: x\n  behaviour:\n    %s",
	tableLevel.place:     "table:\n  %s",
	behaviourLevel.place: "behaviours:\n  play:\n    %s",
	userLevel.place:      "user:\n  %s",
	timeLevel.place:      "time:\n  %s",
	kerberosLevel.place:  "kerberos:\n  %s",
	fieldLevel.place:     "behaviours:\n  play:\n    id: 1\n    fields:\n      f:\n        %s",
}

// companion is the key of a level that all its other keys need.
var companion = map[string]string{
	logsLevel.place:      "path: x",
	tableLevel.place:     "path: t",
	behaviourLevel.place: "id: 1",
	fieldLevel.place:     "type: timestamp",
}

func TestDocsNameEveryKeyAndTheirExamplesLoad(t *testing.T) {
	_, sections := readDocs(t)
	for _, l := range levels {
		var named []string
		for _, row := range keyRow.FindAllStringSubmatch(sections[l.place], -1) {
			named = append(named, row[1])
			text := example(l, row[1], row[2])
			if _, err := Parse("job.yaml", []byte(text)); err != nil {
				t.Errorf("the example of %s %s: %v\n%s", row[1], l.place, err, text)
			}
		}
		if !slices.Equal(named, l.keys) {
			t.Errorf("docs/reference/job.md, %q, names %q, want %q", l.place, named, l.keys)
		}
	}
}

// example completes an example of a key to a job.
func example(l level, key, text string) string {
	before, _, _ := strings.Cut(around[l.place], "%s")
	indent := before[strings.LastIndexByte(before, '\n')+1:]
	if more := companion[l.place]; more != "" && !strings.HasPrefix(more, key+":") {
		text += "\n" + indent + more
	}
	job := fmt.Sprintf(around[l.place], text)
	for name, rest := range map[string]string{"logs": ` "{date}"`, "behaviours": " {play: {id: 1}}"} {
		if !strings.Contains("\n"+job, "\n"+name+":") {
			job += "\n" + name + ":" + rest
		}
	}
	return job
}

func TestDocsExamplesAreJobs(t *testing.T) {
	whole, _ := readDocs(t)
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(whole, -1)
	if len(blocks) < 4 {
		t.Fatalf("docs/reference/job.md has %d examples, want at least 4", len(blocks))
	}
	for _, block := range blocks {
		if _, err := Parse("job.yaml", []byte(block[1])); err != nil {
			t.Errorf("%v\n%s", err, block[1])
		}
	}
	if lines := strings.Count(blocks[0][1], "\n"); lines > 10 {
		t.Errorf("the first job has %d lines, want at most ten", lines)
	}
}
