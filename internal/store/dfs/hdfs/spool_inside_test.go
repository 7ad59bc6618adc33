package hdfs

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestASpoolIsWhereItIsTold checks that a file that is not uploaded yet is in the configured
// directory, or in $TMPDIR if none is configured.
func TestASpoolIsWhereItIsTold(t *testing.T) {
	system, temp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", system)
	for _, c := range []struct{ told, want string }{{"", system}, {temp, temp}} {
		s := spool{temp: c.told}
		text := strings.Repeat("x", 3*inMemory)
		if _, err := io.WriteString(&s, text); err != nil {
			t.Fatal(err)
		}
		if dir := filepath.Dir(s.file.Name()); dir != c.want {
			t.Errorf("told %q, it is in %s, want %s", c.told, dir, c.want)
		}
		if b, err := io.ReadAll(s.reader()); err != nil || string(b) != text {
			t.Errorf("it has %d bytes, %v; want %d", len(b), err, len(text))
		}
		s.close()
		if list, err := os.ReadDir(c.want); err != nil || len(list) > 0 {
			t.Errorf("%v, %v are left", list, err)
		}
	}
	s := spool{temp: filepath.Join(temp, "none")}
	if _, err := s.Write(make([]byte, 2*inMemory)); err == nil || !strings.Contains(err.Error(), filepath.Join(temp, "none")) {
		t.Errorf("%v, want an error that names the directory", err)
	}
}
