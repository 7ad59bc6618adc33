package hfile

import (
	"fmt"
	"io"
)

// output turns payloads into blocks and writes them one after the other.
type output struct {
	w        io.Writer
	compress compressor
	buf      []byte // not yet written
	written  int64
	last     map[BlockType]int64 // offset of the last block of each kind

	// uncompressed is the trailer's sum over headers and payloads.
	uncompressed int64
}

func newOutput(w io.Writer, compress compressor) output {
	return output{w: w, compress: compress, last: map[BlockType]int64{}}
}

// offset returns the offset at which the next block begins.
func (o *output) offset() int64 { return o.written + int64(len(o.buf)) }

// block writes a block and returns its size.
func (o *output) block(kind BlockType, payload []byte) (int, error) {
	at, start := o.offset(), len(o.buf)
	buf, err := o.compress(append(o.buf, make([]byte, headerLen)...), payload)
	if err != nil {
		return 0, fmt.Errorf("hfile: compress %s at offset %d: %w", kind, at, err)
	}
	h := header{
		kind:         kind,
		uncompressed: len(payload),
		prev:         o.previous(kind, at),
		checksum:     checksumCRC32C,
		perChecksum:  bytesPerChecksum,
		stored:       len(buf) - start,
	}
	h.after = h.stored - headerLen + checksumBytes(h.stored, h.perChecksum)
	putHeader(buf[start:], &h)
	o.buf = appendChecksums(buf, buf[start:], h.perChecksum)
	if kind != RootIndex && kind != IntermediateIndex {
		o.uncompressed += headerLen + int64(len(payload))
	}
	return h.size(), o.flush(writeSize)
}

// previous returns the offset of the last block of the kind, and stores at as the next
// result.
func (o *output) previous(kind BlockType, at int64) int64 {
	if kind == EncodedBlock {
		kind = DataBlock
	}
	prev, ok := o.last[kind]
	if !ok {
		prev = -1
	}
	o.last[kind] = at
	return prev
}

// raw writes bytes that are not a block.
func (o *output) raw(b []byte) error {
	o.buf = append(o.buf, b...)
	return o.flush(writeSize)
}

// flush writes the collected bytes if there are at least n.
func (o *output) flush(n int) error {
	if len(o.buf) < n {
		return nil
	}
	if _, err := o.w.Write(o.buf); err != nil {
		return fmt.Errorf("hfile: write at offset %d: %w", o.written, err)
	}
	o.written += int64(len(o.buf))
	o.buf = o.buf[:0]
	return nil
}
