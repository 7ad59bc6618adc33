package upkeep

import (
	"context"
	"errors"
	"fmt"

	"usertrail/internal/cell"
	"usertrail/internal/dfs"
	"usertrail/internal/hfile"
	"usertrail/internal/manifest"
)

const (
	// leastAhead and mostAhead bound what is read of a file at once: less is slow, more
	// is no faster.
	leastAhead = 64 << 10
	mostAhead  = 1 << 20
	// besides is what an input holds besides: a block, plain and stored, and its part of
	// the index.
	besides = 192 << 10
	// mostOpen bounds the files, and on HDFS the connections, that one merge has open.
	mostOpen = 256
)

// memory is what the inputs of one worker may take, in bytes.
func (r *run) memory() int64 { return r.cfg.Memory / 5 * 3 / int64(r.cfg.Workers) }

// fanIn is how many files a worker merges at once.
func (r *run) fanIn() int {
	return int(min(max(r.memory()/(leastAhead+besides), 2), mostOpen))
}

// readAhead is how much a worker that merges n files reads of each at once.
func (r *run) readAhead(n int) int {
	return int(min(max(r.memory()/int64(n)-besides, leastAhead), mostAhead))
}

// A merge gives the cells of several files in order. It is used by one goroutine.
type merge struct {
	open []*input
	heap []*input // those that have a cell, the first one's on top
}

// An input is one of the files.
type input struct {
	name string
	file dfs.File
	it   *hfile.Iterator
}

// openMerge opens files and goes to their first cells.
func (r *run) openMerge(ctx context.Context, files []manifest.File) (*merge, error) {
	m := new(merge)
	for i := range files {
		if err := m.add(ctx, r.table, files[i].Name, r.readAhead(len(files))); err != nil {
			return nil, errors.Join(err, m.close())
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
	return m, nil
}

func (m *merge) add(ctx context.Context, t filed, name string, ahead int) error {
	f, err := t.Staged(ctx, name)
	if err != nil {
		return err
	}
	in := &input{name: name, file: f}
	m.open = append(m.open, in)
	h, err := hfile.Open(f, f.Size())
	if err != nil {
		return fmt.Errorf("open %s: %w", name, err)
	}
	in.it = h.Iterator(hfile.IterOptions{ReadAhead: ahead})
	if in.it.First() {
		m.heap = append(m.heap, in)
	}
	return in.err()
}

// cell is the first cell of all, nil where there is none; it is valid until next.
func (m *merge) cell() *cell.Cell {
	if len(m.heap) == 0 {
		return nil
	}
	return m.heap[0].it.Cell()
}

// next goes on to the next cell.
func (m *merge) next() error {
	in := m.heap[0]
	if !in.it.Next() {
		last := len(m.heap) - 1
		m.heap[0] = m.heap[last]
		m.heap = m.heap[:last]
		if err := in.err(); err != nil {
			return err
		}
	}
	m.sink(0)
	return nil
}

// sink moves the input at i down to where it belongs.
func (m *merge) sink(i int) {
	h := m.heap
	for {
		least := 2*i + 1
		if least >= len(h) {
			return
		}
		if right := least + 1; right < len(h) && cell.Compare(h[right].it.Cell(), h[least].it.Cell()) < 0 {
			least = right
		}
		if cell.Compare(h[i].it.Cell(), h[least].it.Cell()) <= 0 {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

func (in *input) err() error {
	if err := in.it.Err(); err != nil {
		return fmt.Errorf("read %s: %w", in.name, err)
	}
	return nil
}

func (m *merge) close() error {
	var errs []error
	for _, in := range m.open {
		errs = append(errs, in.file.Close())
	}
	m.open, m.heap = nil, nil
	return errors.Join(errs...)
}
