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
	// leastAhead and mostAhead bound how many bytes of a file are read at once. Smaller reads
	// are slow. Larger reads are not faster.
	leastAhead = 64 << 10
	mostAhead  = 1 << 20
	// inputRest is how many more bytes an input holds: a block, compressed and uncompressed,
	// and its part of the index. It is larger if cells are large.
	inputRest = 192 << 10
	// leastMerge is how many bytes of memory the inputs of one worker may always use. It is
	// enough for two inputs with cells as large as the default limit of a log line.
	leastMerge = 8 << 20
	// mostOpen limits how many files one merge opens. On HDFS it also limits the connections.
	mostOpen = 256
)

// memory returns how many bytes of memory the inputs of one worker may use.
func (r *run) memory() int64 { return segment.SortMemory(r.cfg.Memory) / int64(r.cfg.Workers) }

// fanIn returns how many files a worker merges at once.
func (r *run) fanIn() int {
	return int(min(max(r.memory()/(leastAhead+inputRest), 2), mostOpen))
}

// readAhead returns how many bytes of each file a worker reads at once if it merges n files.
// The other half of its memory is for the blocks.
func (r *run) readAhead(n int) int {
	return int(min(max(r.memory()/int64(n)/2, leastAhead), mostAhead))
}

// A memoryError means that the blocks of the inputs together need too much memory.
type memoryError struct{ need, most int64 }

func (c *memoryError) Error() string {
	return fmt.Sprintf("to read them takes more than %s, and a worker has %s for it", humanize.IBytes(uint64(c.need)), humanize.IBytes(uint64(c.most)))
}

// A merge returns the cells of several files in order. Only one goroutine may use it.
type merge struct {
	open []*input
	heap []*input // a heap of the inputs that have a cell; the first cell is on top
	held int64    // bytes of memory that the inputs use
	most int64    // limit for held
}

// An input is one of the merged files.
type input struct {
	name string
	file dfs.File
	it   *hfile.Iterator
	held int // bytes of memory for blocks
}

// openMerge opens files and reads their first cells.
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

func (m *merge) add(ctx context.Context, t table.StagedReader, name string, ahead int) error {
	f, err := t.Staged(ctx, name)
	if err != nil {
		return err
	}
	in := &input{name: name, file: f}
	m.open = append(m.open, in)
	h, err := hfile.Open(f, f.Size())
	if err != nil {
		return fmt.Errorf("open %s: %w", name, table.Corrupt(err))
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

// weigh returns an error if the inputs need too much memory, together with the current block of
// in.
func (m *merge) weigh(in *input) error {
	n := in.it.Largest()
	m.held += int64(n - in.held)
	in.held = n
	if m.held > m.most {
		return &memoryError{m.held, m.most}
	}
	return nil
}

// cell returns the first cell in order, or nil if there is none. The cell is valid until next.
func (m *merge) cell() *cell.Cell {
	if len(m.heap) == 0 {
		return nil
	}
	return m.heap[0].it.Cell()
}

// next moves to the next cell.
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

// sink moves the input at i down to its position in the heap.
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
		return fmt.Errorf("read %s: %w", in.name, table.Corrupt(err))
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
