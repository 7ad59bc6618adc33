package trailfile_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/test/testkit"
)

// said holds a sample, its file in each format, and the expected results in the form that
// testdata/readers.py reads.
type said struct {
	Name    string       `json:"name"`
	Files   []string     `json:"files"`
	Rows    int          `json:"rows"`
	Columns []saidColumn `json:"columns"`
}

type saidColumn struct {
	Name     string         `json:"name"`
	Type     behaviour.Type `json:"type"`
	Nullable bool           `json:"nullable"`
	Values   []any          `json:"values"`
}

// TestPythonReadersAgree runs pyarrow, DuckDB and polars. They read every sample completely
// in every format. They filter Parquet files by each column, and report null counts, bounds,
// indexes and Bloom filters. Everything is compared with the written rows.
func TestPythonReadersAgree(t *testing.T) {
	t.Parallel()
	python := testkit.Python(t)
	dir := t.TempDir()
	var all []said
	files := 0
	for i, c := range samples() {
		one := said{Name: c.name, Rows: len(c.rows), Columns: truth(c)}
		for _, f := range formats {
			if !f.tries(c) {
				continue
			}
			files++
			data, _ := f.write(t, c, 5000)
			file := fmt.Sprintf("%02d.%s", i, f.name)
			testkit.WriteFile(t, filepath.Join(dir, file), string(data))
			one.Files = append(one.Files, file)
		}
		all = append(all, one)
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	testkit.WriteFile(t, filepath.Join(dir, "samples.json"), string(text))
	out, err := exec.CommandContext(t.Context(), python, "testdata/readers.py", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%s testdata/readers.py: %v\n%s", python, err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	last := lines[len(lines)-1]
	t.Log(last)
	if !strings.HasPrefix(last, fmt.Sprintf("%d files, ", files)) {
		t.Errorf("did not read all of the %d files: %s", files, last)
	}
	for _, l := range lines[:len(lines)-1] {
		t.Error(l)
	}
}

func truth(c sample) []saidColumn {
	var columns []saidColumn
	for _, f := range c.schema.Columns {
		columns = append(columns, saidColumn{Name: f.Name, Type: f.Type, Nullable: f.Nullable})
	}
	for col := range columns {
		columns[col].Values = make([]any, len(c.rows))
		for i := range c.rows {
			columns[col].Values[i] = saidValue(c.rows[i].column(c.schema, col))
		}
	}
	return columns
}

// saidValue returns v in a form that JSON can represent. JSON cannot represent every double.
func saidValue(v any) any {
	if d, ok := v.(float64); ok {
		return strconv.FormatFloat(d, 'x', -1, 64)
	}
	return v
}
