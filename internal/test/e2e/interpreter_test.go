package e2e_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"usertrail/internal/test/testkit"
)

// interpreter is the Python that runs testdata/interpreter.py for all tests of this package. An import of
// pandas and pyarrow takes more than a second of processor time. It ends with this process, because
// its standard input ends.
var interpreter struct {
	sync.Mutex
	program string // "" if none runs
	close   func() error
	runs    *json.Encoder
	results *json.Decoder
}

// startInterpreter starts a Python in place of the one before.
func startInterpreter(t *testing.T, program string) error {
	t.Helper()
	if interpreter.program != "" {
		interpreter.program = ""
		if err := interpreter.close(); err != nil {
			return err
		}
	}
	c := exec.Command(program, filepath.Join(testkit.Repository(t), "internal/test/e2e/testdata/interpreter.py"))
	// Spark uses only the loopback interface. It ends before further JVM optimisation would
	// save time.
	c.Env = append(os.Environ(), "SPARK_LOCAL_IP=127.0.0.1", "JDK_JAVA_OPTIONS=-XX:TieredStopAtLevel=1", "COLUMNS=80", "LC_ALL=C.UTF-8")
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	interpreter.program, interpreter.runs, interpreter.results = program, json.NewEncoder(in), json.NewDecoder(out)
	interpreter.close = func() error { return errors.Join(in.Close(), c.Wait()) }
	return nil
}

// runPython runs a file with arguments in the folder dir, and returns what it prints. Other files may
// have run in the same process, unless the run covers everything.
func runPython(t *testing.T, dir, file string, args ...string) string {
	t.Helper()
	interpreter.Lock()
	defer interpreter.Unlock()
	program := testkit.Python(t)
	if testkit.All() || program != interpreter.program {
		if err := startInterpreter(t, program); err != nil {
			t.Fatalf("%s (made by make venv): %v", program, err)
		}
	}
	var result struct{ Printed, Failed string }
	err := interpreter.runs.Encode(map[string]any{"dir": dir, "args": append([]string{file}, args...)})
	if err == nil {
		err = interpreter.results.Decode(&result)
	}
	if err != nil {
		interpreter.program = ""
		t.Fatalf("%s (made by make venv) %s: %v", program, file, err)
	}
	if result.Failed != "" {
		t.Fatalf("%s (made by make venv) %s:\n%s%s", program, file, result.Printed, result.Failed)
	}
	return result.Printed
}
