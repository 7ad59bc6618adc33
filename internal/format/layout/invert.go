package layout

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/trail"
)

// Inverted bytes name a record of a user, so that ascending names are a trail from
// its end to its beginning, by descending (time, behaviour ID, column ID):
//
//	0   8  math.MaxInt64 - time in microseconds
//	8   2  ^ behaviour ID
//	10  8  ^ column ID                              all big endian
//
// The difference is taken without a sign, and so is right before 1970 too. No two
// records of a user have the same name, also where they are of one instant.
const invertedLen = 18

// appendInverted appends the name of a record.
func appendInverted(dst []byte, micros int64, id uint16, column int64) []byte {
	dst = binary.BigEndian.AppendUint64(dst, math.MaxInt64-uint64(micros))
	dst = binary.BigEndian.AppendUint16(dst, ^id)
	return binary.BigEndian.AppendUint64(dst, ^uint64(column))
}

// parseInverted reads what appendInverted wrote, and returns false for anything else.
func parseInverted(b []byte) (micros int64, id uint16, column int64, ok bool) {
	if len(b) != invertedLen {
		return 0, 0, 0, false
	}
	micros = int64(math.MaxInt64 - binary.BigEndian.Uint64(b))
	id = ^binary.BigEndian.Uint16(b[8:])
	column = int64(^binary.BigEndian.Uint64(b[10:]))
	return micros, id, column, id != 0 && column >= 0
}

// invertedRange returns the range of the inverted bytes of records in t: from, included, to
// to, not included. Both are equal if t is empty.
func invertedRange(t Times) (from, to []byte) {
	from = appendInverted(nil, t.Last, math.MaxUint16, -1)
	if t.First > t.Last {
		return from, from
	}
	return from, append(appendInverted(nil, t.First, 0, 0), 0)
}

// inverted reads names of records of a schema.
type inverted struct {
	ids   []uint16 // of its kinds
	dates dates
}

func newInverted(s *behaviour.Schema) inverted {
	v := inverted{ids: make([]uint16, len(s.Kinds)), dates: dates{zone: s.Zone}}
	for i, k := range s.Kinds {
		v.ids[i] = k.ID
	}
	return v
}

// A cutter is a layout in which one cell is one record.
type cutter interface {
	Name() string
	// cut returns the user key and the name that a cell holds, no key or no name if it
	// is not the layout's.
	cut(c *cell.Cell) (key, name []byte)
}

// invertedTeller is the Teller of a cutter.
type invertedTeller struct {
	inverted
	layout cutter
	key    []byte
	user   []byte
	ok     bool // key is a user's
}

// Tell implements Teller.
func (t *invertedTeller) Tell(c *cell.Cell) (RecordID, bool) {
	key, name := t.layout.cut(c)
	micros, id, column, ok := parseInverted(name)
	kind, known := slices.BinarySearch(t.ids, id)
	if !ok || !known || !t.isUser(key) {
		return RecordID{}, false
	}
	date, err := t.dates.at(micros)
	return RecordID{Date: date, Kind: kind, ID: column}, err == nil
}

func (t *invertedTeller) isUser(key []byte) bool {
	if !bytes.Equal(key, t.key) {
		t.key = append(t.key[:0], key...)
		user, err := parseUserKey(t.user[:0], key)
		t.ok = err == nil
		if t.ok {
			t.user = user
		}
	}
	return t.ok
}

// invertedDecoder is the Decoder of a cutter whose values are packed.
type invertedDecoder struct {
	inverted
	layout cutter
	span   behaviour.Span
	wanted []bool   // by kind
	has    [][]bool // by kind and field

	batch *trail.Batch
	user  func(key []byte) (uint32, bool)
	key   []byte // of the user of the last cell
	skip  bool
	id    uint32
}

func newInvertedDecoder(l cutter, s *behaviour.Schema, q Want) *invertedDecoder {
	return &invertedDecoder{inverted: newInverted(s), layout: l, span: q.Span, wanted: q.wanted(s), has: q.fields(s)}
}

// Into implements Decoder.
func (d *invertedDecoder) Into(b *trail.Batch, user func(key []byte) (uint32, bool)) {
	d.batch, d.user = b, user
	d.key = d.key[:0]
}

// Flush implements Decoder. A cell holds its whole record, so there is nothing to flush.
func (d *invertedDecoder) Flush() error {
	d.key = d.key[:0]
	return nil
}

// Add implements Decoder.
func (d *invertedDecoder) Add(c *cell.Cell) error {
	key, name := d.layout.cut(c)
	micros, id, column, ok := parseInverted(name)
	if !ok || key == nil {
		return ForeignCell(fmt.Errorf("layout: row %q, qualifier %q: not a record as the layout %s keeps them", c.Row, c.Qualifier, d.layout.Name()))
	}
	kind, ok := slices.BinarySearch(d.ids, id)
	if !ok {
		return ForeignCell(fmt.Errorf("layout: row %q, qualifier %q: no behaviour has the ID %d", c.Row, c.Qualifier, id))
	}
	if !d.wanted[kind] || !d.of(key) {
		return nil
	}
	date, err := d.dates.at(micros)
	if err != nil || !d.span.Has(date) {
		return err
	}
	refs, err := unpack(d.batch, c.Value, d.has[kind])
	switch {
	case errors.Is(err, trail.ErrFull):
		return fmt.Errorf("layout: row %q: %w", c.Row, err)
	case err != nil:
		return fmt.Errorf("layout: row %q, qualifier %q: the value is %w of behaviour %d with its %d fields", c.Row, c.Qualifier, err, id, len(d.has[kind]))
	}
	d.batch.Events = append(d.batch.Events, trail.Event{
		Time: micros, ID: column, User: d.id, Refs: refs, Date: int32(date), Kind: uint16(kind),
	})
	return nil
}

// of reports whether the user with a key is requested.
func (d *invertedDecoder) of(key []byte) bool {
	if !bytes.Equal(key, d.key) {
		d.key = append(d.key[:0], key...)
		id, ok := d.user(key)
		d.id, d.skip = id, !ok
	}
	return !d.skip
}
