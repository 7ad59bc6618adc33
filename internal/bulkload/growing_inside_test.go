package bulkload

import (
	"context"
	"errors"
	"strings"
	"testing"

	"usertrail/internal/dfs"
	"usertrail/internal/dfs/local"
	"usertrail/internal/job"
)

// written is files of which one is open.
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
		err := checkClosed(t.Context(), written{FS: local.New(), open: open}, inputs)
		if fails != errors.Is(err, ErrGrowing) || fails && !strings.Contains(err.Error(), open) || !fails && err != nil {
			t.Errorf("with %q open: %v", open, err)
		}
	}
	if err := checkClosed(t.Context(), struct{ dfs.FS }{local.New()}, inputs); err != nil {
		t.Errorf("of files of which nothing is told: %v", err)
	}
}
