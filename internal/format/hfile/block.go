package hfile

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

const (
	headerLen   = 33
	checksumLen = 4

	// bytesPerChecksum is HBase's default.
	bytesPerChecksum = 16 << 10
)

// Checksum types.
const (
	checksumNone   = 0
	checksumCRC32  = 1
	checksumCRC32C = 2
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A BlockType is the kind of a block. Its value is the magic that the block begins with.
type BlockType string

// The types of blocks.
const (
	DataBlock         BlockType = "DATABLK*"
	EncodedBlock      BlockType = "DATABLKE"
	LeafIndex         BlockType = "IDXLEAF2"
	IntermediateIndex BlockType = "IDXINTE2"
	RootIndex         BlockType = "IDXROOT2"
	MetaBlock         BlockType = "METABLKc"
	FileInfo          BlockType = "FILEINF2"
	BloomChunk        BlockType = "BLMFBLK2"
	BloomMeta         BlockType = "BLMFMET2"
	DeleteBloomMeta   BlockType = "DFBLMET2"
)

// data reports whether blocks of the type hold cells.
func (t BlockType) data() bool { return t == DataBlock || t == EncodedBlock }

// blockTypeOf returns the constant for a magic, so that reading a header allocates no string.
func blockTypeOf(magic []byte) (BlockType, bool) {
	switch string(magic) {
	case string(DataBlock):
		return DataBlock, true
	case string(EncodedBlock):
		return EncodedBlock, true
	case string(LeafIndex):
		return LeafIndex, true
	case string(IntermediateIndex):
		return IntermediateIndex, true
	case string(RootIndex):
		return RootIndex, true
	case string(MetaBlock):
		return MetaBlock, true
	case string(FileInfo):
		return FileInfo, true
	case string(BloomChunk):
		return BloomChunk, true
	case string(BloomMeta):
		return BloomMeta, true
	case string(DeleteBloomMeta):
		return DeleteBloomMeta, true
	}
	return "", false
}

// A header is the first 33 bytes of a block.
type header struct {
	kind         BlockType
	after        int   // bytes after the header, checksums included
	uncompressed int   // bytes of the payload before compression
	prev         int64 // offset of the previous block of the kind, or -1
	checksum     byte
	perChecksum  int
	stored       int // bytes of header and stored payload
}

// size is the number of bytes of the whole block.
func (h *header) size() int { return headerLen + h.after }

// putHeader writes h into the first bytes of b.
func putHeader(b []byte, h *header) {
	copy(b, h.kind)
	binary.BigEndian.PutUint32(b[8:], uint32(h.after))
	binary.BigEndian.PutUint32(b[12:], uint32(h.uncompressed))
	binary.BigEndian.PutUint64(b[16:], uint64(h.prev))
	b[24] = h.checksum
	binary.BigEndian.PutUint32(b[25:], uint32(h.perChecksum))
	binary.BigEndian.PutUint32(b[29:], uint32(h.stored))
}

// parseHeader reads the header at the beginning of b and checks that its
// lengths agree with each other.
func parseHeader(b []byte) (header, error) {
	if len(b) < headerLen {
		return header{}, fmt.Errorf("%d bytes where a block's header should be", len(b))
	}
	kind, ok := blockTypeOf(b[:8])
	if !ok {
		return header{}, fmt.Errorf("no block begins with %q", b[:8])
	}
	after, uncompressed := binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:])
	perChecksum, stored := binary.BigEndian.Uint32(b[25:]), binary.BigEndian.Uint32(b[29:])
	if after > math.MaxInt32-headerLen || uncompressed > math.MaxInt32 || stored > math.MaxInt32 ||
		stored < headerLen || perChecksum < headerLen || perChecksum > math.MaxInt32 {
		return header{}, fmt.Errorf("a %s with %d bytes, %d uncompressed, %d before checksums, one for %d",
			kind, after, uncompressed, stored, perChecksum)
	}
	h := header{
		kind:         kind,
		after:        int(after),
		uncompressed: int(uncompressed),
		prev:         int64(binary.BigEndian.Uint64(b[16:])),
		checksum:     b[24],
		perChecksum:  int(perChecksum),
		stored:       int(stored),
	}
	if sums := checksumBytes(h.stored, h.perChecksum); h.size() != h.stored+sums {
		return header{}, fmt.Errorf("a %s of %d bytes is not %d and %d of checksums", kind, h.size(), h.stored, sums)
	}
	return h, nil
}

// checksumBytes returns the number of bytes of the checksums of n bytes.
func checksumBytes(n, per int) int { return (n + per - 1) / per * checksumLen }

// appendChecksums appends the CRC-32C of each chunk of block to dst. A chunk is per bytes
// long.
func appendChecksums(dst, block []byte, per int) []byte {
	for len(block) > 0 {
		n := min(per, len(block))
		dst = binary.BigEndian.AppendUint32(dst, crc32.Checksum(block[:n], castagnoli))
		block = block[n:]
	}
	return dst
}

// verifyChecksums checks the whole block b against its checksums.
func verifyChecksums(b []byte, h *header) error {
	var table *crc32.Table
	switch h.checksum {
	case checksumNone:
		return nil
	case checksumCRC32:
		table = crc32.IEEETable
	case checksumCRC32C:
		table = castagnoli
	default:
		return fmt.Errorf("checksum type %d", h.checksum)
	}
	sums := b[h.stored:h.size()]
	for from := 0; from < h.stored; from += h.perChecksum {
		to := min(from+h.perChecksum, h.stored)
		if got, want := crc32.Checksum(b[from:to], table), binary.BigEndian.Uint32(sums); got != want {
			return fmt.Errorf("checksum of bytes %d to %d of the %s is %08x, want %08x", from, to, h.kind, got, want)
		}
		sums = sums[checksumLen:]
	}
	return nil
}
