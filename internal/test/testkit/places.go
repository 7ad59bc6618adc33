package testkit

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// FindRepository returns the folder that contains go.mod: the working directory, or a folder above
// it.
func FindRepository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("no go.mod in or above %s", dir)
		}
	}
}

// Repository returns the folder that contains go.mod.
func Repository(t testing.TB) string {
	t.Helper()
	dir, err := FindRepository()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Shared returns a file or folder of the external data. name is a slash-separated path. The data is in
// $USERTRAIL_SHARED, or in the folder shared next to the repository.
func Shared(t testing.TB, name string) string {
	t.Helper()
	root := os.Getenv("USERTRAIL_SHARED")
	if root == "" {
		root = filepath.Join(filepath.Dir(Repository(t)), "shared")
	}
	path := filepath.Join(root, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("external data: %v: set USERTRAIL_SHARED to the folder of the data", err)
	}
	return path
}

// Python returns the Python that has the packages of scripts/requirements.txt: $USERTRAIL_PYTHON, or
// the Python that `make venv` installs.
func Python(t testing.TB) string {
	t.Helper()
	if p := os.Getenv("USERTRAIL_PYTHON"); p != "" {
		return p
	}
	p := filepath.Join(Repository(t), ".cache", "venv", "bin", "python")
	if _, err := os.Stat(p); err != nil {
		t.Fatalf("%v: run make venv, or set USERTRAIL_PYTHON to a Python with the packages of scripts/requirements.txt", err)
	}
	return p
}
