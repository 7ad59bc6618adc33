package dfstest

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"sync"
	"sync/atomic"

	"usertrail/internal/store/dfs"
)

// ErrInjected is the cause of every failure of a Fault.
var ErrInjected = errors.New("injected fault")

// A Mode is the way in which an operation fails. Modes can be combined: Torn|Dead.
type Mode uint

const (
	// Torn: a Write that fails has written the first half.
	Torn Mode = 1 << iota
	// Uncertain: a Commit, Publish, Mkdir, Remove or Sweep that fails has nevertheless taken
	// effect, as if the server's response was lost.
	Uncertain
	// Dead: everything after the failure fails too, and Abort removes nothing, as if the disk
	// was gone or the process was killed.
	Dead
	// Lossy: the failure is a power cut. Scratch files that were committed before it are empty
	// after it.
	Lossy
)

// Modes are the ways in which an operation can fail.
var Modes = []Mode{0, Torn, Uncertain, Dead, Torn | Uncertain | Dead | Lossy}

// A Fault is an FS in which one operation fails. Operations are the methods of FS and Real;
// Read, ReadAt and Close of a file; Write and Commit of a pending file; Unlock and Drop. They
// are counted over all goroutines. A failing operation still releases its resource: a file is
// closed, and a lock is no longer held.
type Fault struct {
	fs    dfs.FS
	at    int64
	mode  Mode
	count atomic.Int64

	mu      sync.Mutex
	scratch []string // the committed scratch files
}

// FaultAt returns fs with a fault in operation n, counted from 0. Earlier operations are
// unchanged. Later operations are unchanged too, unless the mode is Dead.
func FaultAt(fs dfs.FS, n int, modes ...Mode) *Fault {
	f := &Fault{fs: fs, at: int64(n)}
	for _, m := range modes {
		f.mode |= m
	}
	return f
}

// Count returns the number of operations so far, including failed ones. If a run ends with
// Count() <= n, it did not reach its fault.
func (f *Fault) Count() int { return int(f.count.Load()) }

// fail counts an operation and returns the error of the operation, or nil.
func (f *Fault) fail(op, name string) error {
	n := f.count.Add(1) - 1
	if n < f.at || n > f.at && f.mode&Dead == 0 {
		return nil
	}
	err := fmt.Errorf("%s %s: operation %d: %w", op, name, n, ErrInjected)
	if n == f.at && f.mode&Lossy != 0 {
		return errors.Join(err, f.lose())
	}
	return err
}

