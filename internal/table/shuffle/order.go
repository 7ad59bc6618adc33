package shuffle

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// An entry represents a record while it is sorted. It has 16 bytes, because wider entries
// cost more to move than they save in comparing (a second word of the row made
// a whole load a fifth slower).
type entry struct {
	key uint64 // prefix of the row
	ref uint64 // part << posBits | position in the arena
}

const entryBytes = 16

// sortByKey sorts entries by key. Equal keys keep their order. tmp has room for as many entries.
func sortByKey(e, tmp []entry) {
	if !slices.IsSortedFunc(e, byKey) {
		sortKeys(e, tmp)
	}
}

// ties returns the number of entries at the beginning of e that have the same key.
func ties(e []entry) int {
	n := 1
	for n < len(e) && e[n].key == e[0].key {
		n++
	}
	return n
}

func byKey(a, b entry) int {
	if a.key < b.key {
		return -1
	}
	if a.key > b.key {
		return 1
	}
	return 0
}

// fewEntries is the number of entries up to which comparing is faster than counting 2048 digits.
const fewEntries = 96

// sortKeys is a radix sort by key, from the last byte to the first. Equal keys keep their order. A byte
// that is the same in all keys, such as a byte of a common prefix, costs nothing.
func sortKeys(e, tmp []entry) {
	if len(e) < fewEntries {
		insertKeys(e)
		return
	}
	counts := countDigits(e)
	from, to := e, tmp[:len(e)]
	for d := range counts {
		c := &counts[d]
		shift := 8 * d
		if c[uint8(e[0].key>>shift)] == len(e) {
			continue
		}
		at := 0
		for i, n := range c {
			c[i] = at
			at += n
		}
		for _, x := range from {
			digit := uint8(x.key >> shift)
			to[c[digit]] = x
			c[digit]++
		}
		from, to = to, from
	}
	if &from[0] != &e[0] {
		copy(e, from)
	}
}

// countDigits counts how often each value occurs at each byte of the keys, the
// last byte first.
func countDigits(e []entry) *[8][256]int {
	var counts [8][256]int
	for _, x := range e {
		k := x.key
		counts[0][uint8(k)]++
		counts[1][uint8(k>>8)]++
		counts[2][uint8(k>>16)]++
		counts[3][uint8(k>>24)]++
		counts[4][uint8(k>>32)]++
		counts[5][uint8(k>>40)]++
		counts[6][uint8(k>>48)]++
		counts[7][uint8(k>>56)]++
	}
	return &counts
}

// insertKeys sorts by key with an insertion sort.
func insertKeys(e []entry) {
	for i := 1; i < len(e); i++ {
		x := e[i]
		j := i
		for ; j > 0 && e[j-1].key > x.key; j-- {
			e[j] = e[j-1]
		}
		e[j] = x
	}
}

// fewTies is the number of records up to which comparing them is faster than looking for the
// first byte in which they differ.
const fewTies = 8

// sortTies sorts entries of one key by their records. tmp has room for as many entries. The caller sorts
// ties just before it uses the records: records are scattered over the memory, and then they are in the cache.
func sortTies(e, tmp []entry, a *arena) {
	if len(e) <= fewTies {
		sortByRecord(e, a)
		return
	}
	key := e[0].key
	sortAhead(e, tmp, a)
	for i := range e {
		e[i].key = key
	}
}

// sortAhead sorts entries by eight bytes of their rows, from the first byte in which the rows differ. It
// sorts entries with the same eight bytes again in this way. It changes the keys.
func sortAhead(e, tmp []entry, a *arena) {
	same, shortest, longest := compareRows(e, a)
	switch {
	case same == longest:
		sortBySeq(e, tmp, a)
		return
	case same == shortest || len(e) <= fewTies:
		sortByRecord(e, a) // the end of a row is not seen in eight bytes filled up
		return
	}
	for i := range e {
		b := a.at(e[i].ref)
		e[i].key = prefix(rowOf(b)[same:])
	}
	sortByKey(e, tmp)
	for len(e) > 0 {
		n := ties(e)
		if n > 1 {
			sortAhead(e[:n], tmp[:n], a)
		}
		e, tmp = e[n:], tmp[n:]
	}
}

// compareRows returns the length of the common prefix of all rows of e, and the lengths of the shortest and
// the longest row.
func compareRows(e []entry, a *arena) (same, shortest, longest int) {
	first := rowOf(a.at(e[0].ref))
	same, shortest, longest = len(first), len(first), len(first)
	for _, x := range e[1:] {
		row := rowOf(a.at(x.ref))
		shortest, longest = min(shortest, len(row)), max(longest, len(row))
		if len(row) < same || !bytes.Equal(row[:same], first[:same]) {
			same = common(row, first[:same])
		}
	}
	return same, shortest, longest
}

// common returns the length of the common prefix of a and b.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// sortBySeq sorts entries of one row.
func sortBySeq(e, tmp []entry, a *arena) {
	for i := range e {
		e[i].key = binary.BigEndian.Uint64(a.at(e[i].ref))
	}
	sortByKey(e, tmp)
	for len(e) > 0 {
		n := ties(e)
		sortByRecord(e[:n], a)
		e = e[n:]
	}
}

// sortByRecord sorts entries by comparing their records.
func sortByRecord(e []entry, a *arena) {
	order := func(x, y entry) int {
		var r, o record
		r.parse(a.at(x.ref))
		o.parse(a.at(y.ref))
		return r.compare(&o)
	}
	if !slices.IsSortedFunc(e, order) {
		slices.SortFunc(e, order)
	}
}
