package testkit

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// home is the folder of this run of the tests.
var home string

// Main runs the tests of a package and exits. It makes the folder that Home returns, and removes it at
// the end.
func Main(m *testing.M) { os.Exit(inHome(m.Run)) }

// A Run runs the tests of a package, as testing.M does.
type Run func() int

// Run calls r.
func (r Run) Run() int { return r() }

// InHome returns m with the folder that Home returns. It is for a TestMain that calls
// testscript.Main instead of Main.
func InHome(m *testing.M) Run { return func() int { return inHome(m.Run) } }

// inHome calls run while the folder home exists, and returns the result of run.
func inHome(run func() int) int {
	var err error
	if home, err = os.MkdirTemp("", "usertrail-tests-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(home)
	return run()
}

// Home returns a folder that the tests of a package share. The package's TestMain calls Main or InHome.
func Home() string {
	if home == "" {
		panic("testkit.Home: TestMain calls neither testkit.Main nor testkit.InHome")
	}
	return home
}

var commands = sync.OnceValues(func() (string, error) {
	if dir := os.Getenv("USERTRAIL_COMMANDS"); dir != "" {
		return dir, nil
	}
	dir := filepath.Join(Home(), "bin")
	return dir, Build(dir)
})

// Commands returns the folder of bulkload and extract, as Build builds them, without the race
// detector. $USERTRAIL_COMMANDS names a folder that has them already; scripts/test sets it. Otherwise
// the first call builds them in Home.
func Commands(t testing.TB) string {
	t.Helper()
	dir, err := commands()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
