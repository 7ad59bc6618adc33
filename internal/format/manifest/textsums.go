package manifest

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// TextSums are checksums of the texts of records, each in 4 bytes. In JSON they are base64.
type TextSums []byte

// TextSum returns the checksum of the text of a record, without the end of its line.
func TextSum(text []byte) uint32 { return uint32(xxhash.Sum64(text)) }

// Append appends a checksum.
func (t TextSums) Append(sum uint32) TextSums { return binary.BigEndian.AppendUint32(t, sum) }

// At returns the checksum with an index. ok is false if there is none.
func (t TextSums) At(i int) (sum uint32, ok bool) {
	if len(t) < 4*(i+1) {
		return 0, false
	}
	return binary.BigEndian.Uint32(t[4*i:]), true
}
