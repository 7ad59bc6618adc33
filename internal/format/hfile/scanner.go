package hfile

import "encoding/binary"

// scanAhead is the number of bytes that a scanner reads at once.
const scanAhead = 512 << 10

// A scanner reads the blocks between two offsets in file order, and checks each block.
type scanner struct {
	f      fetcher
	at     int64 // of the next block
	buf    []byte
	stored []byte // the current block
	err    error

	offset int64 // of the current block
	header header
}

func newScanner(r *Reader, from, to int64) *scanner {
	return &scanner{
		f:  fetcher{r: r.r, end: to, ahead: scanAhead, window: scanAhead, dec: decompressor{codec: r.trailer.Codec}},
		at: from,
	}
}

// next moves to the next block. It returns false at the end. If the next bytes are not a
// block, it returns false and sets err.
func (s *scanner) next() bool {
	if s.err != nil || s.at >= s.f.end {
		return false
	}
	if s.at+headerLen > s.f.end {
		s.err = corrupt(s.at, "%d bytes after the last block", s.f.end-s.at)
		return false
	}
	b, err := s.f.stored(s.at, headerLen, true)
	if err != nil {
		s.err = err
		return false
	}
	after := binary.BigEndian.Uint32(b[8:])
	if s.stored, err = s.f.stored(s.at, headerLen+int(after), true); err != nil {
		s.err = err
		return false
	}
	if s.header, s.err = checkBlock(s.stored, s.at); s.err != nil {
		return false
	}
	s.offset = s.at
	s.at += int64(len(s.stored))
	return true
}

// payload decompresses the current block's payload, which is valid until the
// next call.
func (s *scanner) payload() ([]byte, error) {
	b, err := s.f.dec.decompress(s.buf, s.stored[headerLen:s.header.stored], s.header.uncompressed)
	if err != nil {
		s.err = corrupt(s.offset, "%s: %w", s.header.kind, err)
		return nil, s.err
	}
	if s.f.dec.codec != Plain {
		s.buf = b[:0]
	}
	return b, nil
}
