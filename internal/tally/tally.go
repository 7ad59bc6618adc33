// Package tally counts cells and their bytes, and computes a digest that does not depend
// on the order or grouping of the cells. Each worker keeps a tally, and the tallies are
// added up. The tally of the cells that were written is compared with the tally of the
// cells that are read back.
//
// A cell's hash is mixed from the 64-bit XXH3 of its parts, which are mostly
// short: for short inputs XXH3 is twice as fast as XXH64. Hashes are added
// modulo 2^64 and not xored, because two equal cells would cancel out under xor.
package tally

import (
	"bytes"
	"fmt"
	"math/bits"
	"strconv"

	"github.com/zeebo/xxh3"

	"usertrail/internal/cell"
)

// A Tally is a sum over cells. The zero Tally has no cells.
type Tally struct {
	Cells  int64  `json:"cells"`
	Bytes  int64  `json:"bytes"` // of rows, families, qualifiers and values, plus 9 per cell for time and type
	Digest Digest `json:"digest"`
}

// A Digest is a sum of hashes, written as 16 hex digits.
type Digest uint64

// Add adds o's cells to t.
func (t *Tally) Add(o Tally) {
	t.Cells += o.Cells
	t.Bytes += o.Bytes
	t.Digest += o.Digest
}

// Since returns the difference of t and an earlier value of t.
func (t Tally) Since(before Tally) Tally {
	return Tally{Cells: t.Cells - before.Cells, Bytes: t.Bytes - before.Bytes, Digest: t.Digest - before.Digest}
}

func (t Tally) String() string {
	return fmt.Sprintf("%d cells, %d bytes, digest %s", t.Cells, t.Bytes, t.Digest)
}

func (d Digest) String() string { return fmt.Sprintf("%016x", uint64(d)) }

// MarshalText writes 16 hex digits.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads 16 hex digits.
func (d *Digest) UnmarshalText(b []byte) error {
	v, err := strconv.ParseUint(string(b), 16, 64)
	if err != nil || len(b) != 16 {
		return fmt.Errorf("tally: digest %q is not 16 hex digits", b)
	}
	*d = Digest(v)
	return nil
}

// A Counter tallies cells one after the other. It remembers the hash of the last
// row and family, so it is fastest if cells are added row by row. Every order gives the
// same sum.
type Counter struct {
	Tally
	row, family []byte
	rowHash     uint64 // of row and family
	started     bool
}

// Odd constants that distinguish the parts of a cell: the same bytes have different hashes as
// qualifier and as value.
const (
	mixFamily = 0xd6e8feb86659fd93
	mixTime   = 0x9e3779b97f4a7c15
	mixValue  = 0xc2b2ae3d27d4eb4f
	mixLast   = 0x165667b19e3779f9
)

// Add adds one cell. It keeps no reference to c's bytes.
func (t *Counter) Add(c *cell.Cell) {
	if !t.started || !bytes.Equal(t.row, c.Row) || !bytes.Equal(t.family, c.Family) {
		t.started = true
		t.row = append(t.row[:0], c.Row...)
		t.family = append(t.family[:0], c.Family...)
		t.rowHash = mix(xxh3.Hash(c.Row), mixFamily^xxh3.Hash(c.Family))
	}
	h := mix(t.rowHash^xxh3.Hash(c.Qualifier), mixTime^bits.RotateLeft64(uint64(c.Time), 8)^uint64(c.Type))
	h = mix(h^xxh3.Hash(c.Value), mixValue)
	t.Digest += Digest(mix(h, mixLast))
	t.Cells++
	t.Bytes += int64(len(c.Row) + len(c.Family) + len(c.Qualifier) + len(c.Value) + 9)
}

// mix folds the 128-bit product of a and b, as wyhash does.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
