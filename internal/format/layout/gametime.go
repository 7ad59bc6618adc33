package layout

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/column"
	"usertrail/internal/trail"
)

// GameTime has one row for each user and second. It is the other form of Game:
//
//	row        account _ time                  u42_2013-04-01 00:00:00
//	qualifier  behaviour , column ID           (package column; the name is escaped)
//	timestamp  the behaviour's time in milliseconds
//	value      uvarint(microseconds within the millisecond) , packed record
//
// The account is the user key; the time is in UTC, in seconds.
//
// The published design has two faults that this layout avoids. Its qualifier is the
// behaviour alone, so it keeps only one of two events of the same behaviour and second;
// here each event has a column of its own, by its column ID. It writes local times, and one
// local hour occurs twice when the clock is put back.
//
// All behaviours of a user in a span are one range, in order of time: start and stop row,
// and a limit. A query for one behaviour reads the same rows with fewer columns. A record is
// read whole, whatever fields the query wants.
type GameTime struct{}

var _ = Register(GameTime{})

// Name implements Layout.
func (GameTime) Name() string { return "game-time" }

// Traits implements Layout.
func (GameTime) Traits() Traits {
	return Traits{
		Together: true, Row: RowParts{Date: true, Second: true}, KindColumns: true,
		Ranges: Limits{Dates: true, Times: true},
	}
}

// Fits implements Layout.
func (GameTime) Fits(_ *behaviour.Schema, r *behaviour.Record) error { return fitsUTCText(r.Time) }

// AppendRow implements Layout.
func (GameTime) AppendRow(dst []byte, _ *behaviour.Schema, r *behaviour.Record) []byte {
	return appendUTCText(appendUserKey(dst, r.User), r.Time)
}

// AppendUserKey implements Layout.
func (GameTime) AppendUserKey(dst, user []byte) []byte { return appendUserKey(dst, user) }

// AppendUser implements Layout.
func (GameTime) AppendUser(dst, key []byte) ([]byte, error) { return parseUserKey(dst, key) }

// UserKey implements Layout.
func (GameTime) UserKey(row []byte) []byte {
	if n := userKeyLen(row); n > 0 && len(row) == n+utcTextLen {
		return row[:n:n]
	}
	return nil
}

// parseGameTime returns the user key of a row and its second, in microseconds.
func parseGameTime(row []byte) (key []byte, second int64, ok bool) {
	key = GameTime{}.UserKey(row)
	if key == nil {
		return nil, 0, false
	}
	second, ok = parseUTCText(row[len(key):])
	return key, second, ok
}

// Reads implements Layout. A user's rows are one range, from the query's first second to
// the end of its last second.
func (GameTime) Reads(s *behaviour.Schema, q Want) (*Reads, error) {
	times, err := q.times(s)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, k := range q.Kinds {
		names = append(names, column.Escape(s.Kinds[k].Name))
	}
	prefixes, err := column.Prefixes(names)
	if err != nil {
		return nil, err
	}
	seconds, some := utcRangeOf(times)
	var start, stop []byte
	return &Reads{
		Timed:   true,
		Columns: Columns{Prefixes: prefixes},
		Ranges: func(key []byte, yield func(start, stop []byte) bool) bool {
			if !some {
				return true
			}
			start = append(append(start[:0], key...), seconds.first...)
			stop = append(append(append(stop[:0], key...), seconds.last...), 0)
			return yield(start, stop)
		},
	}, nil
}

// kindsByColumn returns the kinds of a schema by their text in qualifiers.
func kindsByColumn(s *behaviour.Schema) map[string]int {
	kinds := make(map[string]int, len(s.Kinds))
	for i, k := range s.Kinds {
		kinds[column.Escape(k.Name)] = i
	}
	return kinds
}

// Teller implements Layout.
func (GameTime) Teller(s *behaviour.Schema) Teller {
	return &gameTimeTeller{kinds: kindsByColumn(s), dates: dates{zone: s.Zone}}
}

type gameTimeTeller struct {
	kinds map[string]int
	dates dates

	row    []byte
	ok     bool  // that row is one
	millis int64 // at which its second begins
	date   behaviour.Date
	key    []byte // the last that was a user's
	user   []byte
}

// Tell implements Teller.
func (t *gameTimeTeller) Tell(c *cell.Cell) (RecordID, bool) {
	if !bytes.Equal(c.Row, t.row) {
		t.row = append(t.row[:0], c.Row...)
		t.ok = t.begin(c.Row)
	}
	if !t.ok || c.Time < t.millis || c.Time > t.millis+999 {
		return RecordID{}, false
	}
	name, id, err := column.Parse(c.Qualifier)
	kind, ok := t.kinds[string(name)]
	return RecordID{Date: t.date, Kind: kind, ID: id}, ok && err == nil
}

func (t *gameTimeTeller) begin(row []byte) bool {
	key, second, ok := parseGameTime(row)
	if !ok {
		return false
	}
	if !bytes.Equal(key, t.key) {
		user, err := parseUserKey(t.user[:0], key)
		if err != nil {
			return false
		}
		t.user, t.key = user, append(t.key[:0], key...)
	}
	var err error
	t.date, err = t.dates.at(second)
	t.millis = second / 1000
	return err == nil
}

// Encoder implements Layout.
func (GameTime) Encoder(s *behaviour.Schema, family string) Encoder {
	e := &gameTimeEncoder{family: []byte(family), kinds: make([]gameTimeKind, len(s.Kinds))}
	for i, k := range s.Kinds {
		e.kinds[i] = gameTimeKind{prefix: column.AppendPrefix(nil, column.Escape(k.Name)), fields: len(k.Fields)}
	}
	return e
}

