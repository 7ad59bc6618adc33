package lint_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"usertrail/internal/test/document"
	"usertrail/internal/test/testkit"
)

// TestExplanationNamesWhatExists looks for the Go names and the paths that the pages about the
// program name in code spans.
func TestExplanationNamesWhatExists(t *testing.T) {
	tree := os.DirFS(testkit.Repository(t))
	declared, err := declarations(tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"docs/explanation/architecture.md", "docs/explanation/contributing.md", "docs/explanation/testing.md"} {
		for _, missing := range unknownNames(document.Read(t, name), declared, tree) {
			t.Errorf("%s names %s, which does not exist", name, missing)
		}
	}
}

var (
	spanText = regexp.MustCompile("`([^`\n]+)`")
	goName   = regexp.MustCompile(`^([a-z][a-z0-9]*)\.([A-Za-z]\w*(?:\.[A-Za-z]\w*)?)$`)
	pathName = regexp.MustCompile(`^(?:internal|cmd|scripts|docs)(?:/[\w.-]+)+/?$|^cmd$`)
)

// endings distinguish the name of a file from the name of something in a package.
var endings = []string{"json", "yaml", "md", "go", "csv"}

// foreign lists the packages of others that the pages name.
var foreign = []string{"cobra", "errors", "json", "testing"}

// unknownNames returns the names of a document that are neither declared, nor in a foreign
// package, nor files of tree.
func unknownNames(text string, declared map[string]map[string]bool, tree fs.FS) []string {
	var out []string
	for _, m := range spanText.FindAllStringSubmatch(withoutFences(text), -1) {
		if n := goName.FindStringSubmatch(m[1]); n != nil {
			if !declared[n[1]][n[2]] && !slices.Contains(foreign, n[1]) && !slices.Contains(endings, n[2]) {
				out = append(out, m[1])
			}
		} else if strings.HasPrefix(m[1], "Test") && !strings.Contains(m[1], "/") {
			if !declared[tests][m[1]] {
				out = append(out, m[1])
			}
		} else if pathName.MatchString(m[1]) {
			if _, err := fs.Stat(tree, strings.TrimSuffix(m[1], "/")); err != nil {
				out = append(out, m[1])
			}
		}
	}
	return out
}

// tests is the key of all tests in what declarations returns.
const tests = ""

var testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// declarations returns the declared names by the name of the package, for each package below cmd
// and internal. Methods and fields have the form Type.Name.
func declarations(tree fs.FS) (map[string]map[string]bool, error) {
	all := map[string]map[string]bool{tests: {}}
	for _, root := range []string{"cmd", "internal"} {
		err := fs.WalkDir(tree, root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path.Ext(name) != ".go" {
				return err
			}
			text, err := fs.ReadFile(tree, name)
			if err != nil {
				return err
			}
			if strings.HasSuffix(name, "_test.go") {
				for _, m := range testFunc.FindAllSubmatch(text, -1) {
					all[tests][string(m[1])] = true
				}
				return nil
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			if all[f.Name.Name] == nil {
				all[f.Name.Name] = map[string]bool{}
			}
			for _, d := range f.Decls {
				declare(all[f.Name.Name], d)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// declare adds the names of a declaration.
func declare(names map[string]bool, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		names[receiver(d)+d.Name.Name] = true
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, n := range s.Names {
					names[n.Name] = true
				}
			case *ast.TypeSpec:
				names[s.Name.Name] = true
				for _, member := range members(s.Type) {
					names[s.Name.Name+"."+member] = true
				}
			}
		}
	}
}

// receiver returns the receiver's type of a method and a dot, or "".
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of := d.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if index, ok := of.(*ast.IndexExpr); ok {
		of = index.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "."
	}
	return ""
}

// members returns the fields of a struct, or the methods of an interface.
func members(of ast.Expr) []string {
	var list *ast.FieldList
	switch of := of.(type) {
	case *ast.StructType:
		list = of.Fields
	case *ast.InterfaceType:
		list = of.Methods
	default:
		return nil
	}
	var out []string
	for _, f := range list.List {
		for _, n := range f.Names {
			out = append(out, n.Name)
		}
	}
	return out
}

// TestUnknownNamesAreFound names things that exist next to things that do not.
func TestUnknownNamesAreFound(t *testing.T) {
	tree := fstest.MapFS{"internal/a/a.go": {Data: []byte(`package a
type T struct{ Field int }
type I interface{ Do() }
const C = 1
func (t *T) Method() {}
func F() {}
`)}, "cmd/b/main.go": {Data: []byte("package main")}, "cmd/b/b_test.go": {Data: []byte("package main\n\nfunc TestIt(t *testing.T) {}\n")}}
	declared, err := declarations(tree)
	if err != nil {
		t.Fatal(err)
	}
	text := "`a.json` `a.T` `a.T.Field` `a.T.Method` `a.I.Do` `a.C` `a.F` `json.Marshal` `internal/a` `internal/a/a.go` `cmd` `TestIt`\n" +
		"```\n`a.Fenced`\n```\n`a.None` `a.T.None` `gone.F` `internal/none` `cmd/b/none.go` `TestNone`"
	want := []string{"a.None", "a.T.None", "gone.F", "internal/none", "cmd/b/none.go", "TestNone"}
	if got := unknownNames(text, declared, tree); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
