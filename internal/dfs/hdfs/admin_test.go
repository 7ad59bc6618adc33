package hdfs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/clustertest"
)

// admin is HDFS's own command lines, which this package has no use for otherwise.
const admin = `
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

public class Dfs {
  public static void main(String[] args) throws Exception {
    String[] rest = java.util.Arrays.copyOfRange(args, 1, args.length);
    Configuration conf = new Configuration();
    Tool tool = switch (args[0]) {
      case "fs" -> new org.apache.hadoop.fs.FsShell();
      case "admin" -> new org.apache.hadoop.hdfs.tools.DFSAdmin();
      default -> new org.apache.hadoop.hdfs.tools.ECAdmin(conf);
    };
    System.exit(ToolRunner.run(conf, tool, rest));
  }
}
`

func run(t *testing.T, c *clustertest.Cluster, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "Dfs.java")
	if err := os.WriteFile(file, []byte(admin), 0o600); err != nil {
		t.Fatal(err)
	}
	return c.Java(t, file, args...)
}

func chmod(t *testing.T, c *clustertest.Cluster, mode, name string) {
	t.Helper()
	run(t, c, "fs", "-chmod", mode, name)
}

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
