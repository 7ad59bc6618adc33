package trailfile

import (
	"bytes"
	"hash/maphash"
)

// A dictionary numbers distinct strings in the order of their first occurrence.
// It is a hash table with open addressing; a slot is the upper half of the hash and the
// number plus one. Each process has its own hash seed, so nobody can construct input that
// collides. The seed has no influence on the numbers.
type dictionary struct {
	slots   []uint64 // a power of two; at most two thirds of them are used
	entries *Bytes   // the strings, by number
}

var seed = maphash.MakeSeed()

const smallestTable = 1 << 6

// number returns the number of s, and whether s is new. If s is new, the caller must append
// it to the entries.
func (d *dictionary) number(s []byte) (n int32, fresh bool) {
	if have := d.entries.len(); 3*have >= 2*len(d.slots) {
		d.rebuild(max(smallestTable, 2*have+1))
	}
	h := maphash.Bytes(seed, s)
	mask := uint64(len(d.slots) - 1)
	for at := h & mask; ; at = (at + 1) & mask {
		slot := d.slots[at]
		if slot == 0 {
			n = int32(d.entries.len())
			d.slots[at] = h&^0xffffffff | uint64(n+1)
			return n, true
		}
		if (slot^h)>>32 == 0 {
			if n = int32(uint32(slot)) - 1; bytes.Equal(d.entries.At(int(n)), s) {
				return n, false
			}
		}
	}
}

// rebuild makes a table of at least n slots for the current entries.
func (d *dictionary) rebuild(n int) {
	size := smallestTable
	for size < n {
		size *= 2
	}
	d.slots = make([]uint64, size)
	mask := uint64(size - 1)
	for i := range d.entries.len() {
		h := maphash.Bytes(seed, d.entries.At(i))
		at := h & mask
		for d.slots[at] != 0 {
			at = (at + 1) & mask
		}
		d.slots[at] = h&^0xffffffff | uint64(i+1)
	}
}

// reset removes all entries.
func (d *dictionary) reset() { clear(d.slots) }
