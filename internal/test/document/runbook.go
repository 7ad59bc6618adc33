package document

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// An Advice is an entry of docs/howto/operations.md.
type Advice struct {
	Heading string
	Status  int      // exit status of its section; -1 if the section has none
	Says    []string // lines of the message that it shows
	SH      []string // blocks that run here
	Cluster []string // lines that need a cluster
	Rows    []string // messages, warnings and notes in the first column of its tables
}

var (
	// messageTable matches a table whose first column has messages, warnings or notes.
	messageTable = regexp.MustCompile(`(?m)^\| (?:message|warning|note) \|.*\n\|[-|]+\n((?:\|.*\n)+)`)
	firstCell    = regexp.MustCompile(`(?m)^\|(.*?) \| `)
	codeSpan     = regexp.MustCompile("`([^`]+)`")
)

var anyBlock = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```")

// Advices reads the entries of the runbook. The first one is its introduction.
func Advices(t testing.TB) []Advice {
	t.Helper()
	var out []Advice
	status := -1
	for _, part := range regexp.MustCompile(`(?m)^##`).Split(Read(t, "docs/howto/operations.md"), -1) {
		heading, body, _ := strings.Cut(part, "\n")
		if !strings.HasPrefix(heading, "#") {
			status = -1
			if m := regexp.MustCompile(`^ Status ([0-9]+)`).FindStringSubmatch(heading); m != nil {
				status, _ = strconv.Atoi(m[1])
			}
		}
		a := Advice{Heading: strings.Trim(strings.TrimLeft(heading, "# "), "`"), Status: status}
		for _, m := range anyBlock.FindAllStringSubmatch(body, -1) {
			switch lines := strings.Split(strings.TrimSpace(m[2]), "\n"); m[1] {
			case "text":
				a.Says = append(a.Says, lines...)
			case "sh":
				a.SH = append(a.SH, m[2])
			case "shell":
				a.Cluster = append(a.Cluster, lines...)
			default:
				t.Errorf("%s has a block of %s", heading, m[1])
			}
		}
		for _, table := range messageTable.FindAllStringSubmatch(body, -1) {
			for _, cell := range firstCell.FindAllStringSubmatch(table[1], -1) {
				for _, m := range codeSpan.FindAllStringSubmatch(cell[1], -1) {
					a.Rows = append(a.Rows, m[1])
				}
			}
		}
		out = append(out, a)
	}
	return out
}
