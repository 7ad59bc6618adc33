package job_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/job"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// denied is a file system whose files and folders called name may not be read.
type denied struct {
	dfs.FS
	name string
}

func (d denied) refuse(op, name string) error {
	if filepath.Base(name) == d.name {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrPermission}
	}
	return nil
}

// Open implements dfs.FS.
func (d denied) Open(ctx context.Context, name string) (dfs.File, error) {
	if err := d.refuse("open", name); err != nil {
		return nil, err
	}
	return d.FS.Open(ctx, name)
}

// List implements dfs.FS.
func (d denied) List(ctx context.Context, dir string) ([]dfs.Info, error) {
	if err := d.refuse("list", dir); err != nil {
		return nil, err
	}
	return d.FS.List(ctx, dir)
}

// TestDeniedNamesTheNextStep checks the errors of a job file and of a folder of logs that the user may not read. A manifest that the user may not read is ignored.
func TestDeniedNamesTheNextStep(t *testing.T) {
	_, err := job.Load(t.Context(), denied{local.New(), "job.yaml"}, "job.yaml")
	if !errors.Is(err, job.ErrJob) || !errors.Is(err, fs.ErrPermission) ||
		err.Error() != "job: the job file cannot be read: open job.yaml: permission denied: run as a user who may read it, or name another job file with --job" {
		t.Errorf("a job file: %v", err)
	}

	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "logs", "2014-09-01"), 0o777); err != nil {
		t.Fatal(err)
	}
	j, err := job.Parse(filepath.Join(dir, "job.yaml"), []byte("logs: "+dir+"/logs/{date}/*/{behaviour}.csv\ntable: t\nbehaviours: {play: {id: 1}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	day := date(t, "2014-09-01")
	_, err = j.Find(t.Context(), denied{local.New(), "2014-09-01"}, behaviour.Span{From: day, To: day}, nil)
	if !errors.Is(err, fs.ErrPermission) || !strings.HasSuffix(err.Error(), "permission denied: run as a user who may list this folder") {
		t.Errorf("a folder: %v", err)
	}
	name := filepath.Join(dir, "logs", "2014-09-01", "_manifest.json")
	testkit.WriteFile(t, name, "{}")
	testkit.WriteFile(t, filepath.Join(dir, "logs", "2014-09-01", "a", "play.csv"), "")
	found, err := j.Find(t.Context(), denied{local.New(), "_manifest.json"}, behaviour.Span{From: day, To: day}, nil)
	if err != nil || len(found.Inputs) != 1 || len(found.Written) > 0 {
		t.Errorf("next to a manifest: %+v, %v, want one log", found, err)
	}
}
