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
	"os"
	"path/filepath"
	"sync"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/samplelog"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// sample is loaded by each test. Its users have 40 records each. An extract by gets asks
// for few rows, and reads several batches of users.
var sample = samplelog.Config{Records: 60_000, Users: 1_500, Days: 4, Seed: 7, Bad: samplelog.DefaultBad, Compress: "gz"}

// span is the span of the sample's days.
var span = behaviour.Span{From: samplelog.DefaultFrom, To: samplelog.DefaultFrom + behaviour.Date(sample.Days) - 1}

var ready struct {
	sync.Once
	err error
}

// prepare makes the logs at its first call.
func prepare(t *testing.T) {
	t.Helper()
	ready.Do(func() {
		if _, err := samplelog.Write(context.Background(), local.New(), filepath.Join(testkit.Home(), "logs"), sample); err != nil {
			ready.err = err
			return
		}
		ready.err = os.WriteFile(filepath.Join(testkit.Home(), "users"), users(), 0o644)
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
