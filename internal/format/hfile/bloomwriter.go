package hfile

import (
	"encoding/binary"
	"fmt"
)

// A bloomWriter collects keys in chunks. Full chunks are written between the data blocks.
type bloomWriter struct {
	out     *output
	typ     BloomType
	prefix  int // bytes of a row, for ROWPREFIX_FIXED_LENGTH
	hashes  int
	maxKeys int64 // of a chunk

	open   bloomBits
	closed []bloomBits // not yet written
	spare  [][]byte    // bit arrays to reuse
	index  entries

	keys   int64
	bytes  int64 // of all chunks, folded
	room   int64 // the keys that they had room for
	last   []byte
	rowcol []byte // scratch
}

// bloomBits is one chunk.
type bloomBits struct {
	first []byte // its first key
	bits  []byte
	keys  int64
}

func newBloomWriter(out *output, opt Options) *bloomWriter {
	b := &bloomWriter{out: out, typ: opt.Bloom, prefix: opt.BloomPrefix}
	b.hashes, b.maxKeys = bloomSize(bloomChunkBytes, bloomRate(opt.Bloom))
	return b
}

// add adds f's key, unless the key equals the key of the previous cell.
func (b *bloomWriter) add(f *follower) {
	switch b.typ {
	case RowBloom:
		if !f.sameRow {
			b.addKey(f.Row)
		}
	case PrefixBloom:
		if !f.sameRow {
			b.addPrefix(f)
		}
	case RowColBloom:
		if !f.sameColumn {
			b.rowcol = appendRowCol(b.rowcol[:0], f.Row, f.Qualifier)
			b.addKey(b.rowcol)
		}
	}
}

func (b *bloomWriter) addPrefix(f *follower) {
	n := min(len(f.Row), b.prefix)
	if b.keys == 0 || len(b.last) != n || f.commonRow < n {
		b.addKey(f.Row[:n])
	}
}

func (b *bloomWriter) addKey(key []byte) {
	if b.open.keys >= b.maxKeys {
		b.close()
	}
	c := &b.open
	if c.keys == 0 {
		c.first = append([]byte(nil), key...)
		c.bits = b.newBits()
	}
	h1, h2 := bloomHashes(key)
	for i := range b.hashes {
		bit := bloomBit(h1, h2, i, bloomChunkBytes*8)
		c.bits[bit/8] |= 1 << (bit % 8)
	}
	c.keys++
	b.keys++
	b.last = append(b.last[:0], key...)
}

func (b *bloomWriter) newBits() []byte {
	if n := len(b.spare); n > 0 {
		bits := b.spare[n-1]
		b.spare = b.spare[:n-1]
		clear(bits)
		return bits
	}
	return make([]byte, bloomChunkBytes)
}

func (b *bloomWriter) close() {
	b.closed = append(b.closed, b.open)
	b.open = bloomBits{}
}

// writeClosed writes the chunks that are full.
func (b *bloomWriter) writeClosed() error {
	for _, c := range b.closed {
		if err := b.writeChunk(c); err != nil {
			return err
		}
	}
	b.closed = b.closed[:0]
	return nil
}

func (b *bloomWriter) writeChunk(c bloomBits) error {
	bits, room := fold(c.bits, c.keys, b.maxKeys)
	at := b.out.offset()
	size, err := b.out.block(BloomChunk, bits)
	if err != nil {
		return err
	}
	b.index.add(at, size, c.first)
	b.bytes += int64(len(bits))
	b.room += room
	b.spare = append(b.spare, c.bits)
	return nil
}

// fold halves a chunk as long as the half has room for its keys. Bit n of the chunk becomes
// bit n modulo the size of the half.
func fold(bits []byte, keys, room int64) ([]byte, int64) {
	for len(bits)%2 == 0 && room > 2*keys {
		half := len(bits) / 2
		for i, b := range bits[half:] {
			bits[i] |= b
		}
		bits = bits[:half]
		room /= 2
	}
	return bits, room
}

// finish writes the remaining chunks.
func (b *bloomWriter) finish() error {
	if b.open.keys > 0 {
		b.close()
	}
	return b.writeClosed()
}

// describe adds the entries to file info that a reader needs to use the filter.
func (b *bloomWriter) describe(info map[string][]byte) {
	if b.keys == 0 {
		return
	}
	info[infoBloomType] = []byte(b.typ)
	info[infoLastBloomKey] = b.last
	if b.typ == PrefixBloom {
		info[infoBloomParam] = be32(int64(b.prefix))
	}
}

// writeMeta writes the places of the chunks. If there are no keys, it writes no filter.
func (b *bloomWriter) writeMeta() error {
	if b.keys == 0 {
		return nil
	}
	comparator := ""
	if b.typ == RowColBloom {
		comparator = bloomComparatorClass
	}
	m := binary.BigEndian.AppendUint32(nil, bloomVersion)
	m = binary.BigEndian.AppendUint64(m, uint64(b.bytes))
	m = binary.BigEndian.AppendUint32(m, uint32(b.hashes))
	m = binary.BigEndian.AppendUint32(m, bloomMurmur)
	m = binary.BigEndian.AppendUint64(m, uint64(b.keys))
	m = binary.BigEndian.AppendUint64(m, uint64(b.room))
	m = binary.BigEndian.AppendUint32(m, uint32(b.index.len()))
	m = append(appendVint(m, int64(len(comparator))), comparator...)
	if _, err := b.out.block(BloomMeta, b.index.appendRoot(m)); err != nil {
		return fmt.Errorf("hfile: Bloom filter: %w", err)
	}
	return nil
}
