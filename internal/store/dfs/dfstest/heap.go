package dfstest

import (
	"context"
	"runtime"
	"sync"

	"usertrail/internal/store/dfs"
)

// A Heap is a file system that measures the heap at each write to a file, and at one of
// scratchEvery writes to what is only for the process.
type Heap struct {
	dfs.FS
	mu      sync.Mutex
	base    int64
	most    int64
	scratch int // writes
}

const scratchEvery = 64

// NewHeap returns fs. The heap is compared with what it is now.
func NewHeap(fs dfs.FS) *Heap { return &Heap{FS: fs, base: live()} }

// live is how many bytes of the heap are in use, without garbage.
func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Grown returns by how many bytes the heap was larger, at most, than at the beginning.
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
