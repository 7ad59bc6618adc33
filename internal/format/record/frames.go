package record

import (
	"bufio"
	"math"

	"github.com/klauspost/compress/zstd"
)

// A Grow is called before a frame of a zstd file whose window, in bytes, is larger than the windows of the frames before it. Its error
// ends the reading.
type Grow func(window int64) error

// frames passes the bytes of a zstd file on, and calls grow before its frames. Source: RFC 8878, sections 3.1.1 and 3.1.2.
type frames struct {
	in   *bufio.Reader
	grow Grow
	most int64 // the largest window so far

	left     int64 // bytes before the next header
	inFrame  bool  // the next header is the header of a block
	checksum bool  // the frame ends with a checksum
}

// Sizes in bytes.
const (
	frameHeader   = 18 // at most
	blockHeader   = 3
	frameChecksum = 4
)

// Read implements io.Reader.
func (f *frames) Read(b []byte) (int, error) {
	for f.left == 0 {
		if err := f.header(); err != nil {
			return 0, err
		}
	}
	n, err := f.in.Read(b[:min(int64(len(b)), f.left)])
	f.left -= int64(n)
	return n, err
}

// header sets what follows the next header. The decoder returns the error of a damaged header, so all bytes after it are passed on.
func (f *frames) header() error {
	if f.inFrame {
		f.block()
		return nil
	}
	head, err := f.in.Peek(frameHeader)
	if len(head) == 0 {
		return err
	}
	var h zstd.Header
	switch err := h.Decode(head); {
	case err != nil:
		f.left = math.MaxInt64
		return nil
	case h.Skippable:
		f.left = int64(h.HeaderSize) + int64(h.SkippableSize)
		return nil
	}
	f.left, f.inFrame, f.checksum = int64(h.HeaderSize), true, h.HasCheckSum
	if window := windowIn(&h); window > f.most {
		f.most = window
		return f.grow(window)
	}
	return nil
}

// block reads the header of a block.
func (f *frames) block() {
	head, err := f.in.Peek(blockHeader)
	if err != nil {
		f.left = math.MaxInt64
		return
	}
	bits := int64(head[0]) | int64(head[1])<<8 | int64(head[2])<<16
	last, kind, size := bits&1 == 1, bits>>1&3, bits>>3
	if kind == 1 { // one byte is repeated
		size = 1
	}
	f.left = blockHeader + size
	if last {
		f.inFrame = false
		if f.checksum {
			f.left += frameChecksum
		}
	}
}
