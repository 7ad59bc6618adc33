package roll

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
)

// blockInfo is a block's entry of the index.
type blockInfo struct {
	off    int64
	stored int // bytes of the frame, without its CRC
	raw    int
	users  int64
	first  []byte
}

func (b *blockInfo) end() int64 { return b.off + int64(b.stored) + crcLen }

// An indexBuilder collects the entries of the index in the form in which they are written. An index can
// have millions of entries. Therefore they are in chunks, which are not copied when more entries come.
type indexBuilder struct {
	blocks int
	first  []byte // of the first block
	before []byte // first user of the last block
	chunks [][]byte
	entry  []byte
}

// indexChunk is the size of a chunk in bytes. An entry that is larger has a chunk of its own.
const indexChunk = 16 << 10

// add adds the entry of the next block. It keeps no reference to b.
func (x *indexBuilder) add(b *blockInfo) {
	n := common(x.before, b.first)
	e := binary.AppendUvarint(x.entry[:0], uint64(b.stored))
	e = binary.AppendUvarint(e, uint64(b.raw))
	e = binary.AppendUvarint(e, uint64(b.users))
	e = binary.AppendUvarint(e, uint64(n))
	e = binary.AppendUvarint(e, uint64(len(b.first)-n))
	x.entry = append(e, b.first[n:]...)
	if x.blocks == 0 {
		x.first = bytes.Clone(b.first)
	}
	x.before = append(x.before[:0], b.first...)
	x.blocks++
	x.store(x.entry)
}

// store copies an entry to the last chunk, or to a new chunk.
func (x *indexBuilder) store(e []byte) {
	last := len(x.chunks) - 1
	if last < 0 || cap(x.chunks[last])-len(x.chunks[last]) < len(e) {
		x.chunks = append(x.chunks, make([]byte, 0, max(indexChunk, len(e))))
		last++
	}
	x.chunks[last] = append(x.chunks[last], e...)
}

// write writes the index by calls of write, and returns its length and checksum. last is the last user of the
// file.
func (x *indexBuilder) write(last []byte, write func([]byte) error) (size int, sum uint32, err error) {
	head := binary.AppendUvarint(nil, uint64(x.blocks))
	tail := append(binary.AppendUvarint(nil, uint64(len(last))), last...)
	for _, part := range slices.Concat([][]byte{head}, x.chunks, [][]byte{tail}) {
		if err := write(part); err != nil {
			return 0, 0, err
		}
		size, sum = size+len(part), crc32.Update(sum, castagnoli, part)
	}
	return size, sum, nil
}

// parseIndex reads an index that an indexBuilder wrote. It keeps no reference to b.
func parseIndex(b []byte) (blocks []blockInfo, last []byte, err error) {
	s := stream(b)
	var before []byte
	var off int64
	for n := s.number(uint64(len(b))); n > 0; n-- {
		info := blockInfo{off: off, stored: int(s.number(maxRaw)), raw: int(s.number(maxRaw)), users: int64(s.number(maxRaw))}
		shared := int(s.number(uint64(len(before))))
		rest := s.bytes(s.number(MaxUser))
		if s == nil || !follows(before, shared, rest) || info.users == 0 {
			return nil, nil, fmt.Errorf("%w: block %d of the index", ErrCorrupt, len(blocks))
		}
		info.first = append(append(make([]byte, 0, shared+len(rest)), before[:shared]...), rest...)
		blocks = append(blocks, info)
		before, off = info.first, info.end()
	}
	last = append([]byte(nil), s.bytes(s.number(MaxUser))...)
	if s == nil || len(s) > 0 || (len(last) > 0) != (len(blocks) > 0) {
		return nil, nil, fmt.Errorf("%w: index of %d bytes", ErrCorrupt, len(b))
	}
	return blocks, last, nil
}
