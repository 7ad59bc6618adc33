package hfile

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// A fetcher reads and checks blocks for one goroutine.
type fetcher struct {
	r     io.ReaderAt
	end   int64 // read-ahead stops here
	ahead int   // most bytes to read ahead

	buf    []byte // the bytes of the last read
	from   int64  // the offset of buf in the file
	next   int64  // end of the last block fetched
	window int    // bytes to read at the next sequential miss
	dec    decompressor
}

// minWindow is the first read-ahead. It doubles with each sequential read.
const minWindow = 32 << 10

// stored returns the bytes of the block at offset, valid until the next call. If the block
// follows the last one closely, stored reads ahead.
func (f *fetcher) stored(offset int64, size int, sequential bool) ([]byte, error) {
	if size < headerLen || offset < 0 || offset > f.end-int64(size) {
		return nil, corrupt(offset, "a block of %d bytes before %d", size, f.end)
	}
	sequential = sequential || offset == f.next
	f.next = offset + int64(size)
	if at := offset - f.from; at >= 0 && at+int64(size) <= int64(len(f.buf)) {
		return f.buf[at : at+int64(size)], nil
	}
	f.grow(sequential)
	n := int(min(int64(max(size, f.window)), f.end-offset))
	f.buf = slices.Grow(f.buf[:0], n)[:n]
	f.from = offset
	if err := readAt(f.r, f.buf, offset); err != nil {
		f.buf = f.buf[:0]
		return nil, err
	}
	return f.buf[:size], nil
}

func (f *fetcher) grow(sequential bool) {
	switch {
	case !sequential:
		f.window = 0
	case f.window == 0:
		f.window = min(minWindow, f.ahead)
	default:
		f.window = min(2*f.window, f.ahead)
	}
}

// readAt fills b.
func readAt(r io.ReaderAt, b []byte, offset int64) error {
	n, err := r.ReadAt(b, offset)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) || err == nil {
		return corrupt(offset, "the file ends after %d of %d bytes", n, len(b))
	}
	return fmt.Errorf("hfile: read %d bytes at offset %d: %w", len(b), offset, err)
}

// block returns the header of the block at offset and its payload. The payload is
// decompressed into buf or a larger buffer; with codec NONE it is a part of f's own buffer.
func (f *fetcher) block(buf []byte, offset int64, size int, sequential bool) (header, []byte, error) {
	b, err := f.stored(offset, size, sequential)
	if err != nil {
		return header{}, nil, err
	}
	h, err := checkBlock(b, offset)
	if err != nil {
		return h, nil, err
	}
	payload, err := f.dec.decompress(buf, b[headerLen:h.stored], h.uncompressed)
	if err != nil {
		return h, nil, corrupt(offset, "%s: %w", h.kind, err)
	}
	return h, payload, nil
}

// checkBlock checks the header of a whole block and its checksums.
func checkBlock(b []byte, offset int64) (header, error) {
	h, err := parseHeader(b)
	if err != nil {
		return h, corrupt(offset, "%w", err)
	}
	if h.size() != len(b) {
		return h, corrupt(offset, "a %s of %d bytes, its entry says %d", h.kind, h.size(), len(b))
	}
	if err := verifyChecksums(b, &h); err != nil {
		return h, corrupt(offset, "%w", err)
	}
	return h, nil
}
