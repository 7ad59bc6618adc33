package hfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"usertrail/internal/cell"
)

// writeSize is the number of bytes that are collected before a write.
const writeSize = 256 << 10

// maxGrowth is how many times BlockSize a block may reach while it waits for the next group
// to begin.
const maxGrowth = 4

var errClosed = errors.New("hfile: the writer is closed")

// A Writer writes one file. The file is complete when Close returns without error.
type Writer struct {
	opt   Options
	out   output
	enc   cellEncoder
	index indexWriter
	bloom *bloomWriter // nil if there is none
	facts facts        // for file info

	last     cell.Cell // own copies; its Value and Tags are unused
	firstKey []byte    // of the open block
	open     bool      // a block is open
	before   cell.Cell // last cell of the previous block, for short index keys
	f        follower
	err      error // the first error; every later call returns it
}

// A Meta describes a finished file.
type Meta struct {
	Cells    int64
	Blocks   int64 // of data
	Size     int64 // bytes
	FirstRow []byte
	LastRow  []byte
}

// NewWriter returns a Writer of a file that is written to w, front to back in large pieces.
func NewWriter(w io.Writer, opt Options) (*Writer, error) {
	opt = opt.withDefaults()
	if err := opt.validate(); err != nil {
		return nil, err
	}
	compress := opt.compressor
	if compress == nil {
		var err error
		if compress, err = newCompressor(opt.Codec); err != nil {
			return nil, err
		}
	}
	wr := &Writer{opt: opt, out: newOutput(w, compress)}
	wr.index = newIndexWriter(&wr.out, opt)
	if opt.Bloom != NoBloom {
		wr.bloom = newBloomWriter(&wr.out, opt)
	}
	wr.enc = newEncoder(opt.Encoding, tail{tags: opt.Tags, mvcc: true})
	wr.enc.reset()
	return wr, nil
}

// Add adds c. c must not sort before any cell that was added before, and must be of the same
// family. Add keeps no reference to c's bytes.
func (w *Writer) Add(c *cell.Cell) error {
	if w.err != nil {
		return w.err
	}
	if err := w.add(c); err != nil {
		w.err = err
	}
	return w.err
}

func (w *Writer) add(c *cell.Cell) error {
	f := &w.f
	*f = follower{Cell: c, keyLen: keyLen(c), lastRow: len(w.last.Row)}
	if w.opt.MVCC {
		f.mvcc = c.MVCC
	}
	if err := w.check(c); err != nil {
		return err
	}
	newCell, err := w.compare(f)
	if err != nil {
		return err
	}
	if w.bloom != nil {
		w.bloom.add(f)
	}
	if w.open && newCell && w.full(f) {
		if err := w.closeBlock(); err != nil {
			return err
		}
	}
	if !w.open {
		w.open = true
		w.firstKey = appendKey(w.firstKey[:0], c)
		f.first = true
	}
	w.enc.add(f)
	w.facts.add(f)
	w.remember(f)
	return nil
}

// check returns an error for a cell that no file can hold.
func (w *Writer) check(c *cell.Cell) error {
	switch n := w.facts.cells; {
	case len(c.Row) == 0 || len(c.Row) > maxRow:
		return fmt.Errorf("hfile: cell %d: a row of %d bytes is not in 1..%d", n, len(c.Row), maxRow)
	case len(c.Family) > maxFamily:
		return fmt.Errorf("hfile: cell %d: a family of %d bytes, at most %d", n, len(c.Family), maxFamily)
	case len(c.Qualifier) > maxValue || len(c.Value) > maxValue:
		return fmt.Errorf("hfile: cell %d: qualifier of %d and value of %d bytes, at most %d", n, len(c.Qualifier), len(c.Value), maxValue)
	case len(c.Tags) > 0 && !w.opt.Tags:
		return fmt.Errorf("hfile: cell %d has tags, for which Options.Tags makes no room", n)
	case len(c.Tags) > maxTags:
		return fmt.Errorf("hfile: cell %d: tags of %d bytes, at most %d", n, len(c.Tags), maxTags)
	}
	return nil
}

