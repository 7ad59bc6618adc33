package layout

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/column"
	"usertrail/internal/rowkey"
	"usertrail/internal/trail"
)

// Reversed has one row for each user, day and behaviour:
//
//	row        reverse(user) , date , behaviour ID     (package rowkey)
//	qualifier  field , column ID                       (package column)
//	timestamp  the behaviour's time in milliseconds
//	value      the field's value, as package behaviour encodes it; null is no cell
//
// Every record has a cell in its kind's first field, or else a marker: a cell of the field
// column.Marker. Therefore a read of any fields finds every record, at the cost of at most one
// more cell. The marker also has the microseconds of the time, because the timestamp has only
// milliseconds.
type Reversed struct{}

var _ = Register(Reversed{})

// Name implements Layout.
func (Reversed) Name() string { return Default }

// Traits implements Layout.
func (Reversed) Traits() Traits {
	return Traits{
		Together: true, DayRows: true,
		Row: RowParts{Kind: true, Date: true}, FieldCells: AllFields, MicrosCell: true,
		Ranges: Limits{Dates: true},
	}
}

// Fits implements Layout.
func (Reversed) Fits(*behaviour.Schema, *behaviour.Record) error { return nil }

// AppendRow implements Layout.
func (Reversed) AppendRow(dst []byte, s *behaviour.Schema, r *behaviour.Record) []byte {
	return rowkey.AppendRest(rowkey.AppendPrefix(dst, r.User), r.Date, s.Kinds[r.Kind].ID)
}

// AppendUserKey implements Layout.
func (Reversed) AppendUserKey(dst, user []byte) []byte { return rowkey.AppendPrefix(dst, user) }

// AppendUser implements Layout.
func (Reversed) AppendUser(dst, key []byte) ([]byte, error) { return rowkey.AppendUser(dst, key) }

// UserKey implements Layout.
func (Reversed) UserKey(row []byte) []byte {
	if n := rowkey.PrefixLen(row); n > 0 {
		return row[:n:n]
	}
	return nil
}

// Reads implements Layout. A user's rows are one range, from the separator before the
// first date up to the separator's successor after the last date.
func (l Reversed) Reads(s *behaviour.Schema, q Want) (*Reads, error) {
	prefixes, err := l.prefixes(s, q)
	if err != nil {
		return nil, err
	}
	var start, stop, row []byte
	return &Reads{
		Timed:   q.Times == nil,
		Columns: Columns{Prefixes: prefixes},
		Ranges: func(key []byte, yield func(start, stop []byte) bool) bool {
			start = rowkey.AppendDate(append(start[:0], key...), q.Span.From)
			stop = append(rowkey.AppendDate(append(stop[:0], key...), q.Span.To), rowkey.Separator+1)
			return yield(start, stop)
		},
		Rows: func(key []byte, yield func(row []byte) bool) bool {
			row = append(row[:0], key...)
			for date := q.Span.From; date <= q.Span.To; date++ {
				for _, k := range q.Kinds {
					row = rowkey.AppendRest(row[:len(key)], date, s.Kinds[k].ID)
					if !yield(row) {
						return false
					}
				}
			}
			return true
		},
	}, nil
}

// prefixes returns the prefixes of the wanted fields, of each kind's first field and of the
// marker. Every record has a cell in its first field or in the marker.
func (Reversed) prefixes(s *behaviour.Schema, q Want) ([][]byte, error) {
	fields := []string{column.Marker}
	for _, k := range q.Kinds {
		for i, f := range s.Kinds[k].Fields {
			if i == 0 || q.Has(k, i) {
				fields = append(fields, f.Name)
			}
		}
	}
	return column.Prefixes(fields)
}

// Teller implements Layout.
func (Reversed) Teller(s *behaviour.Schema) Teller { return &reversedTeller{schema: s} }

type reversedTeller struct {
	schema *behaviour.Schema
	row    []byte
	rec    RecordID // of the row
	ok     bool
}

// Tell implements Teller.
func (t *reversedTeller) Tell(c *cell.Cell) (RecordID, bool) {
	if !bytes.Equal(c.Row, t.row) {
		t.row = append(t.row[:0], c.Row...)
		t.ok = t.parse(c.Row)
	}
	t.rec.ID = NoID
	if _, id, err := column.Parse(c.Qualifier); err == nil {
		t.rec.ID = id
	}
	return t.rec, t.ok
}

func (t *reversedTeller) parse(row []byte) (ok bool) {
	n := rowkey.PrefixLen(row)
	var user [behaviour.MaxUserLen]byte
	if _, err := rowkey.AppendUser(user[:0], row[:n]); err != nil {
		return false
	}
	date, id, err := rowkey.ParseRest(row[n:])
	if err != nil {
		return false
	}
	t.rec.Date = date
	t.rec.Kind, ok = t.schema.KindByID(id)
	return ok
}

// order has the fields of a kind and the marker, in order of qualifier.
type order struct {
	prefixes [][]byte
	slots    []int // index in Kind.Fields; marker for the marker
}

const marker = -1

