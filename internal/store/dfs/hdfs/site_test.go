package hdfs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeSite makes a core-site.xml.
func writeSite(t *testing.T, dir string, properties map[string]string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("<configuration>\n")
	for name, value := range properties {
		b.WriteString("<property><name>" + name + "</name><value>" + value + "</value></property>\n")
	}
	b.WriteString("</configuration>\n")
	if err := os.WriteFile(filepath.Join(dir, "core-site.xml"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}
