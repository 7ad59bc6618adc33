package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Durability determines when a Put is acknowledged.
type Durability uint8

// The durabilities.
const (
	TableDefault Durability = 0
	SkipWAL      Durability = 1
	AsyncWAL     Durability = 2
	SyncWAL      Durability = 3
	FsyncWAL     Durability = 4
)

// BeginRegion begins a region's actions in the parameter of "Multi". The actions
// follow, then EndRegion with the mark, then perhaps another region.
func BeginRegion(dst, name []byte) (longer []byte, mark int) {
	dst, mark = begin(dst, 1)
	return appendRegion(dst, 1, name), mark
}

// EndRegion ends the region that BeginRegion began.
func EndRegion(dst []byte, mark int) []byte { return end(dst, mark) }

// AppendGetAction appends a Get. The result has the same index, which must be unique in its
// region.
func AppendGetAction(dst []byte, index uint32, row []byte, fields GetFields) []byte {
	dst, at := begin(dst, 3)
	dst = appendUint(dst, 1, uint64(index))
	dst = appendGet(dst, 3, row, fields)
	return end(dst, at)
}

// AppendPutAction appends a Put of the next cells of the cell block, which must be of this
// row. Puts and Gets should be in separate Multis, because servers execute the Gets first.
func AppendPutAction(dst []byte, index uint32, row []byte, cells int, durability Durability) []byte {
	dst, at := begin(dst, 3)
	dst = appendUint(dst, 1, uint64(index))
	dst = appendMutation(dst, 2, row, mutatePut, cells, durability)
	return end(dst, at)
}

// A mutateType is MutationProto.MutationType.
type mutateType uint8

const (
	mutatePut    mutateType = 2
	mutateDelete mutateType = 3
)

func appendMutation(dst []byte, num protowire.Number, row []byte, typ mutateType, cells int, durability Durability) []byte {
	dst, at := begin(dst, num)
	dst = appendBytes(dst, 1, row)
	dst = appendUint(dst, 2, uint64(typ))
	dst = appendUint(dst, 6, uint64(durability))
	dst = appendUint(dst, 8, uint64(cells))
	return end(dst, at)
}

// A MultiResult is the result of one action, or of a region's actions together.
type MultiResult struct {
	Region int    // index of the region in the request
	Whole  bool   // the region's actions failed together with Err; Index has no meaning
	Index  uint32 // of the action
	Err    *ServerError
	Result // if Err is nil; without cells for a Put
}

// A MultiDecoder iterates over the response to a "Multi".
type MultiDecoder struct {
	outer  decoder // MultiResponse
	inner  decoder // RegionActionResult
	region int
	block  []byte
	err    error
}

// DecodeMulti returns a MultiDecoder of a message and its cell block.
func DecodeMulti(param, block []byte) MultiDecoder {
	return MultiDecoder{outer: decoder{rest: param}, region: -1, block: block}
}

// Next sets r to the next result, in the server's order. It allocates only for
// exceptions. It returns false at the end, and after an error, which Err returns. The
// caller has to check that every action has exactly one result.
func (m *MultiDecoder) Next(r *MultiResult) bool {
	for m.err == nil {
		if m.inner.next() {
			if m.nextInner(r) {
				return true
			}
			continue
		}
		if m.err = m.inner.done("RegionActionResult"); m.err != nil {
			break
		}
		if !m.outer.next() {
			m.finish()
			break
		}
		if m.outer.num == 1 && m.outer.want(protowire.BytesType) {
			m.region++
			m.inner = decoder{rest: m.outer.b}
		}
	}
	return false
}

// nextInner decodes one field of a RegionActionResult.
func (m *MultiDecoder) nextInner(r *MultiResult) bool {
	switch m.inner.num {
	case 1:
		if !m.inner.want(protowire.BytesType) {
			return false
		}
		*r = MultiResult{Region: m.region}
		m.err = m.decodeAction(r, m.inner.b)
		return m.err == nil
	case 2:
		*r = MultiResult{Region: m.region, Whole: true, Err: new(ServerError)}
		m.inner.message(r.Err.decodePair)
		return m.inner.err == nil
	}
	return false
}

// decodeAction decodes a ResultOrException.
func (m *MultiDecoder) decodeAction(r *MultiResult, b []byte) error {
	var res result
	d := decoder{rest: b}
	for d.next() {
		switch d.num {
		case 1:
			d.uint32(&r.Index)
		case 2:
			if d.want(protowire.BytesType) {
				d.err = res.decode(d.b)
			}
		case 3:
			r.Err = new(ServerError)
			d.message(r.Err.decodePair)
		}
	}
	if err := d.done("ResultOrException"); err != nil {
		return fmt.Errorf("MultiResponse: region %d: %w", m.region, err)
	}
	var err error
	r.Result, m.block, err = res.take(m.block)
	return err
}

// finish checks at the end of the message that all cells were used.
func (m *MultiDecoder) finish() {
	m.err = m.outer.done("MultiResponse")
	if m.err == nil && len(m.block) > 0 {
		m.err = fmt.Errorf("MultiResponse: %w: %d bytes of cells belong to no action", ErrMalformed, len(m.block))
	}
}

// Regions returns the number of regions that the decoder has read so far.
func (m *MultiDecoder) Regions() int { return m.region + 1 }

// Err returns the error that stopped Next.
func (m *MultiDecoder) Err() error { return m.err }
