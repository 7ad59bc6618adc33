package stage_test

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
	"usertrail/internal/table/stage"
	"usertrail/internal/tally"
)

// A desk is a directory that files are staged in. Before one is read back, spoil may
// change it.
type desk struct {
	dir   string
	spoil func(name string) error
}

func (d desk) FileOptions(context.Context) (hfile.Options, error) { return hfile.Options{}, nil }

func (d desk) Stage(ctx context.Context, name string) (dfs.Pending, error) {
	return local.New().Create(ctx, filepath.Join(d.dir, name))
}

func (d desk) Staged(ctx context.Context, name string) (dfs.File, error) {
	name = filepath.Join(d.dir, name)
	if d.spoil != nil {
		if err := d.spoil(name); err != nil {
			return nil, err
		}
	}
	return local.New().Open(ctx, name)
}

// write writes two cells, and says what they are.
func write(t *testing.T, d desk, name string) (*stage.File, tally.Tally) {
	t.Helper()
	f, err := stage.Create(t.Context(), d, name)
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

func TestAFileIsProven(t *testing.T) {
	d := desk{dir: t.TempDir()}
	f, want := write(t, d, "good")
	meta, err := f.Finish(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(d.dir, "good"))
	if err != nil || string(meta.FirstRow) != "a" || string(meta.LastRow) != "b" || meta.Size != info.Size() || len(meta.Sum) != 16 {
		t.Errorf("%+v, %v; want rows a to b and the file's size", meta, err)
	}
}

func TestWhatIsNotThereIsNoticed(t *testing.T) {
	for what, x := range map[string]struct {
		spoil func(name string) error
		more  int64 // cells that nobody wrote
	}{
		"a cell is missing":  {more: 1},
		"a byte is flipped":  {spoil: func(name string) error { return flip(name, 40) }},
		"it is cut short":    {spoil: func(name string) error { return os.Truncate(name, 100) }},
		"it is gone":         {spoil: os.Remove},
		"it is not an HFile": {spoil: func(name string) error { return os.WriteFile(name, make([]byte, 5000), 0o644) }},
	} {
		f, want := write(t, desk{dir: t.TempDir(), spoil: x.spoil}, "file")
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
