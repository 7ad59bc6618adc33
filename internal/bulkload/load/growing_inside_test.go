package load

import (
	"context"
	"errors"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/format/job"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
)

// written is a file system with one file that is open for writing.
type written struct {
	dfs.FS
	dfs.Surveyor
	open string
}

func (f written) Held(_ context.Context, name string) (bool, string, error) {
	return name == f.open, "", nil
}

// TestAFileThatIsBeingWrittenIsNotLoaded asks HDFS which files are open.
func TestAFileThatIsBeingWrittenIsNotLoaded(t *testing.T) {
	var inputs []*input
	for _, name := range []string{"hdfs://nn/logs/a.csv", "hdfs://nn/logs/b.csv", "logs/c.csv"} {
		inputs = append(inputs, &input{Input: job.Input{Path: name}})
	}
	for open, fails := range map[string]bool{"": false, "hdfs://nn/logs/b.csv": true, "logs/c.csv": false} {
		l := &load{cfg: Config{FS: written{FS: local.New(), open: open}}, job: new(job.Job)}
		l.job.Schema = new(behaviour.Schema)
		left, err := l.leaveGrowing(t.Context(), inputs)
		if err != nil || fails != (len(left) == 2) || fails != errors.Is(bulkload.Joined(l.failed), bulkload.ErrGrowing) || fails && !strings.Contains(l.failed[0].Error(), open) {
			t.Errorf("with %q open: %d of 3 are left, %v, %v", open, len(left), l.failed, err)
		}
	}
	l := &load{cfg: Config{FS: struct{ dfs.FS }{local.New()}}}
	if left, err := l.leaveGrowing(t.Context(), inputs); err != nil || len(left) != 3 {
		t.Errorf("of files of which nothing is told: %d, %v", len(left), err)
	}
}
