package manifest

import (
	"encoding/binary"
	"slices"
)

// Offsets are byte offsets in a delivered file, in order. They are encoded as varints of the
// differences between neighbours, and in JSON as base64.
type Offsets []byte

// OffsetsOf encodes offsets.
func OffsetsOf(list []int64) Offsets {
	var out Offsets
	last := int64(0)
	for _, o := range slices.Sorted(slices.Values(list)) {
		out = binary.AppendUvarint(out, uint64(o-last))
		last = o
	}
	return out
}

// List returns the offsets. It returns fewer if o is damaged.
func (o Offsets) List() []int64 {
	var out []int64
	for last := int64(0); len(o) > 0; {
		step, n := binary.Uvarint(o)
		if n <= 0 {
			return out
		}
		o, last = o[n:], last+int64(step)
		out = append(out, last)
	}
	return out
}

// BadOffsets returns the offsets of the records of in that the load quarantined, and reports
// whether all are known. Ledgers of older versions have no offsets. A ledger has no offsets for
// a file with more than MaxBadOffsets bad records.
func (in *Input) BadOffsets() ([]int64, bool) {
	list := in.BadAt.List()
	return list, int64(len(list)) == in.Quarantined
}

// MaxBadOffsets is the maximum number of bad records of a file whose offsets a ledger holds.
const MaxBadOffsets = 1 << 16
