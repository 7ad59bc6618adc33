package main

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"

	"usertrail/internal/cell"
)

// The made-up rows, the same as in scripts/cluster.d/java/Peer.java:
//
//	row        8 hex digits of a hash of i, so that rows spread over regions | - | i
//	qualifier  f0: to f9: | 0 or 1
//	value      80 bytes that do not compress
const (
	columns    = 20
	valueWords = 10
	firstTime  = 1_400_000_000_000
)

var (
	family     = []byte("d")
	prefixes   = [][]byte{[]byte("f2:"), []byte("f5:"), []byte("f7:")}
	qualifiers = func() (all [columns][]byte) {
		for j := range all {
			all[j] = fmt.Appendf(nil, "f%d:%d", j%10, j/10)
		}
		return all
	}()
)

// mix is SplitMix64's finalizer.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

const hexDigits = "0123456789abcdef"

func appendRow(dst []byte, i int) []byte {
	h := uint32(mix(uint64(i)) >> 32)
	for shift := 28; shift >= 0; shift -= 4 {
		dst = append(dst, hexDigits[h>>shift&15])
	}
	return strconv.AppendInt(append(dst, '-'), int64(i), 10)
}

func appendValue(dst []byte, i, column int) []byte {
	first := uint64(i*columns+column) * valueWords
	for k := range uint64(valueWords) {
		dst = binary.LittleEndian.AppendUint64(dst, mix(first+k))
	}
	return dst
}

// pick is the k-th random row of a seed.
func pick(seed, k, rows int) int {
	return int(mix(uint64(seed)<<32+uint64(k)) % uint64(rows))
}

// A digest is of cells in any order.
type digest struct {
	cells int64
	sum   uint64
}

func (d *digest) add(c *cell.Cell) {
	h := part(uint64(c.Time), c.Row)
	h = part(h, c.Qualifier)
	d.addHash(part(h, c.Value))
}

// addHash adds a cell by its hash.
func (d *digest) addHash(h uint64) {
	d.cells++
	d.sum += h ^ h>>32
}

const factor = 0x9E3779B97F4A7C15

func part(h uint64, b []byte) uint64 {
	h = (h ^ uint64(len(b))) * factor
	for ; len(b) >= 8; b = b[8:] {
		h = bits.RotateLeft64(h^binary.LittleEndian.Uint64(b), 29) * factor
	}
	for _, x := range b {
		h = (h ^ uint64(x)) * factor
	}
	return h
}
