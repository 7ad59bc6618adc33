package segment_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/segment"
	"usertrail/internal/tally"
)

// A staging is a directory for staged files. spoil, if it is set, changes a file before the
// file is read back.
type staging struct {
	dir   string
	spoil func(name string) error
}

func (s staging) FileOptions(context.Context) (hfile.Options, error) { return hfile.Options{}, nil }

func (s staging) Stage(ctx context.Context, name string) (dfs.Pending, error) {
	return local.New().Create(ctx, filepath.Join(s.dir, name))
}

func (s staging) Staged(ctx context.Context, name string) (dfs.File, error) {
	name = filepath.Join(s.dir, name)
	if s.spoil != nil {
		if err := s.spoil(name); err != nil {
			return nil, err
		}
	}
	return local.New().Open(ctx, name)
}

// write writes two cells and returns their tally. The file is not finished.
func write(t *testing.T, to staging, name string) (*segment.HFile, tally.Tally) {
	t.Helper()
	f, err := segment.CreateHFile(t.Context(), to, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Abort)
	var count tally.Counter
	for _, row := range []string{"a", "b"} {
		c := &cell.Cell{Row: []byte(row), Family: []byte("d"), Qualifier: []byte("q"), Time: 1, Type: cell.Put, Value: []byte("value")}
		count.Add(c)
		if err := f.Add(c); err != nil {
			t.Fatal(err)
		}
	}
	return f, count.Tally
}

func TestFinishDescribesTheFile(t *testing.T) {
	s := staging{dir: t.TempDir()}
	f, want := write(t, s, "good")
	meta, err := f.Finish(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(s.dir, "good"))
	if err != nil || string(meta.FirstRow) != "a" || string(meta.LastRow) != "b" || meta.Size != info.Size() || len(meta.Sum) != 16 {
		t.Errorf("%+v, %v; want rows a to b and the file's size", meta, err)
	}
}

func TestFinishFindsDamage(t *testing.T) {
	for what, x := range map[string]struct {
		spoil func(name string) error
		more  int64 // cells that were not written
	}{
		"a cell is missing":  {more: 1},
		"a byte is flipped":  {spoil: func(name string) error { return flip(name, 40) }},
		"it is cut short":    {spoil: func(name string) error { return os.Truncate(name, 100) }},
		"it is gone":         {spoil: os.Remove},
		"it is not an HFile": {spoil: func(name string) error { return os.WriteFile(name, make([]byte, 5000), 0o644) }},
	} {
		f, want := write(t, staging{dir: t.TempDir(), spoil: x.spoil}, "file")
		want.Cells += x.more
		if _, err := f.Finish(t.Context(), want); err == nil || !strings.Contains(err.Error(), "read file back") {
			t.Errorf("%s: %v, want an error about reading it back", what, err)
		}
	}
}

func flip(name string, at int) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	b[at] ^= 1
	return os.WriteFile(name, b, 0o644)
}
