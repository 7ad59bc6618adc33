// Package lint_test holds the tests that only read the repository: documents, links, imports,
// the length of functions, and the names of tests in the Makefile. They need some seconds, and
// scripts/check runs them.
package lint_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/extract/report"
	"usertrail/internal/format/manifest"
	"usertrail/internal/test/document"
	"usertrail/internal/test/testkit"
)

// TestReadmeIsShort counts words as wc does.
func TestReadmeIsShort(t *testing.T) {
	const most = 900
	if n := len(strings.Fields(document.Read(t, "README.md"))); n > most {
		t.Errorf("README has %d words, want at most %d", n, most)
	}
}

// TestIndexListsEveryPage finds a link to each page of docs in docs/README.md.
func TestIndexListsEveryPage(t *testing.T) {
	names, err := markdown(os.DirFS(testkit.Repository(t)))
	if err != nil {
		t.Fatal(err)
	}
	index := document.Read(t, "docs/README.md")
	for _, name := range names {
		page, ok := strings.CutPrefix(name, "docs/")
		if ok && page != "README.md" && !strings.Contains(index, "]("+page+")") {
			t.Errorf("docs/README.md does not list %s", page)
		}
	}
}

// TestTableDocNamesEveryField compares docs/reference/table.md with the JSON of manifests,
// ledgers and quarantine files.
func TestTableDocNamesEveryField(t *testing.T) {
	namesEveryField(t, "docs/reference/table.md", manifest.Table{}, manifest.Load{}, manifest.Plan{}, manifest.Report{})
}

// TestReportDocNamesEveryField compares docs/reference/report.md with the JSON of a report.
func TestReportDocNamesEveryField(t *testing.T) {
	namesEveryField(t, "docs/reference/report.md", report.Report{})
}

// namesEveryField looks in a document for the JSON keys of values, and of the values in them.
func namesEveryField(t *testing.T, page string, values ...any) {
	t.Helper()
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`([a-z0-9_]+)`").FindAllStringSubmatch(document.Read(t, page), -1) {
		named[m[1]] = true
	}
	seen := map[reflect.Type]bool{}
	var look func(reflect.Type)
	look = func(typ reflect.Type) {
		for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice}, typ.Kind()) {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || seen[typ] || !strings.HasPrefix(typ.PkgPath(), module) {
			return
		}
		seen[typ] = true
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && name != "-" && !named[name] {
				t.Errorf("%s does not name the field %s of %v", page, name, typ)
			}
			look(f.Type)
		}
	}
	for _, v := range values {
		look(reflect.TypeOf(v))
	}
}
