package lint_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"usertrail/internal/test/document"
	"usertrail/internal/test/testkit"
)

// A message is a text in the source of the programs that they print as an error or as a warning.
type message struct {
	file  string
	text  string   // with the verbs of package fmt
	wraps []string // the named errors that it wraps, each with its package: "table.ErrUnfit"
	warns bool
}

// wide lists named errors with many causes. Their text, such as "refused", names the kind of
// a failure, and no cause.
var wide = []string{
	"bulkload.ErrRequest", "convert.ErrRequest", "table.ErrUnfit", "table.ErrDamaged",
	"bulkload.ErrTooBad", "bulkload.ErrLeft", "job.ErrNoInput", "iofs.ErrExist", "bulkload.ErrNothing", "upkeep.ErrNothing", "pieces.ErrNothing",
}

// explained maps messages that the runbook need not have to the reason: where users see them.
var explained = map[string]string{
	"** is not understood":      "lines of the job file is wrong, with file and line",
	"{date:%s}":                 "as above",
	"layout %s has no sizes":    "as above",
	"field %s: every trail has": "as above",
	"%q is not a time":          "a wrong command line or query, with the flag",
	"%q: write FROM-TO":         "as above",
	"%q: the hours of":          "as above",
	"plan get: the rows":        "as above",
	"xi:include":                "hadoop configuration, with the file",
	"response of %d bytes":      "the program asks for less by itself",
}

var (
	saysToDo    = regexp.MustCompile(`[:;,] (?:or )?(?:name|put|remove|run|say|deliver|move|correct|load|plan|take|raise|mount|type|make|write|choose|ask|upgrade|give|wait|let|keep|begin|lower|drop|rename|bring|use|set|create|have|extract|repeat|convert|replay|commit) `)
	formatVerb  = regexp.MustCompile(`%(?:\[\d+\])?[-+#0-9.]*[a-zA-Z]`)
	packageName = regexp.MustCompile(`^\w+$`)
	hasLetter   = regexp.MustCompile(`[\pL\d]`)
)

// TestOperationsHasEveryMessage compares the runbook with the messages in the source. The runbook must have
// some adjacent words of each message that a person can do something about:
//
//   - a warning;
//   - a message with a next step, if it wraps no named error;
//   - a message that wraps an error of the list wide.
//
// It need not have other messages:
//
//   - A message that wraps another named error adds the place and the next step to it. The runbook has
//     the named error, as TestOperationsNamesEveryError checks. The command line is wrong in most of
//     them, and the message names the flag.
//   - A message without a name and without a next step adds a place to an error of the system, or reports
//     a fault of the program.
func TestOperationsHasEveryMessage(t *testing.T) {
	book := strings.Join(strings.Fields(document.Read(t, "docs/howto/operations.md")), " ")
	found, used := 0, map[string]bool{}
	for _, m := range messages(t) {
		if !m.belongs() {
			continue
		}
		found++
		known := m.isIn(book)
		for begins := range explained {
			if strings.HasPrefix(m.text, begins) || strings.Contains(m.text, ": "+begins) {
				known, used[begins] = true, true
			}
		}
		if !known {
			t.Errorf("docs/howto/operations.md has no words of %q, a message of %s", m.text, m.file)
		}
	}
	if found < 150 {
		t.Errorf("found only %d messages", found)
	}
	for begins := range explained {
		if !used[begins] {
			t.Errorf("no program says %q any more", begins)
		}
	}
}

// belongs reports whether the runbook must have the message.
func (m *message) belongs() bool {
	switch {
	case !slices.ContainsFunc(m.parts(), func(part []string) bool { return len(part) >= fewest }):
		return false // it is too short to be found
	case m.warns:
		return true
	case len(m.wraps) > 0:
		return slices.ContainsFunc(m.wraps, func(name string) bool { return slices.Contains(wide, name) })
	}
	step := saysToDo.FindStringIndex(m.text + " ")
	return step != nil && !packageName.MatchString(m.text[:step[0]]) // "hfile: write at offset 7" is no advice
}

// The runbook must have that many adjacent words of a message. If the longest text between two verbs has
// fewer words, the runbook must have all of them.
const (
	enough = 5
	fewest = 3
)

// isIn reports whether the book has adjacent words of the message.
func (m *message) isIn(book string) bool {
	for _, words := range m.parts() {
		together := min(enough, len(words))
		if together < fewest {
			continue
		}
		for i := range len(words) - together + 1 {
			if strings.Contains(book, strings.Trim(strings.Join(words[i:i+together], " "), ":;,.")) {
				return true
			}
		}
	}
	return false
}

// parts returns the words between the verbs of the message.
func (m *message) parts() [][]string {
	var out [][]string
	for _, part := range formatVerb.Split(m.text, -1) {
		out = append(out, slices.DeleteFunc(strings.Fields(part), func(word string) bool { return !hasLetter.MatchString(word) }))
	}
	return out
}

// messages returns the messages of the programs.
func messages(t *testing.T) []message {
	t.Helper()
	var out []message
	root := testkit.Repository(t)
	for _, dir := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					if m := messageOf(call, file.Name.Name); m != nil {
						m.file = name
						out = append(out, *m)
					}
				}
				return true
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// messageOf returns the message of a call in a package, or nil if the call makes none.
func messageOf(call *ast.CallExpr, pkg string) *message {
	function, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	name, m := qualified(function, pkg), new(message)
	args := call.Args
	switch {
	case name == "fmt.Errorf", name == "errors.New":
	case name == "exit.New" && len(args) == 2:
		args = args[1:]
	case name == "table.Damaged":
		m.wraps = append(m.wraps, "table.ErrDamaged")
	case function.Sel.Name == "Warn":
		m.warns = true
	default:
		return nil
	}
	text, ok := args[0].(*ast.BasicLit)
	if !ok || text.Kind != token.STRING {
		return nil
	}
	m.text, _ = strconv.Unquote(text.Value)
	for _, a := range args[1:] {
		if name := qualified(a, pkg); strings.Contains(name, ".Err") {
			m.wraps = append(m.wraps, name)
		}
	}
	return m
}

// qualified returns the name of an identifier with its package. It returns "" for another expression.
func qualified(e ast.Expr, pkg string) string {
	switch e := e.(type) {
	case *ast.Ident:
		return pkg + "." + e.Name
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return x.Name + "." + e.Sel.Name
		}
	}
	return ""
}
