package hfile

import "encoding/binary"

// idLen is the length of an encoding's id.
const idLen = 2

// rowIndexEncoder is encoding ROW_INDEX_V1: cells as without encoding, followed by the offset
// of each row.
type rowIndexEncoder struct {
	plainEncoder
	rows []uint32 // offsets after the id
}

func (e *rowIndexEncoder) kind() BlockType { return EncodedBlock }
func (e *rowIndexEncoder) filled() int     { return len(e.buf) - idLen + 4*len(e.rows) }

func (e *rowIndexEncoder) reset() {
	e.buf = binary.BigEndian.AppendUint16(e.buf[:0], idRowIndex)
	e.rows = e.rows[:0]
}

func (e *rowIndexEncoder) add(f *follower) {
	if f.first || !f.sameRow {
		e.rows = append(e.rows, uint32(len(e.buf)-idLen))
	}
	e.plainEncoder.add(f)
}

func (e *rowIndexEncoder) payload() []byte {
	n := len(e.buf)
	b := binary.BigEndian.AppendUint32(e.buf, uint32(len(e.rows)))
	for _, at := range e.rows {
		b = binary.BigEndian.AppendUint32(b, at)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(n-idLen))
	e.buf = b[:n]
	return b
}
