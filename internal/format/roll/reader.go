package roll

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
)

// tailSize is the number of bytes that are read when a roll is opened. In most rolls they
// contain everything except the blocks.
const tailSize = 8 << 10

// A Reader reads a roll. It holds the index. Many goroutines may use it at once, each with
// its own Iterator.
type Reader struct {
	r      io.ReaderAt
	meta   Meta
	blocks []blockInfo
}

// Open reads the index of a roll of size bytes. The Reader and its Iterators read from r. The
// caller closes r after their last use.
func Open(r io.ReaderAt, size int64) (*Reader, error) {
	tail := make([]byte, min(size, tailSize))
	if err := readAt(r, tail, size-int64(len(tail))); err != nil {
		return nil, err
	}
	n, err := footerLen(tail, size)
	if err != nil {
		return nil, err
	}
	if tail, err = extend(r, tail, size, n+trailerLen); err != nil {
		return nil, err
	}
	f, err := checkedFooter(tail, n)
	if err != nil {
		return nil, err
	}
	all := int64(f.indexLen) + int64(n) + trailerLen
	if all > size {
		return nil, fmt.Errorf("roll: %w: an index of %d bytes in a file of %d", ErrCorrupt, f.indexLen, size)
	}
	if tail, err = extend(r, tail, size, int(all)); err != nil {
		return nil, err
	}
	rd := &Reader{r: r, meta: f.meta}
	rd.meta.Size = size
	return rd, rd.setIndex(tail[len(tail)-int(all):][:f.indexLen], f, size-all)
}

// footerLen reads the trailer, the last bytes of tail.
func footerLen(tail []byte, size int64) (int, error) {
	if len(tail) < trailerLen || !bytes.HasPrefix(tail[len(tail)-len(magic)-1:], []byte(magic)) {
		return 0, fmt.Errorf("roll: %w: no trailer at the end of %d bytes", ErrCorrupt, size)
	}
	n := int64(binary.BigEndian.Uint32(tail[len(tail)-trailerLen:]))
	if n+trailerLen > size {
		return 0, fmt.Errorf("roll: %w: a footer of %d bytes in a file of %d", ErrCorrupt, n, size)
	}
	return int(n), nil
}

// extend returns at least the last n bytes of the file. tail is the end of the file that has
// already been read.
func extend(r io.ReaderAt, tail []byte, size int64, n int) ([]byte, error) {
	if n <= len(tail) {
		return tail, nil
	}
	b := make([]byte, n)
	return b, readAt(r, b, size-int64(n))
}

// checkedFooter reads the footer, n bytes of tail before the trailer.
func checkedFooter(tail []byte, n int) (*footer, error) {
	trailer := tail[len(tail)-trailerLen:]
	b := tail[len(tail)-trailerLen-n:][:n]
	if want := binary.BigEndian.Uint32(trailer[4:]); checksum(b) != want {
		return nil, fmt.Errorf("roll: %w: footer has checksum %08x, not %08x", ErrCorrupt, checksum(b), want)
	}
	f, err := parseFooter(b)
	if err != nil {
		return nil, fmt.Errorf("roll: %w", err)
	}
	if v := trailer[trailerLen-1]; v != version(len(f.meta.IDs)) {
		return nil, fmt.Errorf("roll: %w: version %d with %d behaviours", ErrCorrupt, v, len(f.meta.IDs))
	}
	return f, nil
}

// setIndex stores the index, which begins at offset start of the file.
func (r *Reader) setIndex(b []byte, f *footer, start int64) error {
	if checksum(b) != f.indexCRC {
		return fmt.Errorf("roll: %w: index at %d has checksum %08x, not %08x", ErrCorrupt, start, checksum(b), f.indexCRC)
	}
	blocks, last, err := parseIndex(b)
	if err != nil {
		return fmt.Errorf("roll: index at %d: %w", start, err)
	}
	var end, users int64
	for i := range blocks {
		end = blocks[i].end()
		users += blocks[i].users
	}
	if end != start || users != r.meta.Users {
		return fmt.Errorf("roll: %w: blocks of %d users end at %d, not %d users at %d", ErrCorrupt, users, end, r.meta.Users, start)
	}
	r.blocks = blocks
	r.meta.Blocks = len(blocks)
	if len(blocks) > 0 {
		r.meta.First, r.meta.Last = blocks[0].first, last
	}
	return nil
}

// Meta describes the content of the roll. The caller must not change its slices.
func (r *Reader) Meta() Meta { return r.meta }

// Kind returns the index of a behaviour ID, which Day.Kinds has.
func (r *Reader) Kind(id uint16) (int, bool) { return slices.BinarySearch(r.meta.IDs, id) }

// blockOf returns the only block that can hold user.
func (r *Reader) blockOf(user []byte) int {
	i := sort.Search(len(r.blocks), func(i int) bool { return bytes.Compare(r.blocks[i].first, user) > 0 })
	return max(i-1, 0)
}

// decode decodes block i and returns its raw form, appended to dst[:0]. stored holds its
// bytes in the file.
func (r *Reader) decode(i int, stored, dst []byte) (raw []byte, err error) {
	info := &r.blocks[i]
	frame, want := stored[:info.stored], binary.BigEndian.Uint32(stored[info.stored:])
	if sum := checksum(frame); sum != want {
		return dst, r.corrupt(i, "checksum %08x, not %08x", sum, want)
	}
	dec, err := decoder()
	if err != nil {
		return dst, fmt.Errorf("roll: zstd: %w", err)
	}
	dst, err = dec.DecodeAll(frame, dst[:0])
	if err != nil {
		return dst[:0], r.corrupt(i, "%v", err)
	}
	if len(dst) != info.raw {
		return dst, r.corrupt(i, "%d bytes, not %d", len(dst), info.raw)
	}
	return dst, nil
}

func (r *Reader) corrupt(i int, format string, args ...any) error {
	return fmt.Errorf("roll: %w: block %d at %d: %s", ErrCorrupt, i, r.blocks[i].off, fmt.Sprintf(format, args...))
}

// readAt fills b from offset off.
func readAt(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return fmt.Errorf("roll: %w: ends at %d, not %d", ErrCorrupt, off+int64(n), off+int64(len(b)))
	}
	return fmt.Errorf("roll: read at %d: %w", off, err)
}
