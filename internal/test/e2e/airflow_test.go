package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"usertrail/internal/test/testkit"
)

// airflowPython returns the Python that has the packages of jobs/airflow/requirements.txt.
func airflowPython(t *testing.T) string {
	t.Helper()
	if program := os.Getenv("USERTRAIL_AIRFLOW"); program != "" {
		return program
	}
	return filepath.Join(testkit.Repository(t), ".cache", "airflow", "bin", "python")
}

// TestAirflow runs the tests of jobs/airflow in a real Airflow, with the current commands. A
// scheduler runs the DAGs only if everything is tested.
func TestAirflow(t *testing.T) {
	t.Parallel()
	dir := testkit.Commands(t)
	python := airflowPython(t)
	tests := exec.CommandContext(t.Context(), python, "-m", "pytest", "-q", "--durations=10", "--basetemp", filepath.Join(t.TempDir(), "pytest"))
	tests.Dir = filepath.Join(testkit.Repository(t), "jobs", "airflow")
	tests.Env = append(os.Environ(), "USERTRAIL_BIN="+dir, "PYTHONDONTWRITEBYTECODE=1")
	out, err := tests.CombinedOutput()
	if err != nil {
		t.Errorf("%s (made by make airflow) -m pytest: %v\n%s", python, err, out)
		return
	}
	t.Logf("%s", out)
}
