package layout

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/column"
	"usertrail/internal/trail"
)

// A row of one record has the user, date, kind and column ID in its key, and a column for each
// field:
//
//	qualifier  the field's name
//	timestamp  the behaviour's time in milliseconds
//	value      the field's value, as package behaviour encodes it; null is no cell
//
// Every record has a cell in its kind's first field, or else in column.Marker, whose
// value package column describes. A read of any fields therefore finds every record, and
// its microseconds.

// A rowParser reads a row of one record.
type rowParser func(row []byte) (oneRow, error)

// oneRow holds the parts of a row's key.
type oneRow struct {
	key         []byte // the user's, a part of the row
	kind        int
	date        behaviour.Date
	id          int64
	first, last int64 // the least and the largest timestamp of the row, in milliseconds
}

// anyTime makes r a row without a time.
func (r oneRow) anyTime() oneRow {
	r.first, r.last = math.MinInt64, math.MaxInt64
	return r
}

// plain has the fields of a kind and the marker, in order of qualifier.
type plain struct {
	names [][]byte
	slots []int // index in Kind.Fields; marker for the marker
}

func plainOf(k behaviour.Kind) plain {
	var p plain
	for slot := marker; slot < len(k.Fields); slot++ {
		name := column.Marker
		if slot != marker {
			name = k.Fields[slot].Name
		}
		at, _ := slices.BinarySearchFunc(p.names, []byte(name), bytes.Compare)
		p.names = slices.Insert(p.names, at, []byte(name))
		p.slots = slices.Insert(p.slots, at, slot)
	}
	return p
}

func plainsOf(s *behaviour.Schema) []plain {
	out := make([]plain, len(s.Kinds))
	for i, k := range s.Kinds {
		out[i] = plainOf(k)
	}
	return out
}

// find returns the index of a qualifier that is not before from, or -1.
func (p *plain) find(qualifier []byte, from int) int {
	for i := from; i < len(p.names); i++ {
		if bytes.Equal(p.names[i], qualifier) {
			return i
		}
	}
	return -1
}

// plainPrefixes returns the names of the wanted fields, the marker and the first field of
// each kind; every record has a cell in the marker or in the first field. If one name is a
// prefix of another, only the shorter is returned, because HBase loses columns if one
// prefix is a prefix of another.
func plainPrefixes(s *behaviour.Schema, q Want) [][]byte {
	names := [][]byte{[]byte(column.Marker)}
	for _, k := range q.Kinds {
		for i, f := range s.Kinds[k].Fields {
			if i == 0 || q.Has(k, i) {
				names = append(names, []byte(f.Name))
			}
		}
	}
	slices.SortFunc(names, bytes.Compare)
	short := names[:1]
	for _, n := range names[1:] {
		if !bytes.HasPrefix(n, short[len(short)-1]) {
			short = append(short, n)
		}
	}
	return short
}

// oneRecordTeller is the Teller of rows of one record.
type oneRecordTeller struct {
	parse  rowParser
	plains []plain

	row []byte
	of  oneRow // its key is not kept
	rec RecordID
	ok  bool // row is a row of the layout
	pos int  // column of the last cell, or -1

	user func(dst, key []byte) ([]byte, error)
	key  []byte // the last key of a user
	buf  []byte
}

// Tell implements Teller.
func (t *oneRecordTeller) Tell(c *cell.Cell) (RecordID, bool) {
	rec, ok := t.tellRow(c.Row)
	return rec, ok && t.of.first <= c.Time && c.Time <= t.of.last && t.column(c.Qualifier)
}

func (t *oneRecordTeller) tellRow(row []byte) (RecordID, bool) {
	if !bytes.Equal(row, t.row) {
		t.row = append(t.row[:0], row...)
		t.ok = t.begin(row)
	}
	return t.rec, t.ok
}

// column reports whether the row's kind has a qualifier. It is mostly after the last qualifier.
func (t *oneRecordTeller) column(qualifier []byte) bool {
	p := &t.plains[t.of.kind]
	pos := p.find(qualifier, t.pos+1)
	if pos < 0 {
		pos = p.find(qualifier, 0)
	}
	t.pos = pos
	return pos >= 0
}

