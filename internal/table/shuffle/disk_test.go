package shuffle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
	"testing"

	"usertrail/internal/store/dfs"
)

var errInjected = errors.New("injected")

// disk is a file system in memory. It fails the operation with number failAt, counted from 1, and
// records which files are open.
type disk struct {
	dfs.FS // the methods that a Sorter has no use for

	mu       sync.Mutex
	files    map[string][]byte
	ops      int
	failAt   int
	open     int // files and pending files
	mostOpen int // of them at once
}

func newDisk(failAt int) *disk { return &disk{files: map[string][]byte{}, failAt: failAt} }

func (d *disk) op(what, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ops++
	if d.ops == d.failAt {
		return fmt.Errorf("%s %s: %w", what, name, errInjected)
	}
	return nil
}

func (d *disk) Open(_ context.Context, name string) (dfs.File, error) {
	if err := d.op("open", name); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	b, ok := d.files[name]
	if !ok {
		return nil, fmt.Errorf("open %s: %w", name, fs.ErrNotExist)
	}
	d.open++
	d.mostOpen = max(d.mostOpen, d.open)
	return &diskFile{Reader: bytes.NewReader(b), disk: d, name: name}, nil
}

func (d *disk) Scratch(_ context.Context, name string) (dfs.Pending, error) {
	if err := d.op("create", name); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open++
	d.mostOpen = max(d.mostOpen, d.open)
	return &diskPending{disk: d, name: name}, nil
}

func (d *disk) Remove(_ context.Context, name string) error {
	if err := d.op("remove", name); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.files, name)
	return nil
}

// checkClean wants nothing open, and no files left.
func (d *disk) checkClean(t *testing.T) {
	t.Helper()
	if d.open != 0 {
		t.Errorf("%d files are still open", d.open)
	}
	for name := range d.files {
		t.Errorf("%s is left behind", name)
	}
}

// count returns the number of files whose name has a prefix.
func (d *disk) count(prefix string) int {
	n := 0
	for name := range d.files {
		if strings.HasPrefix(path.Base(name), prefix) {
			n++
		}
	}
	return n
}

type diskFile struct {
	*bytes.Reader
	disk *disk
	name string
}

func (f *diskFile) ReadAt(b []byte, off int64) (int, error) {
	if err := f.disk.op("read", f.name); err != nil {
		return 0, err
	}
	return f.Reader.ReadAt(b, off)
}

func (f *diskFile) Close() error {
	f.disk.mu.Lock()
	f.disk.open--
	f.disk.mu.Unlock()
	return f.disk.op("close", f.name)
}

type diskPending struct {
	disk *disk
	name string
	buf  bytes.Buffer
	done bool
}

func (p *diskPending) Write(b []byte) (int, error) {
	if err := p.disk.op("write", p.name); err != nil {
		return 0, err
	}
	return p.buf.Write(b)
}

func (p *diskPending) Commit() error {
	if err := p.disk.op("commit", p.name); err != nil {
		return err
	}
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	p.disk.files[p.name] = p.buf.Bytes()
	p.disk.open--
	p.done = true
	return nil
}

func (p *diskPending) Abort() {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	if !p.done {
		p.disk.open--
	}
	p.done = true
}

// TestRunsAreWhereTheyAreTold spills and merges runs in a directory on HDFS.
func TestRunsAreWhereTheyAreTold(t *testing.T) {
	const dir = "hdfs://nn:8020/trails/tmp"
	d := newDisk(0)
	s, err := New(Config{FS: d, Dir: dir, Memory: MinMemory})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20_000 {
		if err := s.Shard(0).Add(t.Context(), 0, fmt.Appendf(nil, "row-%05d", i), 0, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d.count("run-") == 0 || d.count("merge-") == 0 {
		t.Errorf("there are %d runs, and %d merged ones; want some of both", d.count("run-"), d.count("merge-"))
	}
	for name := range d.files {
		if !strings.HasPrefix(name, dir+"/") {
			t.Errorf("a run is %s, want it in %s", name, dir)
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.checkClean(t)
}
