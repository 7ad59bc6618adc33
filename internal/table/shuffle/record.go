package shuffle

import (
	"bytes"
	"cmp"
	"encoding/binary"
)

// A record has the same bytes in an arena and in a run:
//
//	0..7    seq             big endian
//	8..9    length of row   big endian
//	10..13  length of payload
//	14..    row, payload
type record struct {
	seq     uint64
	row     []byte
	payload []byte
}

const headerLen = 14

// maxPayload is the longest payload. Its length fits four bytes, and an int on every platform.
const maxPayload = 1<<31 - 1 - headerLen - MaxRow

func putRecord(b, row []byte, seq uint64, payload []byte) {
	binary.BigEndian.PutUint64(b, seq)
	binary.BigEndian.PutUint16(b[8:], uint16(len(row)))
	binary.BigEndian.PutUint32(b[10:], uint32(len(payload)))
	copy(b[headerLen:], row)
	copy(b[headerLen+len(row):], payload)
}

// recordLen returns the length of the record at the beginning of b. b has at least a header.
func recordLen(b []byte) int {
	_ = b[headerLen-1]
	return headerLen + int(binary.BigEndian.Uint16(b[8:])) + int(binary.BigEndian.Uint32(b[10:]))
}

// parse sets r to the record at the beginning of b. b must have the whole record.
func (r *record) parse(b []byte) {
	_ = b[headerLen-1]
	row := headerLen + int(binary.BigEndian.Uint16(b[8:]))
	end := row + int(binary.BigEndian.Uint32(b[10:]))
	r.seq = binary.BigEndian.Uint64(b)
	r.row = b[headerLen:row:row]
	r.payload = b[row:end:end]
}

// rowOf returns the row of the record at the beginning of b.
func rowOf(b []byte) []byte {
	_ = b[headerLen-1]
	return b[headerLen : headerLen+int(binary.BigEndian.Uint16(b[8:]))]
}

// compare orders records by row, then by number, then by payload.
func (r *record) compare(o *record) int {
	if c := bytes.Compare(r.row, o.row); c != 0 {
		return c
	}
	if c := cmp.Compare(r.seq, o.seq); c != 0 {
		return c
	}
	return bytes.Compare(r.payload, o.payload)
}

// prefix returns the first eight bytes of row as a number, padded with zeros. Rows
// in order have prefixes in order. Rows with equal prefixes must be compared.
func prefix(row []byte) uint64 {
	if len(row) >= 8 {
		return binary.BigEndian.Uint64(row)
	}
	var b [8]byte
	copy(b[:], row)
	return binary.BigEndian.Uint64(b[:])
}
