package lint_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"usertrail/internal/test/testkit"
)

// mostLines is the maximum length of a function: it fits on a screen.
const mostLines = 60

func TestFunctionsAreShort(t *testing.T) {
	long, err := longFunctions(os.DirFS(testkit.Repository(t)), mostLines)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range long {
		t.Error(line)
	}
}

// longFunctions returns the functions with more than most lines below cmd and internal, without
// the functions of tests.
func longFunctions(tree fs.FS, most int) ([]string, error) {
	var long []string
	for _, root := range []string{"cmd", "internal"} {
		err := fs.WalkDir(tree, root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := fs.ReadFile(tree, name)
			if err != nil {
				return err
			}
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok {
					begin, end := set.Position(fn.Pos()), set.Position(fn.End())
					if lines := end.Line - begin.Line + 1; lines > most {
						long = append(long, fmt.Sprintf("%s:%d: %s has %d lines, want at most %d", name, begin.Line, fn.Name.Name, lines, most))
					}
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return long, nil
}

// TestLongFunctionsAreFound has a function of three lines and a function of four.
func TestLongFunctionsAreFound(t *testing.T) {
	tree := fstest.MapFS{
		"cmd/a/a.go":           {Data: []byte("package a\n\nfunc short() {\n\tprintln()\n}\n\n// long\nfunc long() {\n\tprintln()\n\tprintln()\n}\n")},
		"internal/b/b_test.go": {Data: []byte("package b\n\nfunc test() {\n\n\n\n}\n")},
	}
	got, err := longFunctions(tree, 3)
	want := []string{"cmd/a/a.go:8: long has 4 lines, want at most 3"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}
