package snapshot

import (
	"bytes"
	"context"
	"errors"
	iofs "io/fs"
	"sync"
	"testing"

	"usertrail/internal/store/dfs"
)

// A mover is a file system of one file, which moves from the first path to the
// second. A file that is open there cannot be read any more then, as on HDFS.
type mover struct {
	dfs.FS
	data []byte

	mu   sync.Mutex
	at   string
	open map[string]int
}

type movable struct {
	m    *mover
	name string
}

func (m *mover) Open(_ context.Context, name string) (dfs.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if name != m.at {
		return nil, iofs.ErrNotExist
	}
	m.open[name]++
	return movable{m, name}, nil
}

func (f movable) ReadAt(p []byte, off int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.name != f.m.at {
		return 0, iofs.ErrNotExist
	}
	return bytes.NewReader(f.m.data).ReadAt(p, off)
}

func (f movable) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }
func (f movable) Size() int64              { return int64(len(f.m.data)) }

func (f movable) Close() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.m.open[f.name]--
	return nil
}

// TestReadsContinueWhereAFileMoves reads from many goroutines while the file moves.
func TestReadsContinueWhereAFileMoves(t *testing.T) {
	m := &mover{data: []byte("the bytes of the file"), at: "data", open: map[string]int{}}
	b, err := openBytes(t.Context(), m, []string{"data", "archive"})
	if err != nil {
		t.Fatal(err)
	}
	read := func() error {
		p := make([]byte, 5)
		_, err := b.ReadAt(p, 4)
		if err == nil && string(p) != "bytes" {
			t.Errorf("read %q", p)
		}
		return err
	}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if err := read(); err != nil {
				t.Error(err)
			}
		})
		if i == 10 {
			m.mu.Lock()
			m.at = "archive"
			m.mu.Unlock()
		}
	}
	wg.Wait()
	if err := read(); err != nil {
		t.Error(err)
	}
	if m.open["data"] != 1 || m.open["archive"] != 1 {
		t.Errorf("it was opened %v times, want once at each place", m.open)
	}
	m.mu.Lock()
	m.at = "away"
	m.mu.Unlock()
	if err := read(); !errors.Is(err, ErrGone) {
		t.Errorf("a file that is gone: %v, want ErrGone", err)
	}
	if err := b.close(); err != nil || m.open["data"] != 0 || m.open["archive"] != 0 {
		t.Errorf("after the end %v are open, %v", m.open, err)
	}
}

func TestAFileOfAnotherLengthIsAnother(t *testing.T) {
	m := &mover{data: []byte("the bytes of the file"), at: "data", open: map[string]int{}}
	b, err := openBytes(t.Context(), m, []string{"data", "archive"})
	if err != nil {
		t.Fatal(err)
	}
	m.at, m.data = "archive", []byte("other bytes")
	if _, err := b.ReadAt(make([]byte, 1), 0); err == nil {
		t.Error("a file that is another now was read")
	}
	if err := b.close(); err != nil || m.open["archive"] != 0 {
		t.Errorf("after the end %v are open, %v", m.open, err)
	}
}
