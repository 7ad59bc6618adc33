package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/extract/report"
)

// TestReportDocRuns runs the commands of docs/reference/report.md in the clone in which README's demo
// ran.
func TestReportDocRuns(t *testing.T) {
	dir, _ := readmeRun(t)
	for _, block := range blocks(t, document(t, "docs/reference/report.md"), "sh") {
		c := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", block)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("docs/reference/report.md's\n%s\nends with %v:\n%s", block, err, out)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "demo", "active.html"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "Which behaviour follows which") {
		t.Errorf("the page does not say which behaviour follows which")
	}
	text, err := os.ReadFile(filepath.Join(dir, "demo", "active.json"))
	if err != nil {
		t.Fatal(err)
	}
	r := new(report.Report)
	if err := json.Unmarshal(text, r); err != nil {
		t.Fatal(err)
	}
	if r.Kept == 0 || r.Days.Unit != report.Day || len(r.Days.Periods) != 10 || len(r.Samples.Trails) != report.SampleTrails {
		t.Errorf("the numbers are %+v", r)
	}
}

// TestReportDocNamesEveryField compares docs/reference/report.md with the JSON of a report.
func TestReportDocNamesEveryField(t *testing.T) {
	var named []string
	for _, m := range regexp.MustCompile("`([a-z0-9_]+)`").FindAllStringSubmatch(document(t, "docs/reference/report.md"), -1) {
		named = append(named, m[1])
	}
	seen := map[reflect.Type]bool{}
	var look func(reflect.Type)
	look = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || seen[typ] {
			return
		}
		seen[typ] = true
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && !slices.Contains(named, name) {
				t.Errorf("docs/reference/report.md does not name the field %s of %v", name, typ)
			}
			look(f.Type)
		}
	}
	look(reflect.TypeFor[report.Report]())
}
