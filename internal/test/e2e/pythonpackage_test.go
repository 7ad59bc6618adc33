package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"usertrail/internal/test/document"
	"usertrail/internal/test/testkit"
)

// runPackage runs Python in the folder of the package usertrail, with the current programs.
func runPackage(t *testing.T, python string, args ...string) string {
	t.Helper()
	dir := testkit.Commands(t)
	c := exec.CommandContext(t.Context(), python, args...)
	c.Dir = filepath.Join(testkit.Repository(t), "python")
	c.Env = append(testkit.CleanEnv(), "USERTRAIL_BIN="+dir, "PYTHONDONTWRITEBYTECODE=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", c, err, out)
	}
	return string(out)
}

// TestPythonPackage runs the tests of the package usertrail with the current programs.
func TestPythonPackage(t *testing.T) {
	t.Parallel()
	out := runPackage(t, testkit.Python(t), "-m", "pytest", "-q", "--basetemp", filepath.Join(t.TempDir(), "pytest"))
	if !regexp.MustCompile(`\b\d+ passed`).MatchString(out) || strings.Contains(out, "skipped") {
		t.Errorf("pytest says\n%s", out)
	}
}

// TestPythonPackageIsTyped checks the types of the package with mypy.
func TestPythonPackageIsTyped(t *testing.T) {
	testkit.OnlyAll(t, "nothing: it checks no behaviour")
	runPackage(t, testkit.Python(t), "-m", "mypy", "--cache-dir", t.TempDir())
}

// TestPythonDocRuns runs the Python of docs/howto/python.md in the clone of README's demo.
func TestPythonDocRuns(t *testing.T) {
	dir, _ := readmeRun(t)
	script := strings.Join(document.Blocks(t, document.Read(t, "docs/howto/python.md"), "python"), "\n")
	c := exec.CommandContext(t.Context(), testkit.Python(t), "-c", script)
	c.Dir = dir
	c.Env = append(testkit.CleanEnv(), "USERTRAIL_BIN="+filepath.Join(dir, "bin"), "PYTHONPATH="+filepath.Join(dir, "python/src"), "PYTHONDONTWRITEBYTECODE=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("docs/howto/python.md: %v\n%s", err, out)
	}
	if !strings.Contains(string(out), `the table has no behaviour "plai"`) {
		t.Errorf("docs/howto/python.md prints\n%s", out)
	}
}

// TestAWheelInstallsInEachPython builds the wheel with pip, installs it into an environment of each
// Python from 3.10 on that is here, and runs the tests of the package with the programs of the wheel.
func TestAWheelInstallsInEachPython(t *testing.T) {
	testkit.OnlyAll(t, "TestPythonPackage")
	pythons := pythonsHere(t)
	if len(pythons) == 0 {
		t.Fatal("no Python from 3.10 on is here")
	}
	dir := t.TempDir()
	runPackage(t, testkit.Python(t), "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", dir, ".")
	wheels, err := filepath.Glob(filepath.Join(dir, "usertrail-*-py3-none-*.whl"))
	if err != nil || len(wheels) != 1 {
		t.Fatalf("pip made the wheels %q: %v", wheels, err)
	}
	for _, python := range pythons {
		t.Run(python.version, func(t *testing.T) {
			env := t.TempDir()
			runPackage(t, python.program, "-m", "venv", env)
			runPackage(t, filepath.Join(env, "bin/pip"), "install", "-q", "--no-compile", "--disable-pip-version-check", wheels[0]+"[test]")
			c := exec.CommandContext(t.Context(), filepath.Join(env, "bin/python"), "-c",
				"import usertrail, subprocess; print(usertrail.program('extract')); subprocess.run([usertrail.program('extract'), '--version'], check=True)")
			c.Dir, c.Env = t.TempDir(), testkit.CleanEnv()
			if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "usertrail/bin/extract") {
				t.Errorf("the program of the wheel: %v\n%s", err, out)
			}
			// The programs with breakpoints test the package; its own source is not in the way.
			runPackage(t, filepath.Join(env, "bin/python"), "-m", "pytest", "-q", "-o", "pythonpath=tests", "--basetemp", filepath.Join(env, "pytest"))
		})
	}
}

// A python3 is an interpreter and its version, such as 3.12.
type python3 struct{ program, version string }

// pythonsHere returns the Pythons from 3.10 on in $PATH and in pyenv, one of each version.
func pythonsHere(t *testing.T) []python3 {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	var out []python3
	for _, version := range []string{"3.10", "3.11", "3.12", "3.13"} {
		candidates, err := filepath.Glob(filepath.Join(home, ".pyenv/versions", version+".*/bin/python3"))
		if err != nil {
			t.Fatal(err)
		}
		for _, program := range append([]string{"python" + version}, candidates...) {
			if exec.Command(program, "-c", "import venv, ensurepip").Run() == nil {
				out = append(out, python3{program, version})
				break
			}
		}
	}
	return out
}
