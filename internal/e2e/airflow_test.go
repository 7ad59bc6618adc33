package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// airflowPython is the Python that has what jobs/airflow/requirements.txt lists.
func airflowPython(t *testing.T) string {
	t.Helper()
	if program := os.Getenv("USERTRAIL_AIRFLOW"); program != "" {
		return program
	}
	return filepath.Join(repository(t), ".cache", "airflow", "bin", "python")
}

// TestAirflow runs the tests of jobs/airflow, in a real Airflow with the commands as
// they are now.
func TestAirflow(t *testing.T) {
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "arrow_json_stdlib", "-trimpath", "-buildvcs=false", "-o", bin, "./cmd/bulkload", "./cmd/extract")
	build.Dir = repository(t)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	python := airflowPython(t)
	tests := exec.CommandContext(t.Context(), python, "-m", "pytest", "-q", "--basetemp", filepath.Join(t.TempDir(), "pytest"))
	tests.Dir = filepath.Join(repository(t), "jobs", "airflow")
	tests.Env = append(os.Environ(), "USERTRAIL_BIN="+bin, "PYTHONDONTWRITEBYTECODE=1")
	if out, err := tests.CombinedOutput(); err != nil {
		t.Errorf("%s (made by make airflow) -m pytest: %v\n%s", python, err, out)
	}
}
