package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"syscall"

	"github.com/colinmarc/hdfs/v2"
	"github.com/dustin/go-humanize/english"

	"usertrail/internal/run/pipe"
	"usertrail/internal/store/dfs"
)

const (
	// headSize is the number of bytes that are read when a file is opened. It is enough for
	// small files.
	headSize = 64 << 10
	// maxReaders limits the connections for one file.
	maxReaders = 16
	// skip is the distance over which a reader reads ahead rather than begin a new read. The
	// library skips as much by reading.
	skip = 64 << 10
	// reads is the number of attempts of a read. In each attempt, the library tries other
	// DataNodes too.
	reads = 5
)

// ErrReplaced is returned when a file was replaced while it was being read.
var ErrReplaced = errors.New("the file was replaced meanwhile")

// file is an open file: its size and inode, and readers at various places in it.
type file struct {
	place
	ctx  context.Context
	name string
	size int64
	id   uint64
	head []byte

	mu  sync.Mutex
	off int64 // position of Read

	slots  chan struct{} // one for each active reader
	pool   sync.Mutex
	idle   []*reader // the reader that has been idle longest first
	closed bool
}

// A reader is a connection to a DataNode. Only one goroutine may use it.
type reader struct {
	r   *hdfs.FileReader
	off int64
}

func (s *system) Open(ctx context.Context, name string) (dfs.File, error) {
	p, err := s.begin(ctx, "open", name)
	if err != nil {
		return nil, err
	}
	f := &file{place: p, ctx: ctx, name: name, slots: make(chan struct{}, maxReaders)}
	if err := f.open(); err != nil {
		return nil, p.named("open", name, err)
	}
	return f, nil
}

// open reads the file's head. If the file is replaced meanwhile, open tries again, at most
// reads times in all.
func (f *file) open() error {
	var err error
	for range reads {
		if err = f.first(); !errors.Is(err, ErrReplaced) {
			return err
		}
	}
	return err
}

func (f *file) first() error {
	fi, err := f.stat(f.ctx, f.path)
	if err == nil && fi.IsDir() {
		err = syscall.EISDIR
	}
	if err == nil {
		err = supported(fi)
	}
	if err != nil {
		return err
	}
	f.size, f.id = fi.Size(), inode(fi)
	head := make([]byte, min(f.size, headSize))
	if _, err := f.read(head, 0); err != nil {
		return err
	}
	f.head = head
	return nil
}

// Size returns the size that the file had when it was opened.
func (f *file) Size() int64 { return f.size }

func (f *file) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.ReadAt(p, f.off)
	f.off += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if f.ctx.Err() != nil {
		return 0, f.named("read", f.name, context.Cause(f.ctx))
	}
	if off < 0 {
		return 0, f.named("read", f.name, fs.ErrInvalid)
	}
	if off >= f.size {
		if len(p) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	want := p[:min(int64(len(p)), f.size-off)]
	n := 0
	if off < int64(len(f.head)) {
		n = copy(want, f.head[off:])
	}
	m, err := f.read(want[n:], off+int64(n))
	n += m
	if err != nil {
		return n, f.named("read", f.name, err)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// read fills p from offset off. After a passing error it continues where it stopped.
func (f *file) read(p []byte, off int64) (int, error) {
	n := 0
	for try, wait := 1, firstWait; n < len(p); try, wait = try+1, 2*wait {
		m, err := f.once(p[n:], off+int64(n))
		n += m
		if err == nil {
			continue
		}
		if !passing(err) {
			return n, err
		}
		if try >= reads {
			return n, fmt.Errorf("%w: %d bytes at %d, tried %s: %w", dfs.ErrUnavailable, len(p), off, english.Plural(try, "time", ""), plain(err))
		}
		if err := pipe.Sleep(f.ctx, wait); err != nil {
			return n, err
		}
	}
	return n, nil
}

// once reads with one reader from the pool, or with a new reader.
func (f *file) once(p []byte, off int64) (int, error) {
	select {
	case f.slots <- struct{}{}:
		defer func() { <-f.slots }()
	case <-f.ctx.Done():
		return 0, context.Cause(f.ctx)
	}
	r, err := f.take(off)
	if err != nil {
		return 0, err
	}
	fresh := r == nil
	if fresh {
		if r, err = f.newReader(); err != nil {
			return 0, err
		}
	}
	n, err := r.readAt(p, off)
	if err == nil && fresh {
		err = f.same()
	}
	if err != nil {
		r.r.Close()
		if fresh {
			n = 0 // it is unknown which file the bytes are from
		}
		return n, err
	}
	f.give(r)
	return n, nil
}

// take removes a reader from the pool and returns it: a reader at off or shortly before it, or
// else the reader that has been idle the longest. It returns nil if the pool is empty.
func (f *file) take(off int64) (*reader, error) {
	f.pool.Lock()
	defer f.pool.Unlock()
	if f.closed {
		return nil, fs.ErrClosed
	}
	if len(f.idle) == 0 {
		return nil, nil
	}
	best := 0
	for i, r := range f.idle {
		if r.off <= off && off <= r.off+skip && (f.idle[best].off > off || r.off > f.idle[best].off) {
			best = i
		}
	}
	r := f.idle[best]
	f.idle = slices.Delete(f.idle, best, best+1)
	return r, nil
}

func (f *file) give(r *reader) {
	f.pool.Lock()
	defer f.pool.Unlock()
	if f.closed {
		r.r.Close()
		return
	}
	f.idle = append(f.idle, r)
}

func (f *file) newReader() (*reader, error) {
	var r *hdfs.FileReader
	err := f.call(f.ctx, replacing, func(client *hdfs.Client) (err error) {
		r, err = client.Open(f.path)
		return err
	})
	return &reader{r: r}, err
}

// same returns an error unless f.path is still the file that was opened. The library
// requests a file's blocks by its path, at the first read.
func (f *file) same() error {
	fi, err := f.stat(f.ctx, f.path)
	if err != nil {
		return err
	}
	if inode(fi) != f.id {
		return ErrReplaced
	}
	return nil
}

// readAt fills p. It seeks only if the offset differs, because the library's Seek drops the
// connection even if the offset is the same.
func (r *reader) readAt(p []byte, off int64) (int, error) {
	if off != r.off {
		if _, err := r.r.Seek(off, io.SeekStart); err != nil {
			return 0, err
		}
		r.off = off
	}
	n, err := io.ReadFull(r.r, p)
	r.off += int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Close closes the idle readers. A read that is under way closes its own reader.
func (f *file) Close() error {
	f.pool.Lock()
	defer f.pool.Unlock()
	f.closed = true
	for _, r := range f.idle {
		r.r.Close()
	}
	f.idle = nil
	return nil
}
