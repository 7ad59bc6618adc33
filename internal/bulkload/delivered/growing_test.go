package delivered_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
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

// TestAFileThatIsBeingWrittenIsGrowing checks which files HDFS reports as open.
func TestAFileThatIsBeingWrittenIsGrowing(t *testing.T) {
	var files []*delivered.File
	for _, name := range []string{"hdfs://nn/logs/a.csv", "hdfs://nn/logs/b.csv", "logs/c.csv"} {
		files = append(files, &delivered.File{Input: job.Input{Path: name}})
	}
	for open, growing := range map[string]bool{"": false, "hdfs://nn/logs/b.csv": true, "logs/c.csv": false} {
		whys, err := new(delivered.Found).Growing(t.Context(), written{FS: local.New(), open: open}, files)
		if err != nil || len(whys) != len(files) {
			t.Fatalf("with %q open: %v, %v", open, whys, err)
		}
		for i, why := range whys {
			is := growing && files[i].Path == open
			if is != (why != nil) || is != errors.Is(why, bulkload.ErrGrowing) || is && !strings.Contains(why.Error(), open) {
				t.Errorf("with %q open, the reason for %s is: %v", open, files[i].Path, why)
			}
		}
	}
	whys, err := new(delivered.Found).Growing(t.Context(), struct{ dfs.FS }{local.New()}, files)
	if err := errors.Join(append(whys, err)...); err != nil {
		t.Errorf("if the file system does not tell: %v", err)
	}
}