// has reports whether a field has a prefix.
func (o *order) has(prefix []byte) bool {
	return slices.ContainsFunc(o.prefixes, func(p []byte) bool { return bytes.Equal(p, prefix) })
}

func orderOf(k behaviour.Kind) order {
	type column1 struct {
		prefix []byte
		slot   int
	}
	cols := []column1{{column.AppendPrefix(nil, column.Marker), marker}}
	for i, f := range k.Fields {
		cols = append(cols, column1{column.AppendPrefix(nil, f.Name), i})
	}
	slices.SortFunc(cols, func(a, b column1) int { return bytes.Compare(a.prefix, b.prefix) })
	var o order
	for _, c := range cols {
		o.prefixes = append(o.prefixes, c.prefix)
		o.slots = append(o.slots, c.slot)
	}
	return o
}

// Encoder implements Layout.
func (Reversed) Encoder(s *behaviour.Schema, family string) Encoder {
	e := &reversedEncoder{family: []byte(family)}
	for _, k := range s.Kinds {
		e.orders = append(e.orders, orderOf(k))
	}
	return e
}

// FieldEncoder implements Widening.
func (l Reversed) FieldEncoder(s *behaviour.Schema, family string) Encoder {
	e := l.Encoder(s, family).(*reversedEncoder)
	e.unmarked = true
	return e
}

type reversedEncoder struct {
	family   []byte
	orders   []order
	unmarked bool // records get no marker

	kind    int
	records []moment
	values  [][]byte // the values of the records: for each record one for each of its fields
	c       cell.Cell
	qual    []byte
}

// A moment holds the parts that the cells of one record share.
type moment struct {
	id     int64
	millis int64
	micros int64 // after millis
}

// Add implements Encoder.
func (e *reversedEncoder) Add(r *behaviour.Record) {
	e.kind = r.Kind
	millis := behaviour.Millis(r.Time)
	e.records = append(e.records, moment{r.ID, millis, r.Time - millis*1000})
	e.values = append(e.values, r.Values...)
}

// Cells implements Encoder. Cells are in order of field, and within a field in order of column ID. This
// is the order of their qualifiers.
func (e *reversedEncoder) Cells(row []byte, emit func(*cell.Cell) error) error {
	o := e.orders[e.kind]
	fields := len(o.slots) - 1
	e.c.Row, e.c.Family, e.c.Type = row, e.family, cell.Put
	for i, slot := range o.slots {
		if slot == marker && e.unmarked {
			continue
		}
		e.qual = append(e.qual[:0], o.prefixes[i]...)
		n := len(e.qual)
		for j := range e.records {
			m := &e.records[j]
			if slot == marker {
				e.c.Value = m.mark(e.values[j*fields : (j+1)*fields])
			} else {
				e.c.Value = e.values[j*fields+slot]
			}
			if e.c.Value == nil {
				continue
			}
			e.qual = binary.BigEndian.AppendUint64(e.qual[:n], uint64(m.id))
			e.c.Qualifier, e.c.Time = e.qual, m.millis
			if err := emit(&e.c); err != nil {
				return err
			}
		}
	}
	e.records, e.values = e.records[:0], e.values[:0]
	return nil
}

// mark returns the value of a record's marker, nil if it needs none.
func (m *moment) mark(values [][]byte) []byte {
	if m.micros != 0 {
		return strconv.AppendInt(nil, m.micros, 10)
	}
	if len(values) == 0 || values[0] == nil {
		return []byte{}
	}
	return nil
}

// Decoder implements Layout.
func (Reversed) Decoder(s *behaviour.Schema, q Want) Decoder {
	d := &reversedDecoder{schema: s, want: q, wanted: q.wanted(s)}
	for _, k := range s.Kinds {
		d.orders = append(d.orders, orderOf(k))
	}
	return d
}

// reversedDecoder makes the records of a row from its cells, which are added field by field. known
// has the row's records that have a cell in an earlier field. fresh has the records whose first cell
// is in this field. Both are in order of ID.
type reversedDecoder struct {
	schema *behaviour.Schema
	orders []order
	want   Want
	wanted []bool // by kind

	rowState
	o     *order
	pos   int // index of the current field in o, -1 before the first
	slot  int
	asked bool  // the query requests the values of the current field
	last  int64 // the last column ID in the current field

	known, fresh, spare []record
	at                  int // index of the next record of known
}

type record struct {
	id    int64
	event uint32 // index in batch.Events
}

