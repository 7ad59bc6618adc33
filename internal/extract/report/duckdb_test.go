package report_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/test/testkit"
)

// TestNumbersAgreeWithDuckDB counts the same parts with DuckDB, in SQL.
func TestNumbersAgreeWithDuckDB(t *testing.T) {
	t.Parallel()
	python := testkit.Python(t)
	weeks := evenings()
	weeks.parts = crowd(5, 300, 100, 4, 2, 2)
	weeks.Sequence = weeks.Sequence[:2]
	weeks.Query.Span = behaviour.Span{From: firstDay, To: firstDay + 99}
	century := busyYear()
	century.Query.Span = behaviour.Span{From: behaviour.DateOf(1970, 1, 1), To: behaviour.DateOf(2069, 12, 31)}
	var names, dirs []string
	for name, m := range map[string]*made{"days": evenings(), "weeks": weeks, "months": busyYear(), "a century": century} {
		dir := m.write(t)
		text, err := json.Marshal(makeReport(t, dir, 2))
		if err != nil {
			t.Fatal(err)
		}
		testkit.WriteFile(t, filepath.Join(dir, "report.json"), string(text))
		names, dirs = append(names, name), append(dirs, dir)
	}
	out, err := exec.CommandContext(t.Context(), python, append([]string{"testdata/compare.py"}, dirs...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %s testdata/compare.py: %v\n%s", names, python, err, out)
	}
	compared := 0 // number of compared extracts
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case compared == len(names):
			t.Errorf("after the last extract: %s", line)
		case strings.HasPrefix(line, "compared "):
			t.Logf("%s: %s", names[compared], line)
			compared++
		default:
			t.Errorf("%s: %s", names[compared], line)
		}
	}
	if compared != len(names) {
		t.Errorf("compared %d of %q", compared, names)
	}
}
