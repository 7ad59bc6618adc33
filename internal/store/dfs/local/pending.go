package local

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"usertrail/internal/store/dfs"
)

// bufferSize is the buffer for callers that write small pieces. Larger writes bypass it.
const bufferSize = 64 << 10

// pending is a file being written. Only one goroutine may use it.
type pending struct {
	ctx  context.Context
	s    local
	name string // the final name
	tmp  string // the temporary name
	f    *os.File
	w    *bufio.Writer
	err  error // the result, once done
	done bool
	new  bool // the final name must not exist
	lost bool // it may be lost in a crash of the machine
}

func (s local) Create(ctx context.Context, name string) (dfs.Pending, error) {
	return s.createKept(ctx, name, false)
}

func (s local) CreateNew(ctx context.Context, name string) (dfs.Pending, error) {
	return s.createKept(ctx, name, true)
}

// createKept creates a file that outlives a crash of the machine.
func (s local) createKept(ctx context.Context, name string, isNew bool) (dfs.Pending, error) {
	p, err := s.create(ctx, name)
	if err != nil {
		return nil, err
	}
	p.w, p.new = bufio.NewWriterSize(&writeback{f: p.f}, bufferSize), isNew
	return p, nil
}

func (s local) Scratch(ctx context.Context, name string) (dfs.Pending, error) {
	p, err := s.create(ctx, name)
	if err != nil {
		return nil, err
	}
	p.w, p.lost = bufio.NewWriterSize(p.f, bufferSize), true
	return p, nil
}

func (s local) create(ctx context.Context, name string) (*pending, error) {
	if err := s.change(ctx, "create", name); err != nil {
		return nil, err
	}
	if fi, err := os.Stat(name); strings.HasSuffix(name, "/") || err == nil && fi.IsDir() {
		return nil, named("create", name, syscall.EISDIR)
	}
	if err := mkdirAll(filepath.Dir(name)); err != nil {
		return nil, named("create", name, err)
	}
	f, err := createBeside(name)
	if err != nil {
		return nil, named("create", name, err)
	}
	return &pending{ctx: ctx, s: s, name: name, tmp: f.Name(), f: f}, nil
}

// createBeside makes the temporary file for name. Its mode depends on the umask,
// as for a file that a user makes. It is not the mode 0600 of os.CreateTemp.
func createBeside(name string) (*os.File, error) {
	dir, base := filepath.Split(name)
	return os.OpenFile(dir+dfs.PendingName(base), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

func (p *pending) Write(b []byte) (int, error) {
	if p.done {
		return 0, named("write", p.name, fs.ErrClosed)
	}
	if err := ready(p.ctx, "write", p.name); err != nil {
		return 0, err
	}
	n, err := p.w.Write(b)
	return n, named("write", p.name, err)
}

// Commit makes the file visible. A second Commit returns the result of the first.
// Commit after Abort returns fs.ErrClosed. After an error the file is gone, unless only
// the last step failed, which syncs the rename to disk.
func (p *pending) Commit() error {
	if p.done {
		return p.err
	}
	p.done = true
	p.err = named("commit", p.name, p.publish())
	return p.err
}

func (p *pending) publish() error {
	if err := p.seal(); err != nil {
		return errors.Join(err, os.Remove(p.tmp))
	}
	if err := p.s.locks.Held(p.ctx); err != nil {
		os.Remove(p.tmp) // if the directory was moved, the file is gone
		return err
	}
	rename := os.Rename
	if p.new {
		rename = renameNew
	}
	if err := rename(p.tmp, p.name); err != nil {
		return errors.Join(err, os.Remove(p.tmp))
	}
	if p.lost {
		return nil
	}
	return syncDir(filepath.Dir(p.name))
}

// seal syncs the bytes to disk, unless the file may be lost, and closes the
// file.
func (p *pending) seal() error {
	err := ready(p.ctx, "commit", p.name)
	if err == nil {
		err = p.w.Flush()
	}
	if err == nil && !p.lost {
		err = p.f.Sync()
	}
	return errors.Join(err, p.f.Close())
}

// Abort discards the file. If it cannot remove the file, Sweep removes it later.
func (p *pending) Abort() {
	if p.done {
		return
	}
	p.done = true
	p.err = named("commit", p.name, fs.ErrClosed)
	p.f.Close()
	os.Remove(p.tmp)
}

func (s local) Sweep(ctx context.Context, dir string, but ...string) error {
	if err := s.change(ctx, "sweep", dir); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil {
			err = ready(ctx, "sweep", path)
		}
		if err == nil && e.IsDir() && slices.ContainsFunc(but, func(name string) bool { return filepath.Clean(name) == path }) {
			return filepath.SkipDir
		}
		if err == nil && !e.IsDir() && dfs.IsPending(e.Name()) {
			err = os.Remove(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return named("sweep", path, err)
	})
}