func (t *oneRecordTeller) begin(row []byte) bool {
	t.pos = -1
	of, err := t.parse(row)
	if err != nil {
		return false
	}
	if !bytes.Equal(of.key, t.key) {
		user, err := t.user(t.buf[:0], of.key)
		if err != nil {
			return false
		}
		t.buf, t.key = user, append(t.key[:0], of.key...)
	}
	of.key = nil
	t.of, t.rec = of, RecordID{Date: of.date, Kind: of.kind, ID: of.id}
	return true
}

// oneRecordEncoder is the Encoder of rows of one record.
type oneRecordEncoder struct {
	family   []byte
	plains   []plain
	unmarked bool // records get no marker

	records int
	kind    int
	at      moment
	values  [][]byte
	mark    []byte
	c       cell.Cell
}

func newOneRecordEncoder(s *behaviour.Schema, family string) *oneRecordEncoder {
	return &oneRecordEncoder{family: []byte(family), plains: plainsOf(s)}
}

// newOneRecordFields returns the Encoder of Widening.FieldEncoder.
func newOneRecordFields(s *behaviour.Schema, family string) *oneRecordEncoder {
	e := newOneRecordEncoder(s, family)
	e.unmarked = true
	return e
}

// Add implements Encoder.
func (e *oneRecordEncoder) Add(r *behaviour.Record) {
	e.records++
	e.kind = r.Kind
	millis := behaviour.Millis(r.Time)
	e.at = moment{r.ID, millis, r.Time - millis*1000}
	e.values = append(e.values[:0], r.Values...)
}

// Cells implements Encoder.
func (e *oneRecordEncoder) Cells(row []byte, emit func(*cell.Cell) error) error {
	if e.records > 1 {
		return fmt.Errorf("layout: row %q: %d records have the column ID %d", row, e.records, e.at.id)
	}
	e.c = cell.Cell{Row: row, Family: e.family, Time: e.at.millis, Type: cell.Put}
	p := &e.plains[e.kind]
	for i := 0; i < len(p.names) && e.records > 0; i++ {
		e.c.Qualifier, e.c.Value = p.names[i], e.value(p.slots[i])
		if e.c.Value == nil {
			continue
		}
		if err := emit(&e.c); err != nil {
			return err
		}
	}
	e.records = 0
	return nil
}

// value returns the value of the field or marker in a slot, or nil if it has no cell.
func (e *oneRecordEncoder) value(slot int) []byte {
	switch {
	case slot != marker:
		return e.values[slot]
	case e.unmarked:
		return nil
	case e.at.micros != 0:
		e.mark = strconv.AppendInt(e.mark[:0], e.at.micros, 10)
		return e.mark
	case len(e.values) == 0 || e.values[0] == nil:
		return []byte{}
	}
	return nil
}

// oneRecordDecoder is the Decoder of rows of one record. It makes the record's event from the row's
// first cell.
type oneRecordDecoder struct {
	schema *behaviour.Schema
	parse  rowParser
	plains []plain
	want   Want
	wanted []bool // by kind

	batch *trail.Batch
	user  func(key []byte) (uint32, bool)
	key   []byte // of the user of the last row whose kind and date were requested
	id    uint32
	known bool // that user

	row  []byte
	skip bool
	of   oneRow // its key is not kept
	p    *plain
	pos  int // column in p, -1 before the first
	ev   trail.Event
}

func newOneRecordDecoder(s *behaviour.Schema, q Want, parse rowParser) *oneRecordDecoder {
	return &oneRecordDecoder{schema: s, parse: parse, plains: plainsOf(s), want: q, wanted: q.wanted(s)}
}

// Into implements Decoder.
func (d *oneRecordDecoder) Into(b *trail.Batch, user func(key []byte) (uint32, bool)) {
	d.batch, d.user = b, user
	d.row, d.key, d.skip = d.row[:0], d.key[:0], true
}