// compare computes how many leading bytes c shares with the last cell and whether its key
// differs. It refuses a cell that is out of order, and a repeated key if Options.Distinct is set.
func (w *Writer) compare(f *follower) (newCell bool, err error) {
	if w.facts.cells == 0 {
		return true, nil
	}
	last := &w.last
	f.commonRow = commonPrefix(f.Row, last.Row)
	f.sameRow = f.commonRow == len(f.Row) && len(f.Row) == len(last.Row)
	if !bytes.Equal(f.Family, last.Family) {
		return false, fmt.Errorf("hfile: cell %d of family %q: the file is of family %q", w.facts.cells, f.Family, last.Family)
	}
	if !f.sameRow {
		if !ascends(last.Row, f.Row, f.commonRow) {
			return false, w.disorder(f)
		}
		return true, nil
	}
	f.commonQual = commonPrefix(f.Qualifier, last.Qualifier)
	if f.commonQual != len(f.Qualifier) || len(f.Qualifier) != len(last.Qualifier) {
		if !ascends(last.Qualifier, f.Qualifier, f.commonQual) {
			return false, w.disorder(f)
		}
		return true, nil
	}
	f.sameColumn = true
	if f.Time > last.Time || f.Time == last.Time && f.Type > last.Type {
		return false, w.disorder(f)
	}
	newCell = f.Time != last.Time || f.Type != last.Type
	if !newCell && w.opt.Distinct {
		return false, fmt.Errorf("hfile: cell %d has the key of the cell before it: row %.64x, qualifier %.64x", w.facts.cells, f.Row, f.Qualifier)
	}
	return newCell, nil
}

// ascends reports whether a < b. a and b differ, and share common leading bytes.
func ascends(a, b []byte, common int) bool {
	return common == len(a) || common < len(b) && a[common] < b[common]
}

func (w *Writer) disorder(f *follower) error {
	return fmt.Errorf("hfile: cell %d out of order: row %.64x after %.64x, qualifier %.64x after %.64x",
		w.facts.cells, f.Row, w.last.Row, f.Qualifier, w.last.Qualifier)
}

// full reports whether the open block ends before f.
func (w *Writer) full(f *follower) bool {
	size := w.enc.filled()
	if size < w.opt.BlockSize {
		return false
	}
	if w.opt.GroupLen == nil || size >= maxGrowth*w.opt.BlockSize {
		return true
	}
	return !f.sameRow && f.commonRow < w.opt.GroupLen(f.Row)
}

func (w *Writer) remember(f *follower) {
	if !f.sameRow {
		w.last.Row = append(w.last.Row[:0], f.Row...)
	}
	if f.sameRow {
		w.last.Qualifier = append(w.last.Qualifier[:f.commonQual], f.Qualifier[f.commonQual:]...)
	} else {
		w.last.Qualifier = append(w.last.Qualifier[:0], f.Qualifier...)
	}
	if w.facts.cells == 1 {
		w.last.Family = bytes.Clone(f.Family)
	}
	w.last.Time, w.last.Type = f.Time, f.Type
}

// closeBlock writes the open block and its index entry. It then writes the index leaf and the
// Bloom chunks that are full.
func (w *Writer) closeBlock() error {
	at := w.out.offset()
	size, err := w.out.block(w.enc.kind(), w.enc.payload())
	if err != nil {
		return err
	}
	if err := w.index.add(at, size, w.indexKey()); err != nil {
		return err
	}
	if w.bloom != nil {
		if err := w.bloom.writeClosed(); err != nil {
			return err
		}
	}
	w.facts.closeBlock(at)
	w.before.Row = append(w.before.Row[:0], w.last.Row...)
	w.before.Qualifier = append(w.before.Qualifier[:0], w.last.Qualifier...)
	w.open = false
	w.enc.reset()
	return nil
}

// indexKey returns the key of the open block's index entry, valid until the next block opens.
func (w *Writer) indexKey() []byte {
	if w.facts.blocks == 0 || !w.opt.ShortIndexKeys {
		return w.firstKey
	}
	var first cell.Cell
	if err := parseKey(&first, w.firstKey); err != nil {
		return w.firstKey
	}
	return appendShortKey(nil, &w.before, &first)
}
