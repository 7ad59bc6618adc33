package dfstest

import (
	"context"
	"sync"

	"usertrail/internal/store/dfs"
	"usertrail/internal/test/testkit"
)

// A Heap is a file system that measures the heap at each write to a file. It measures only
// one in scratchEvery writes to scratch files.
type Heap struct {
	dfs.FS
	mu      sync.Mutex
	base    int64
	most    int64
	scratch int // number of writes
}

const scratchEvery = 64

// NewHeap returns a Heap over fs. It compares the heap with its current size.
func NewHeap(fs dfs.FS) *Heap { return &Heap{FS: fs, base: live()} }

// live returns testkit.Heap as a number that can be subtracted.
func live() int64 { return int64(testkit.Heap()) }

// Grown returns the largest growth of the heap in bytes since the beginning.
func (h *Heap) Grown() int64 { return h.most - h.base }

func (h *Heap) measure(scratch bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if scratch {
		if h.scratch++; h.scratch%scratchEvery != 0 {
			return
		}
	}
	h.most = max(h.most, live())
}

// Create implements dfs.FS.
func (h *Heap) Create(ctx context.Context, name string) (dfs.Pending, error) {
	p, err := h.FS.Create(ctx, name)
	return &measured{p, h, false}, err
}

// Scratch implements dfs.FS.
func (h *Heap) Scratch(ctx context.Context, name string) (dfs.Pending, error) {
	p, err := h.FS.Scratch(ctx, name)
	return &measured{p, h, true}, err
}

type measured struct {
	dfs.Pending
	h       *Heap
	scratch bool
}

// Write implements dfs.Pending.
func (p *measured) Write(b []byte) (int, error) {
	p.h.measure(p.scratch)
	return p.Pending.Write(b)
}

// A ReadHeap is a Heap that also measures at each read of a file at an offset.
type ReadHeap struct{ *Heap }

// NewReadHeap returns a ReadHeap over fs. It compares the heap with its current size.
func NewReadHeap(fs dfs.FS) ReadHeap { return ReadHeap{NewHeap(fs)} }

// Open implements dfs.FS.
func (h ReadHeap) Open(ctx context.Context, name string) (dfs.File, error) {
	f, err := h.FS.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return &measuredFile{f, h.Heap}, nil
}

type measuredFile struct {
	dfs.File
	h *Heap
}

// ReadAt implements dfs.File.
func (f *measuredFile) ReadAt(b []byte, off int64) (int, error) {
	f.h.measure(false)
	return f.File.ReadAt(b, off)
}