// Flush implements Decoder. The event is in the batch from the row's first cell on, so Flush only
// resets the state of the row.
func (d *oneRecordDecoder) Flush() error {
	d.row, d.key, d.skip = d.row[:0], d.key[:0], true
	return nil
}

// Add implements Decoder.
func (d *oneRecordDecoder) Add(c *cell.Cell) error {
	if len(d.row) == 0 || !bytes.Equal(d.row, c.Row) {
		if err := d.begin(c.Row); err != nil {
			return err
		}
	}
	if d.skip {
		return nil
	}
	pos := d.p.find(c.Qualifier, d.pos+1)
	if pos < 0 {
		return d.stray(c)
	}
	if err := d.time(c); err != nil {
		return err
	}
	d.pos = pos
	switch slot := d.p.slots[pos]; {
	case slot == marker:
		return d.setMicros(c)
	case d.want.Has(d.of.kind, slot):
		return put(d.batch, &d.batch.Refs[int(d.ev.Refs)+slot], c)
	}
	return nil
}

// begin starts a row, or decides to skip it.
func (d *oneRecordDecoder) begin(row []byte) error {
	d.row, d.skip = append(d.row[:0], row...), true
	of, err := d.parse(row)
	if err != nil {
		d.row = d.row[:0]
		return ForeignCell(fmt.Errorf("layout: row %q: %w", row, err))
	}
	if !d.wanted[of.kind] || !d.want.Span.Has(of.date) {
		return nil
	}
	if !bytes.Equal(of.key, d.key) {
		d.key = append(d.key[:0], of.key...)
		d.id, d.known = d.user(of.key)
	}
	d.skip = !d.known
	of.key = nil
	d.of, d.p, d.pos = of, &d.plains[of.kind], -1
	return nil
}

// time makes the event of a row's first cell, and checks that the other cells have its time.
func (d *oneRecordDecoder) time(c *cell.Cell) error {
	if d.pos >= 0 {
		if c.Time != behaviour.Millis(d.ev.Time) {
			return fmt.Errorf("layout: row %q: qualifier %q has the timestamp %d, those before it %d", c.Row, c.Qualifier, c.Time, behaviour.Millis(d.ev.Time))
		}
		return nil
	}
	if c.Time < d.of.first || c.Time > d.of.last {
		return fmt.Errorf("layout: row %q: qualifier %q has the timestamp %d, which is not of the row's time", c.Row, c.Qualifier, c.Time)
	}
	first, err := d.batch.Nulls(len(d.p.slots) - 1)
	if err != nil {
		return fmt.Errorf("layout: row %q: %w", c.Row, err)
	}
	d.ev = trail.Event{
		Time: c.Time * 1000, ID: d.of.id, User: d.id, Refs: first,
		Date: int32(d.of.date), Kind: uint16(d.of.kind),
	}
	d.batch.Events = append(d.batch.Events, d.ev)
	return nil
}

// setMicros adds a marker's microseconds to the row's event, the last of the batch.
func (d *oneRecordDecoder) setMicros(c *cell.Cell) error {
	if len(c.Value) == 0 {
		return nil
	}
	micros, ok := parseDigits(c.Value)
	if !ok || len(c.Value) > 3 || micros > 999 {
		return fmt.Errorf("layout: row %q: qualifier %q: %q are not the microseconds of a millisecond", c.Row, c.Qualifier, c.Value)
	}
	d.batch.Events[len(d.batch.Events)-1].Time += int64(micros)
	return nil
}

func (d *oneRecordDecoder) stray(c *cell.Cell) error {
	kind := d.schema.Kinds[d.of.kind].Name
	if d.p.find(c.Qualifier, 0) >= 0 {
		return fmt.Errorf("layout: row %q: qualifier %q comes twice, or out of order", c.Row, c.Qualifier)
	}
	return ForeignCell(fmt.Errorf("layout: row %q: qualifier %q is none of %s's columns", c.Row, c.Qualifier, kind))
}
