package hfile

import (
	"encoding/binary"
	"errors"
	"fmt"

	"usertrail/internal/cell"
)

// A node is a block of the index in the format of leaves, with the current entry of a search
// or an iteration.
type node struct {
	table []byte // starts of the entries, one more than there are
	data  []byte // the entries
	n     int
	at    int   // the current entry
	from  int64 // offset of the loaded block, -1 for none
	buf   []byte
}

// place returns the offset and the size of the child of entry i.
func (x *node) place(i int) (offset int64, size int) {
	e := x.data[x.start(i):]
	return int64(binary.BigEndian.Uint64(e)), int(int32(binary.BigEndian.Uint32(e[8:])))
}

func (x *node) start(i int) int { return int(binary.BigEndian.Uint32(x.table[4*i:])) }

func (x *node) key(i int) []byte { return x.data[x.start(i)+entryLen : x.start(i+1)] }

// before returns the last entry whose key does not come after t, or -1.
func (x *node) before(t *target) int {
	lo, hi := 0, x.n
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if t.reachedBy(x.key(mid)) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}

// parse makes x the node whose block has payload b. x refers to b. When parse returns, it has
// checked all starts and keys.
func (x *node) parse(b []byte) error {
	if len(b) < 8 {
		return fmt.Errorf("index of %d bytes", len(b))
	}
	n := int(binary.BigEndian.Uint32(b))
	if n < 1 || n > (len(b)-8)/(4+entryLen) {
		return fmt.Errorf("index of %d entries in %d bytes", n, len(b))
	}
	x.n, x.table, x.data = n, b[4:8+4*n], b[8+4*n:]
	if x.start(0) != 0 || x.start(n) != len(x.data) {
		return fmt.Errorf("index entries from %d to %d in %d bytes", x.start(0), x.start(n), len(x.data))
	}
	for i := range n {
		if err := x.checkEntry(i); err != nil {
			return fmt.Errorf("index entry %d: %w", i, err)
		}
	}
	return nil
}

func (x *node) checkEntry(i int) error {
	from, to := x.start(i), x.start(i+1)
	if to > len(x.data) || from+entryLen > to {
		return fmt.Errorf("from %d to %d", from, to)
	}
	return checkKey(x.data[from+entryLen : to])
}

// checkKey returns an error if a key does not have the form that keyRow and targets need.
func checkKey(key []byte) error {
	var c cell.Cell
	return parseKey(&c, key)
}

// parseRoot makes x the root. Its payload b is in the format of roots and has n entries.
// parseRoot returns the bytes after the entries, and keeps no reference to b.
func (x *node) parseRoot(b []byte, n int) ([]byte, error) {
	if n < 0 || n > len(b)/(entryLen+1) {
		return nil, fmt.Errorf("root index of %d entries in %d bytes", n, len(b))
	}
	var all entries
	for i := range n {
		offset, size, key, rest, err := rootEntry(b)
		if err != nil {
			return nil, fmt.Errorf("root index entry %d: %w", i, err)
		}
		if err := checkKey(key); err != nil {
			return nil, fmt.Errorf("root index entry %d: %w", i, err)
		}
		all.add(offset, size, key)
		b = rest
	}
	if n > 0 {
		return b, x.parse(all.appendNode(nil))
	}
	return b, nil
}

var errEntry = errors.New("it ends early")

// rootEntry reads one entry in the format of roots.
func rootEntry(b []byte) (offset int64, size int, key, rest []byte, err error) {
	if len(b) < entryLen {
		return 0, 0, nil, nil, errEntry
	}
	n, p := vint(b, entryLen)
	if p > len(b) || n < 0 || n > int64(len(b)-p) {
		return 0, 0, nil, nil, errEntry
	}
	end := p + int(n)
	offset = int64(binary.BigEndian.Uint64(b))
	size = int(int32(binary.BigEndian.Uint32(b[8:])))
	return offset, size, b[p:end], b[end:], nil
}