type gameTimeKind struct {
	prefix []byte // of its qualifiers
	fields int
}

type gameTimeEncoder struct {
	family []byte
	kinds  []gameTimeKind

	records []gameTimeRecord
	values  [][]byte // of the records, in the order in which they were added
	c       cell.Cell
	qual    []byte
	value   []byte
}

type gameTimeRecord struct {
	moment
	kind  int
	first int // index in values
}

// Add implements Encoder.
func (e *gameTimeEncoder) Add(r *behaviour.Record) {
	millis := behaviour.Millis(r.Time)
	e.records = append(e.records, gameTimeRecord{moment{r.ID, millis, r.Time - millis*1000}, r.Kind, len(e.values)})
	e.values = append(e.values, r.Values...)
}

// Cells implements Encoder.
func (e *gameTimeEncoder) Cells(row []byte, emit func(*cell.Cell) error) error {
	slices.SortFunc(e.records, func(a, b gameTimeRecord) int {
		if a.kind != b.kind {
			return bytes.Compare(e.kinds[a.kind].prefix, e.kinds[b.kind].prefix)
		}
		return cmp.Compare(a.id, b.id)
	})
	e.c = cell.Cell{Row: row, Family: e.family, Type: cell.Put}
	for i := range e.records {
		r := &e.records[i]
		k := &e.kinds[r.kind]
		e.qual = binary.BigEndian.AppendUint64(append(e.qual[:0], k.prefix...), uint64(r.id))
		e.value = appendPacked(binary.AppendUvarint(e.value[:0], uint64(r.micros)), e.values[r.first:r.first+k.fields])
		e.c.Qualifier, e.c.Time, e.c.Value = e.qual, r.millis, e.value
		if err := emit(&e.c); err != nil {
			return err
		}
	}
	e.records, e.values = e.records[:0], e.values[:0]
	return nil
}

// Decoder implements Layout.
func (GameTime) Decoder(s *behaviour.Schema, q Want) Decoder {
	return &gameTimeDecoder{kinds: kindsByColumn(s), dates: dates{zone: s.Zone}, span: q.Span, has: q.fields(s), wanted: q.wanted(s)}
}

// gameTimeDecoder makes an event of each cell.
type gameTimeDecoder struct {
	kinds  map[string]int
	dates  dates
	span   behaviour.Span
	wanted []bool   // by kind
	has    [][]bool // by kind and field

	batch *trail.Batch
	user  func(key []byte) (uint32, bool)
	key   []byte // of the user of the last row
	id    uint32
	known bool // that user

	row    []byte
	skip   bool
	millis int64 // at which its second begins
	date   behaviour.Date
}

// Into implements Decoder.
func (d *gameTimeDecoder) Into(b *trail.Batch, user func(key []byte) (uint32, bool)) {
	d.batch, d.user = b, user
	d.row, d.key = d.row[:0], d.key[:0]
}

// Flush implements Decoder. A cell holds its whole record, so Flush only resets the state
// of the row.
func (d *gameTimeDecoder) Flush() error {
	d.row, d.key = d.row[:0], d.key[:0]
	return nil
}

// Add implements Decoder.
func (d *gameTimeDecoder) Add(c *cell.Cell) error {
	if len(d.row) == 0 || !bytes.Equal(d.row, c.Row) {
		if err := d.begin(c.Row); err != nil {
			return err
		}
	}
	if d.skip {
		return nil
	}
	name, id, err := column.Parse(c.Qualifier)
	if err != nil {
		return ForeignCell(fmt.Errorf("layout: row %q: %w", c.Row, err))
	}
	kind, ok := d.kinds[string(name)]
	switch {
	case !ok:
		return ForeignCell(fmt.Errorf("layout: row %q: qualifier %q: no behaviour is called %q", c.Row, c.Qualifier, name))
	case c.Time < d.millis || c.Time > d.millis+999:
		return fmt.Errorf("layout: row %q: qualifier %q has the timestamp %d, which is not of the row's second", c.Row, c.Qualifier, c.Time)
	case !d.wanted[kind]:
		return nil
	}
	micros, n := binary.Uvarint(c.Value)
	if n <= 0 || micros > 999 || n > 1 && micros < 0x80 {
		return fmt.Errorf("layout: row %q: qualifier %q: the value does not begin with the microseconds of a millisecond", c.Row, c.Qualifier)
	}
	refs, err := unpack(d.batch, c.Value[n:], d.has[kind])
	switch {
	case errors.Is(err, trail.ErrFull):
		return fmt.Errorf("layout: row %q: %w", c.Row, err)
	case err != nil:
		return fmt.Errorf("layout: row %q: qualifier %q: the value is %w with the %d fields of %s", c.Row, c.Qualifier, err, len(d.has[kind]), name)
	}
	d.batch.Events = append(d.batch.Events, trail.Event{
		Time: c.Time*1000 + int64(micros), ID: id, User: d.id, Refs: refs, Date: int32(d.date), Kind: uint16(kind),
	})
	return nil
}

// begin starts a row, or decides to skip it.
func (d *gameTimeDecoder) begin(row []byte) error {
	d.row, d.skip = d.row[:0], true
	key, second, ok := parseGameTime(row)
	if !ok {
		return ForeignCell(fmt.Errorf("layout: row %q: not a row of the layout game-time: account_time", row))
	}
	date, err := d.dates.at(second)
	if err != nil {
		return err
	}
	d.row = append(d.row, row...)
	if !d.span.Has(date) {
		return nil
	}
	if !bytes.Equal(key, d.key) {
		d.key = append(d.key[:0], key...)
		d.id, d.known = d.user(key)
	}
	d.skip, d.date, d.millis = !d.known, date, second/1000
	return nil
}