// lose empties the scratch files that still exist.
func (f *Fault) lose() error {
	ctx := context.Background()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range f.scratch {
		_, err := f.fs.Stat(ctx, name)
		if errors.Is(err, iofs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = dfs.WriteScratch(ctx, f.fs, name, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dead reports whether the failure has occurred and everything after it fails.
func (f *Fault) dead() bool { return f.mode&Dead != 0 && f.count.Load() > f.at }

// change runs an operation that changes something.
func (f *Fault) change(op, name string, do func() error) error {
	dead := f.dead()
	err := f.fail(op, name)
	if err == nil {
		return do()
	}
	if f.mode&Uncertain != 0 && !dead {
		return errors.Join(err, do())
	}
	return err
}

// Open implements dfs.FS.
func (f *Fault) Open(ctx context.Context, name string) (dfs.File, error) {
	if err := f.fail("open", name); err != nil {
		return nil, err
	}
	file, err := f.fs.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return &faultFile{File: file, f: f, name: name}, nil
}

// Create implements dfs.FS.
func (f *Fault) Create(ctx context.Context, name string) (dfs.Pending, error) {
	return f.begin(ctx, name, f.fs.Create, false)
}

// CreateNew implements dfs.FS.
func (f *Fault) CreateNew(ctx context.Context, name string) (dfs.Pending, error) {
	return f.begin(ctx, name, f.fs.CreateNew, false)
}

// Scratch implements dfs.FS.
func (f *Fault) Scratch(ctx context.Context, name string) (dfs.Pending, error) {
	return f.begin(ctx, name, f.fs.Scratch, true)
}

func (f *Fault) begin(ctx context.Context, name string, create func(context.Context, string) (dfs.Pending, error), scratch bool) (dfs.Pending, error) {
	if err := f.fail("create", name); err != nil {
		return nil, err
	}
	p, err := create(ctx, name)
	if err != nil {
		return nil, err
	}
	return &faultPending{Pending: p, f: f, name: name, scratch: scratch}, nil
}

// Stat implements dfs.FS.
func (f *Fault) Stat(ctx context.Context, name string) (dfs.Info, error) {
	if err := f.fail("stat", name); err != nil {
		return dfs.Info{}, err
	}
	return f.fs.Stat(ctx, name)
}

// List implements dfs.FS.
func (f *Fault) List(ctx context.Context, dir string) ([]dfs.Info, error) {
	if err := f.fail("list", dir); err != nil {
		return nil, err
	}
	return f.fs.List(ctx, dir)
}

// Real implements dfs.Resolver.
func (f *Fault) Real(ctx context.Context, name string) (string, error) {
	if err := f.fail("resolve", name); err != nil {
		return "", err
	}
	return dfs.Real(ctx, f.fs, name)
}

// Mkdir implements dfs.FS.
func (f *Fault) Mkdir(ctx context.Context, dir string) error {
	return f.change("mkdir", dir, func() error { return f.fs.Mkdir(ctx, dir) })
}

// Publish implements dfs.FS.
func (f *Fault) Publish(ctx context.Context, from, to string) error {
	return f.change("publish", to, func() error { return f.fs.Publish(ctx, from, to) })
}

// Remove implements dfs.FS.
func (f *Fault) Remove(ctx context.Context, name string) error {
	return f.change("remove", name, func() error { return f.fs.Remove(ctx, name) })
}

// Sweep implements dfs.FS.
func (f *Fault) Sweep(ctx context.Context, dir string, but ...string) error {
	return f.change("sweep", dir, func() error { return f.fs.Sweep(ctx, dir, but...) })
}

// Lock implements dfs.FS.
func (f *Fault) Lock(ctx context.Context, name string) (dfs.Lock, error) {
	if err := f.fail("lock", name); err != nil {
		return nil, err
	}
	l, err := f.fs.Lock(ctx, name)
	if err != nil {
		return nil, err
	}
	return &faultLock{l: l, f: f, name: name}, nil
}

type faultLock struct {
	l    dfs.Lock
	f    *Fault
	name string
}

func (l *faultLock) Unlock() error {
	return errors.Join(l.f.fail("unlock", l.name), l.l.Unlock())
}

func (l *faultLock) Drop() error {
	if err := l.f.fail("drop", l.name); err != nil {
		return errors.Join(err, l.l.Unlock())
	}
	return l.l.Drop()
}

type faultFile struct {
	dfs.File
	f    *Fault
	name string
}

func (r *faultFile) Read(b []byte) (int, error) {
	if err := r.f.fail("read", r.name); err != nil {
		return 0, err
	}
	return r.File.Read(b)
}

func (r *faultFile) ReadAt(b []byte, off int64) (int, error) {
	if err := r.f.fail("read", r.name); err != nil {
		return 0, err
	}
	return r.File.ReadAt(b, off)
}

func (r *faultFile) Close() error {
	return errors.Join(r.f.fail("close", r.name), r.File.Close())
}

type faultPending struct {
	dfs.Pending
	f       *Fault
	name    string
	scratch bool
}

func (p *faultPending) Write(b []byte) (int, error) {
	dead := p.f.dead()
	err := p.f.fail("write", p.name)
	if err == nil {
		return p.Pending.Write(b)
	}
	if p.f.mode&Torn == 0 || dead {
		return 0, err
	}
	n, torn := p.Pending.Write(b[:len(b)/2])
	return n, errors.Join(err, torn)
}

func (p *faultPending) Commit() error {
	err := p.f.change("commit", p.name, p.Pending.Commit)
	if err == nil && p.scratch {
		p.f.mu.Lock()
		defer p.f.mu.Unlock()
		p.f.scratch = append(p.f.scratch, p.name)
	}
	return err
}

// Abort calls the real Abort, unless the disk is dead. On a dead disk the pending file
// remains for Sweep.
func (p *faultPending) Abort() {
	if !p.f.dead() {
		p.Pending.Abort()
	}
}
