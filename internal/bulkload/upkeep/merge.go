package upkeep

import (
	"context"
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"

	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/segment"
)

const (
	// leastAhead and mostAhead bound what is read of a file at once: less is slow, more
	// is no faster.
	leastAhead = 64 << 10
	mostAhead  = 1 << 20
	// besides is what an input holds besides: a block, plain and stored, and its part of
	// the index. It is more where cells are large.
	besides = 192 << 10
	// leastMerge is what the inputs of one worker may take, whatever the memory is: two
	// of them, with cells as large as a line of a log is by default.
	leastMerge = 8 << 20
	// mostOpen bounds the files, and on HDFS the connections, that one merge has open.
	mostOpen = 256
)

// memory is what the inputs of one worker may take, in bytes.
func (r *run) memory() int64 { return segment.SortMemory(r.cfg.Memory) / int64(r.cfg.Workers) }

// fanIn is how many files a worker merges at once.
func (r *run) fanIn() int {
	return int(min(max(r.memory()/(leastAhead+besides), 2), mostOpen))
}

// readAhead is how much a worker that merges n files reads of each at once. It leaves as
// much for the blocks.
func (r *run) readAhead(n int) int {
	return int(min(max(r.memory()/int64(n)/2, leastAhead), mostAhead))
}

// A crowd is the error of inputs whose blocks take too much memory together.
type crowd struct{ need, most int64 }

func (c *crowd) Error() string {
	return fmt.Sprintf("to read them takes more than %s, and a worker has %s for it", humanize.IBytes(uint64(c.need)), humanize.IBytes(uint64(c.most)))
}

// A merge gives the cells of several files in order. It is used by one goroutine.
type merge struct {
	open []*input
	heap []*input // those that have a cell, the first one's on top
	held int64    // bytes of memory that the inputs take
	most int64    // that they may take
}

// An input is one of the files.
type input struct {
	name string
	file dfs.File
	it   *hfile.Iterator
	held int // bytes of memory, of blocks
}

// openMerge opens files and goes to their first cells.
func (r *run) openMerge(ctx context.Context, files []manifest.File) (*merge, error) {
	m := &merge{most: max(r.memory(), leastMerge)}
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

func (m *merge) add(ctx context.Context, t table.Replaceable, name string, ahead int) error {
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
	m.held += int64(ahead)
	if in.it.First() {
		m.heap = append(m.heap, in)
	}
	if err := in.err(); err != nil {
		return err
	}
	return m.weigh(in)
}

// weigh fails where the inputs take too much memory with the block that in is at.
func (m *merge) weigh(in *input) error {
	n := in.it.Largest()
	m.held += int64(n - in.held)
	in.held = n
	if m.held > m.most {
		return &crowd{m.held, m.most}
	}
	return nil
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
	if in.it.Largest() > in.held {
		if err := m.weigh(in); err != nil {
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
