package shuffle

import "slices"

// An entry stands for a record while it is sorted: 16 bytes, because wider ones
// cost more to move than they save in comparing (a second word of the row made
// a whole load a fifth slower).
type entry struct {
	key uint64 // prefix of the row
	ref uint64 // part << posBits | position in the arena
}

const entryBytes = 16

// sortEntries sorts the entries of one part, with room for as many in tmp.
func sortEntries(e, tmp []entry, a *arena) {
	if !slices.IsSortedFunc(e, byKey) {
		sortKeys(e, tmp)
	}
	for lo := 0; lo < len(e); {
		hi := lo + 1
		for hi < len(e) && e[hi].key == e[lo].key {
			hi++
		}
		if hi-lo > 1 {
			sortTies(e[lo:hi], a)
		}
		lo = hi
	}
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

// fewEntries is where comparing is quicker than counting 2048 digits.
const fewEntries = 96

// sortKeys sorts by key and leaves equal keys in the order they had: by radix
// from the last byte to the first. Bytes that are the same in all keys, such as
// a common beginning, cost nothing.
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

// countDigits counts how often each value stands at each byte of the keys, the
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

// insertKeys is an insertion sort by key.
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

// sortTies sorts entries of one key by their records. They are often in order
// already: a file brings the records of a user in order of time.
func sortTies(e []entry, a *arena) {
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
