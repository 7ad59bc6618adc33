// Package faults_test breaks servers of a real cluster while bulkload and extract use
// them. Tables and results must be the same as without the fault. The package holds tests
// alone.
//
// The programs are built with -tags breakpoints. A process stops itself at a named step,
// the fault happens, and the process continues. A fault happens at the same step on a fast
// machine and on a slow one.
package faults_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/samplelog"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// home is the folder of this run of the tests, and bin the folder of the programs.
var home, bin string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if home, err = os.MkdirTemp("", "faults"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(home)
	bin = filepath.Join(home, "bin")
	return m.Run()
}

// sample is loaded by each test. Its users have 40 records each. An extract by gets asks
// for few rows, and reads several batches of users.
var sample = samplelog.Config{Records: 60_000, Users: 1_500, Days: 4, Seed: 7, Bad: samplelog.DefaultBad, Compress: "gz"}

// span is the span of the sample's days.
var span = behaviour.Span{From: samplelog.DefaultFrom, To: samplelog.DefaultFrom + behaviour.Date(sample.Days) - 1}

var ready struct {
	sync.Once
	err error
}

// prepare builds the programs and makes the logs at its first call.
func prepare(t *testing.T) {
	t.Helper()
	ready.Do(func() {
		if ready.err = testkit.Build(bin); ready.err != nil {
			return
		}
		if _, err := samplelog.Write(context.Background(), local.New(), filepath.Join(home, "logs"), sample); err != nil {
			ready.err = err
			return
		}
		ready.err = os.WriteFile(filepath.Join(home, "users"), users(), 0o644)
	})
	if ready.err != nil {
		t.Fatal(ready.err)
	}
}

// users returns a list of two users in three.
func users() []byte {
	var list []byte
	for rank := range sample.Users {
		if rank%3 != 2 {
			list = append(append(list, sample.User(rank)...), '\n')
		}
	}
	return list
}
