package clustertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"usertrail/internal/test/testkit"
)

// On a busy machine, the NameNode may need longer to start than the master waits.
func TestAClusterStartsWithASlowNameNode(t *testing.T) {
	testkit.OnlyAll(t, "the cluster that all tests use")
	if os.Getenv("USERTRAIL_CLUSTER") == "none" {
		t.Skip("USERTRAIL_CLUSTER is none")
	}
	root, err := testkit.FindRepository()
	if err != nil {
		t.Fatal(err)
	}
	script := func(command string) ([]byte, error) {
		return exec.CommandContext(t.Context(), filepath.Join(root, "scripts", "cluster"), command).CombinedOutput()
	}
	if said, err := script("jars"); err != nil { // it needs a complete JDK
		t.Fatalf("scripts/cluster jars: %v\n%s", err, said)
	}
	t.Setenv("CLUSTER_DIR", t.TempDir())
	t.Setenv("CLUSTER_DATANODES", "1")
	t.Setenv("CLUSTER_REGIONSERVERS", "1")
	t.Setenv("JAVA_HOME", slowNameNode(t))
	up, err := script("up")
	if err != nil {
		t.Errorf("scripts/cluster up: %v\n%s", err, up)
	}
	if down, err := script("down"); err != nil {
		t.Errorf("scripts/cluster down: %v\n%s", err, down)
	}
}

// slowNameNode returns a JAVA_HOME whose NameNode starts with a delay.
func slowNameNode(t *testing.T) string {
	t.Helper()
	java := "java"
	if old := os.Getenv("JAVA_HOME"); old != "" {
		java = filepath.Join(old, "bin", "java")
	}
	java, err := exec.LookPath(java)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	wrapper := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *-Dusertrail.daemon=*/nn\\ *) sleep 12 ;; esac\nexec %s \"$@\"\n", java)
	if err := os.WriteFile(filepath.Join(home, "bin", "java"), []byte(wrapper), 0o755); err != nil {
		t.Fatal(err)
	}
	return home
}
