package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"usertrail/internal/bulkload"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/format/job"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/files"
)

var errTaken = errors.New("the lock was free")

// A held store keeps its lock until a moment.
type held struct {
	files.Store
	until time.Time
}

func (h held) Lock(context.Context) (dfs.Lock, error) {
	if time.Now().Before(h.until) {
		return nil, dfs.ErrLocked
	}
	return nil, errTaken
}

// TestAWaitEndsWithTheLock checks that a load that waits up to a minute starts soon after the lock
// is free.
func TestAWaitEndsWithTheLock(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "logs"), 0o777); err != nil {
		t.Fatal(err)
	}
	j, err := job.Parse(filepath.Join(dir, "job.yaml"), []byte("logs: \"logs/{date}/{behaviour}.csv\"\nbehaviours: {play: {id: 1}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		o := &options{env: &cli.Env{Stdout: io.Discard, Stderr: io.Discard}}
		day := behaviour.DateOf(2014, 9, 1)
		cfg := load.Config{Resources: bulkload.Resources{FS: local.New(), Store: held{until: began.Add(time.Second)}}, Job: j, Span: behaviour.Span{From: day, To: day}}
		p := progress.Start(progress.Config{Quiet: true})
		defer p.Done()
		if _, err := whenFree(t.Context(), o, cfg, p, began.Add(time.Minute), load.Run); !errors.Is(err, errTaken) {
			t.Fatal(err)
		}
		if waited := time.Since(began); waited > 2*time.Second {
			t.Errorf("it waited for %s, and the lock was free after a second", waited)
		}
	})
}
