package report_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
)

// TestNumbersAgreeWithDuckDB has DuckDB count the same parts, by SQL.
func TestNumbersAgreeWithDuckDB(t *testing.T) {
	python := findPython(t)
	weeks := evenings()
	weeks.parts = crowd(5, 300, 100, 4, 2, 2)
	weeks.Sequence = weeks.Sequence[:2]
	weeks.Question.Span = behaviour.Span{From: firstDay, To: firstDay + 99}
	century := busyYear()
	century.Question.Span = behaviour.Span{From: behaviour.DateOf(1970, 1, 1), To: behaviour.DateOf(2069, 12, 31)}
	for name, m := range map[string]*made{"days": evenings(), "weeks": weeks, "months": busyYear(), "a century": century} {
		dir := m.write(t)
		text, err := json.Marshal(makeReport(t, dir, 2))
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "report.json")
		if err := os.WriteFile(file, text, 0o666); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), python, "testdata/compare.py", dir, file).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %s testdata/compare.py: %v\n%s", name, python, err, out)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		for _, l := range lines[:len(lines)-1] {
			t.Errorf("%s: %s", name, l)
		}
		t.Logf("%s: %s", name, lines[len(lines)-1])
	}
}

// findPython returns an interpreter that has DuckDB.
func findPython(t *testing.T) string {
	t.Helper()
	if p := os.Getenv("USERTRAIL_PYTHON"); p != "" {
		return p
	}
	p, err := filepath.Abs("../../.cache/venv/bin/python")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(p); err != nil {
		t.Fatalf("%v: run make venv, or set USERTRAIL_PYTHON to a Python with duckdb", err)
	}
	return p
}
