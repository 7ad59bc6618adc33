package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/test/testkit"
)

// TestLayoutsAreComparedByPythonAndDuckDB runs the comparison of layouts on few records, in
// tables of files. It uses users of a hundred events, and users of one event if everything is
// tested. It fails if the result of a layout differs from the others, or from DuckDB's result
// over the logs.
func TestLayoutsAreComparedByPythonAndDuckDB(t *testing.T) {
	t.Parallel()
	dir := testkit.Commands(t)
	if err := testkit.Build(dir, "usertrail/scripts/bench/layoutbench"); err != nil {
		t.Fatal(err)
	}
	each := testkit.Pick([]string{"100"}, []string{"1", "100"})
	data, out := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "figures.json")
	run := exec.CommandContext(t.Context(), testkit.Python(t), "scripts/bench", "layouts",
		"--records", "2000", "--each", strings.Join(each, " "), "--where", "files", "--asked", "10", "--dir", data, "--json", out)
	run.Dir = testkit.Repository(t)
	run.Env = append(os.Environ(), "USERTRAIL_BIN="+dir, "PYTHONDONTWRITEBYTECODE=1")
	if said, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", run, err, said)
	}
	checkFigures(t, out, len(each)*7)
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		t.Errorf("the compared tables are still in %s: %v", data, err)
	}
}

// checkFigures checks that a comparison has all figures that are read from it.
func checkFigures(t *testing.T, file string, tables int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Layout, Where        string
		Each, Records, Bytes int64
		Load                 float64                       `json:"load_seconds"`
		Queries              map[string]map[string]float64 `json:"questions"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != tables {
		t.Fatalf("%d tables were measured, want %d", len(all), tables)
	}
	for _, f := range all {
		if f.Layout == "" || f.Where != "files" || f.Each == 0 || f.Records != 2000 || f.Bytes == 0 || f.Load == 0 {
			t.Errorf("a figure is missing in %+v", f)
		}
		for _, name := range []string{"at", "user", "latest", "days", "list", "span"} {
			q := f.Queries[name]
			if q["p50_ms"] <= 0 || q["p99_ms"] < q["p50_ms"] || q["per_second"] <= 0 {
				t.Errorf("%s, %d events per user: %s took %v", f.Layout, f.Each, name, q)
			}
		}
		if all := f.Queries["user"]; all["rows"] < 1 || all["cells"] < float64(f.Each) || all["behaviours"] != float64(f.Each) {
			t.Errorf("%s, %d events per user: the query for a user has %v", f.Layout, f.Each, all)
		}
	}
}