// Add implements Decoder.
func (d *reversedDecoder) Add(c *cell.Cell) error {
	if !bytes.Equal(d.row, c.Row) {
		if err := d.begin(c.Row); err != nil {
			return err
		}
	}
	if d.skip {
		return nil
	}
	n := len(c.Qualifier) - 8
	if n < 2 || c.Qualifier[n] > 0x7f {
		return d.stray(c)
	}
	prefix, id := c.Qualifier[:n], int64(binary.BigEndian.Uint64(c.Qualifier[n:]))
	same := d.pos >= 0 && bytes.Equal(prefix, d.o.prefixes[d.pos])
	if same && id <= d.last || !same && !d.field(prefix) {
		if !d.o.has(prefix) {
			return d.stray(c)
		}
		d.again()
		d.field(prefix)
	}
	d.last = id
	if d.slot > 0 && !d.asked {
		return nil // the record has a cell in the first field or the marker
	}
	ev, err := d.event(id, c.Time)
	if err != nil {
		return err
	}
	if d.slot == marker {
		return d.setMicros(ev, c)
	}
	if !d.asked {
		return nil
	}
	return put(d.batch, &d.batch.Refs[int(ev.Refs)+d.slot], c)
}

// begin starts a row, or decides to skip it.
func (d *reversedDecoder) begin(row []byte) error {
	d.row = append(d.row[:0], row...)
	d.skip = true
	n := rowkey.PrefixLen(row)
	date, kind, err := d.parse(row, n)
	if err != nil {
		d.row = d.row[:0]
		return ForeignCell(fmt.Errorf("layout: %w", err))
	}
	if !d.wanted[kind] || !d.want.Span.Has(date) {
		return nil
	}
	user, ok := d.user(row[:n])
	if !ok {
		return nil
	}
	d.skip = false
	d.ev = trail.Event{User: user, Date: int32(date), Kind: uint16(kind)}
	d.o = &d.orders[kind]
	d.again()
	return nil
}

// parse returns the date and kind of a row whose first n bytes are the user's.
func (d *reversedDecoder) parse(row []byte, n int) (behaviour.Date, int, error) {
	if n == 0 {
		return 0, 0, fmt.Errorf("%w: %q", rowkey.ErrNotRow, row)
	}
	date, id, err := rowkey.ParseRest(row[n:])
	if err != nil {
		return 0, 0, err
	}
	kind, ok := d.schema.KindByID(id)
	if !ok {
		return 0, 0, fmt.Errorf("row %q: no behaviour has the ID %d", row, id)
	}
	return date, kind, nil
}

// again begins with other records of the same row. A table returns a row once for each file that has the
// row. Then qualifiers start again from the smallest.
func (d *reversedDecoder) again() {
	d.pos = -1
	d.known, d.fresh, d.at = d.known[:0], d.fresh[:0], 0
}

// field moves to the field with a prefix.
func (d *reversedDecoder) field(prefix []byte) bool {
	for i := d.pos + 1; i < len(d.o.prefixes); i++ {
		if bytes.Equal(d.o.prefixes[i], prefix) {
			d.pos, d.slot, d.at = i, d.o.slots[i], 0
			d.asked = d.slot != marker && d.want.Has(int(d.ev.Kind), d.slot)
			d.merge()
			return true
		}
	}
	return false
}

// merge adds the records whose first cell is in the last field to known.
func (d *reversedDecoder) merge() {
	if len(d.fresh) == 0 {
		return
	}
	if len(d.known) == 0 {
		d.known, d.fresh = d.fresh, d.known
		return
	}
	out, i, j := d.spare[:0], 0, 0
	for i < len(d.known) && j < len(d.fresh) {
		if d.known[i].id < d.fresh[j].id {
			out = append(out, d.known[i])
			i++
		} else {
			out = append(out, d.fresh[j])
			j++
		}
	}
	out = append(append(out, d.known[i:]...), d.fresh[j:]...)
	d.spare, d.known, d.fresh = d.known, out, d.fresh[:0]
}

// event returns the row's event with an ID. At the first cell of the event it adds the event to the
// batch.
func (d *reversedDecoder) event(id, millis int64) (*trail.Event, error) {
	for d.at < len(d.known) && d.known[d.at].id < id {
		d.at++
	}
	if d.at < len(d.known) && d.known[d.at].id == id {
		return &d.batch.Events[d.known[d.at].event], nil
	}
	ev := d.ev
	ev.ID, ev.Time = id, millis*1000
	var err error
	if ev.Refs, err = d.batch.Nulls(len(d.o.slots) - 1); err != nil {
		return nil, fmt.Errorf("layout: row %q: %w", d.row, err)
	}
	d.fresh = append(d.fresh, record{id, uint32(len(d.batch.Events))})
	d.batch.Events = append(d.batch.Events, ev)
	return &d.batch.Events[len(d.batch.Events)-1], nil
}

func (d *reversedDecoder) setMicros(ev *trail.Event, c *cell.Cell) error {
	if len(c.Value) == 0 {
		return nil
	}
	micros, err := strconv.Atoi(string(c.Value))
	if err != nil || micros < 0 || micros > 999 {
		return fmt.Errorf("layout: row %q: qualifier %q: %q are not the microseconds of a millisecond", c.Row, c.Qualifier, c.Value)
	}
	ev.Time = c.Time*1000 + int64(micros)
	return nil
}

func (d *reversedDecoder) stray(c *cell.Cell) error {
	return ForeignCell(fmt.Errorf("layout: row %q: qualifier %q is none of %s's columns", c.Row, c.Qualifier, d.schema.Kinds[d.ev.Kind].Name))
}
