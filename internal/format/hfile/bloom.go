package hfile

import (
	"encoding/binary"
	"math"
)

const (
	bloomChunkBytes = 128 << 10 // before folding
	bloomVersion    = 3
	bloomMurmur     = 1 // the hash type
)

// bloomError is the fraction of absent keys that a filter reports as present. HBase stores it
// as a float, and the sizes are computed from that float.
const bloomError float32 = 0.01

// murmur is HBase's MurmurHash: Murmur2, except that the last one to three bytes are
// sign-extended, as in Java.
func murmur(data []byte, seed uint32) uint32 {
	const m = 0x5bd1e995
	h := seed ^ uint32(len(data))
	for ; len(data) >= 4; data = data[4:] {
		k := binary.LittleEndian.Uint32(data) * m
		k ^= k >> 24
		h = h*m ^ k*m
	}
	signed := func(i int) uint32 { return uint32(int32(int8(data[i]))) }
	switch len(data) {
	case 3:
		h ^= signed(2)<<16 ^ signed(1)<<8 ^ signed(0)
		h *= m
	case 2:
		h ^= signed(1)<<8 ^ signed(0)
		h *= m
	case 1:
		h ^= signed(0)
		h *= m
	}
	h ^= h >> 13
	h *= m
	return h ^ h>>15
}

// bloomHashes returns the two hashes of a key from which all its bits are computed.
func bloomHashes(key []byte) (h1, h2 uint32) {
	h1 = murmur(key, 0)
	return h1, murmur(key, h1)
}

// bloomBit returns the number of the i-th bit of a key in a filter of some bits.
func bloomBit(h1, h2 uint32, i int, bits uint64) uint64 {
	x := int64(int32(h1 + uint32(i)*h2))
	if x < 0 {
		x = -x
	}
	return uint64(x) % bits
}

// bloomHas reports whether all bits of a key are set in a chunk.
func bloomHas(chunk, key []byte, hashes int) bool {
	h1, h2 := bloomHashes(key)
	bits := uint64(len(chunk)) * 8
	for i := range hashes {
		bit := bloomBit(h1, h2, i, bits)
		if chunk[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
	}
	return true
}

// bloomSize returns the number of hashes of a filter of some bytes with an error rate, and
// the number of keys that the filter has room for.
func bloomSize(bytes int, rate float32) (hashes int, keys int64) {
	bits := float64(bytes) * 8
	e := float64(rate)
	n := int64(bits * (math.Ln2 * math.Ln2 / -math.Log(e)))
	hashes = int(math.Ceil(math.Ln2 * float64(int64(bits)/n)))
	k := float64(hashes)
	return hashes, int64(-bits / k * math.Log(1-math.Exp(math.Log(e)/k)))
}

// bloomRate returns the error rate that a filter of a type is sized for. A get of a row and
// column queries a ROWCOL filter twice.
func bloomRate(t BloomType) float32 {
	if t == RowColBloom {
		return float32(1 - math.Sqrt(1-float64(bloomError)))
	}
	return bloomError
}

// appendRowCol appends the key of a row and qualifier in a ROWCOL filter.
func appendRowCol(dst, row, qualifier []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(row)))
	dst = append(append(dst, row...), 0)
	dst = append(dst, qualifier...)
	dst = binary.BigEndian.AppendUint64(dst, math.MaxInt64)
	return append(dst, byte(typeMaximum))
}
