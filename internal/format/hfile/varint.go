package hfile

import (
	"math"
	"math/bits"
)

// beyond is the position that a read returns if it runs past the end or finds an invalid
// number. beyond fails every later comparison with a length, so a series of reads needs only
// one check.
const beyond = math.MaxInt32

func trailingZeroBytes(x uint64) int { return bits.TrailingZeros64(x) >> 3 }

// appendVint appends Hadoop's variable integer. -112..127 have one byte. Other numbers have a
// first byte with the sign and the number of bytes, followed by the magnitude.
func appendVint(dst []byte, v int64) []byte {
	if v >= -112 && v <= 127 {
		return append(dst, byte(v))
	}
	base, u := -112, uint64(v)
	if v < 0 {
		base, u = -120, ^u
	}
	n := (bits.Len64(u) + 7) / 8
	dst = append(dst, byte(base-n))
	for i := n - 1; i >= 0; i-- {
		dst = append(dst, byte(u>>(8*i)))
	}
	return dst
}

// vintLen returns the number of bytes that appendVint writes for v.
func vintLen(v int64) int {
	if v >= -112 && v <= 127 {
		return 1
	}
	if v < 0 {
		v = ^v
	}
	return 1 + (bits.Len64(uint64(v))+7)/8
}

// vint reads a vint at b[p:] and returns the position after it, or beyond.
func vint(b []byte, p int) (int64, int) {
	if uint(p) >= uint(len(b)) {
		return 0, beyond
	}
	f := int(int8(b[p]))
	p++
	if f >= -112 {
		return int64(f), p
	}
	n := -112 - f
	if f < -120 {
		n = -120 - f
	}
	if n > len(b)-p {
		return 0, beyond
	}
	var u uint64
	for _, c := range b[p : p+n] {
		u = u<<8 | uint64(c)
	}
	if f < -120 {
		u = ^u
	}
	return int64(u), p + n
}

// ci reads a protobuf varint of at most 31 bits at b[p:] and returns the
// position after it, or beyond. Nearly all have one byte.
func ci(b []byte, p int) (int, int) {
	if uint(p) < uint(len(b)) && b[p] < 0x80 {
		return int(b[p]), p + 1
	}
	return longCI(b, p)
}

func longCI(b []byte, p int) (int, int) {
	v := 0
	for shift := 0; shift < 35; shift += 7 {
		if uint(p) >= uint(len(b)) {
			return 0, beyond
		}
		c := b[p]
		p++
		v |= int(c&0x7f) << shift
		if c < 0x80 {
			if v > math.MaxInt32 {
				return 0, beyond
			}
			return v, p
		}
	}
	return 0, beyond
}

func appendCI(dst []byte, v int) []byte {
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}
