package layout

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/column"
	"usertrail/internal/trail"
)

// Hashed has one row for each user and behaviour, spread over all regions by a hash:
//
//	row        hash _ user _ behaviour                 a2bd_u42_play
//	qualifier  field , column ID                       (package column)
//	timestamp  the behaviour's time in milliseconds
//	value      the field's value, as package behaviour encodes it; null is no cell
//
// The hash is the first four hex digits, in lower case, of the MD5 of the rest of the row. A _
// in the user or the behaviour is written \u, and a backslash \\. The user key is user_. It is
// inside the row, so the rows of a user are not adjacent: each behaviour has another hash. For
// any set of users, the rows are spread evenly over the regions that HBase's HexStringSplit
// cuts.
//
// The first five fields of a behaviour have columns of their own. They are called its hot
// fields. All other fields are one JSON object in the column REMARK , column ID. This object is
// called the remark. Every record has a remark, so a read of any fields finds every record. The
// remark also has the microseconds of the time, because the timestamp has only milliseconds. If
// one of the first five fields is called REMARK, it is in the JSON object.
//
// In the published design the qualifier is the field alone, with a version for each day, so
// only the last event of a day stays. Here the column ID separates the events of one behaviour,
// even if they have the same time. A column ID is unique on one day only. Therefore a column
// can have one version for each day. The timestamps of the versions come from the data and
// differ. The family must keep 400 versions, for the year that rows live. If it keeps fewer, or
// if rows live longer, HBase drops the oldest days of such a column without notice, when it
// next rewrites the region's files.
//
// One Get with a time range and all versions reads a user's events of one behaviour between two
// times. The rows of a list of users can be computed, so Gets read them. But a row has all days
// of its user and grows with them. The order of rows does not help to read the latest N events,
// a page of events, or the events of all users in a span.
type Hashed struct{}

var _ = Register(Hashed{})

const (
	hashLen = 4 // hex digits
	hotMost = 5 // fields with columns

	// remarkField is the field of the column that has a record's remark.
	remarkField = "REMARK"

	// keptVersions is one version for each day of a year, and for a month in which HBase has
	// not yet dropped days that are too old.
	keptVersions = 400
	keptFor      = 365 * 24 * time.Hour
)

// Name implements Layout.
func (Hashed) Name() string { return "hashed" }

// Traits implements Layout.
func (Hashed) Traits() Traits {
	return Traits{
		Row: RowParts{Kind: true}, FieldCells: hotMost, Packed: remarkField, Marked: true, Ranges: Limits{Kinds: true},
		Versions: keptVersions, TTL: keptFor, Splits: hexSplits,
	}
}

// hexSplits cuts the space of eight hex digits into even regions, as HBase's
// HexStringSplit does: the last region has the remainder.
func hexSplits(regions int) [][]byte {
	var out [][]byte
	for i := 1; i < regions; i++ {
		out = append(out, fmt.Appendf(nil, "%08x", int64(1<<32)/int64(regions)*int64(i)))
	}
	return out
}

// Fits implements Layout.
func (Hashed) Fits(*behaviour.Schema, *behaviour.Record) error { return nil }

// AppendRow implements Layout.
func (Hashed) AppendRow(dst []byte, s *behaviour.Schema, r *behaviour.Record) []byte {
	at := len(dst)
	dst = appendUserKey(appendNoHash(dst), r.User)
	return hashRow(appendEscaped(dst, s.Kinds[r.Kind].Name), at)
}

// appendNoHash appends the place of a hash, which hashRow fills, and the separator.
func appendNoHash(dst []byte) []byte { return append(dst, "0000"+string(sep)...) }

// hashRow writes the hash of the row that begins at dst[at] into the row.
func hashRow(dst []byte, at int) []byte {
	sum := md5.Sum(dst[at+hashLen+1:])
	hex.Encode(dst[at:], sum[:hashLen/2])
	return dst
}

// AppendUserKey implements Layout.
func (Hashed) AppendUserKey(dst, user []byte) []byte { return appendUserKey(dst, user) }

// AppendUser implements Layout.
func (Hashed) AppendUser(dst, key []byte) ([]byte, error) { return parseUserKey(dst, key) }

// UserKey implements Layout.
func (Hashed) UserKey(row []byte) []byte {
	if len(row) <= hashLen || row[hashLen] != sep {
		return nil
	}
	for _, c := range row[:hashLen] {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return nil
		}
	}
	rest := row[hashLen+1:]
	n := userKeyLen(rest)
	if n == 0 || n == len(rest) {
		return nil
	}
	return rest[:n:n]
}

// Reads implements Layout. A user has one row for each kind.
func (Hashed) Reads(s *behaviour.Schema, q Want) (*Reads, error) {
	fields := []string{remarkField}
	rows := &hashedRows{rows: make([][]byte, len(q.Kinds))}
	for _, k := range q.Kinds {
		rows.kinds = append(rows.kinds, appendEscaped(nil, s.Kinds[k].Name))
		for _, i := range hot(s.Kinds[k]) {
			if q.Has(k, i) {
				fields = append(fields, s.Kinds[k].Fields[i].Name)
			}
		}
	}
	prefixes, err := column.Prefixes(fields)
	if err != nil {
		return nil, err
	}
	var stop []byte
	return &Reads{
		Columns: Columns{Prefixes: prefixes},
		Ranges: func(key []byte, yield func(start, stop []byte) bool) bool {
			for _, row := range rows.of(key) {
				stop = append(append(stop[:0], row...), 0)
				if !yield(row, stop) {
					return false
				}
			}
			return true
		},
		Rows: func(key []byte, yield func(row []byte) bool) bool {
			for _, row := range rows.of(key) {
				if !yield(row) {
					return false
				}
			}
			return true
		},
	}, nil
}

// hashedRows computes the rows of a user for some kinds.
type hashedRows struct {
	kinds [][]byte // names, escaped
	rows  [][]byte
}

// of returns the rows of the user with the user key key, in order. They are valid until the
// next call.
func (r *hashedRows) of(key []byte) [][]byte {
	for i, kind := range r.kinds {
		r.rows[i] = hashRow(append(append(appendNoHash(r.rows[i][:0]), key...), kind...), 0)
	}
	slices.SortFunc(r.rows, bytes.Compare)
	return r.rows
}

// hot returns the indexes of the hot fields of a kind. New fields of a kind are added at its end, so
// a hot field stays hot.
func hot(k behaviour.Kind) []int {
	var out []int
	for i, f := range k.Fields[:min(len(k.Fields), hotMost)] {
		if f.Name != remarkField {
			out = append(out, i)
		}
	}
	return out
}

// hashedKind has the columns and the members of the remark for the fields of a kind.
type hashedKind struct {
	prefixes [][]byte // of its columns, in order of qualifier
	slots    []int    // for each column, the index in Kind.Fields; marker for REMARK
	members  []member // of the remark
	fields   int
}

func hashedKindOf(k behaviour.Kind) hashedKind {
	h := hashedKind{slots: append(hot(k), marker), fields: len(k.Fields)}
	name := func(slot int) string {
		if slot == marker {
			return remarkField
		}
		return k.Fields[slot].Name
	}
	for i, f := range k.Fields {
		if !slices.Contains(h.slots, i) {
			h.members = append(h.members, memberOf(i, f))
		}
	}
	slices.SortFunc(h.slots, func(a, b int) int { return cmp.Compare(name(a), name(b)) })
	for _, slot := range h.slots {
		h.prefixes = append(h.prefixes, column.AppendPrefix(nil, name(slot)))
	}
	return h
}

// hashedParser parses rows.
type hashedParser struct {
	kinds map[string]int // by name, escaped
	row   []byte
	user  []byte
}

func newHashedParser(s *behaviour.Schema) *hashedParser {
	p := &hashedParser{kinds: map[string]int{}}
	for i, k := range s.Kinds {
		p.kinds[string(appendEscaped(nil, k.Name))] = i
	}
	return p
}

// parse returns the user key in row, and the index of the row's kind. It returns an error for
// every row that AppendRow cannot have made for the schema.
func (p *hashedParser) parse(row []byte) (key []byte, kind int, err error) {
	key = Hashed{}.UserKey(row)
	if key == nil {
		return nil, 0, fmt.Errorf("layout: row %q is not a row of the hashed layout", row)
	}
	if p.user, err = parseUserKey(p.user[:0], key); err != nil {
		return nil, 0, fmt.Errorf("row %q: %w", row, err)
	}
	name := row[hashLen+1+len(key):]
	kind, ok := p.kinds[string(name)]
	if !ok {
		return nil, 0, fmt.Errorf("layout: row %q: no behaviour is called %q", row, name)
	}
	if p.row = hashRow(append(p.row[:0], row...), 0); !bytes.Equal(p.row, row) {
		return nil, 0, fmt.Errorf("layout: row %q: its hash is %s, but of its user and behaviour %s", row, row[:hashLen], p.row[:hashLen])
	}
	return key, kind, nil
}

// dateOfMillis returns the local date of a timestamp.
func dateOfMillis(d *dates, millis int64) (behaviour.Date, error) {
	date := behaviour.MaxDate + 1
	if millis > -maxMillis && millis < maxMillis {
		var err error
		if date, err = d.at(millis * 1000); err != nil {
			return 0, err
		}
	}
	if date < behaviour.MinDate || date > behaviour.MaxDate {
		return 0, fmt.Errorf("layout: timestamp %d is not in the years 1 to 9999", millis)
	}
	return date, nil
}

// maxMillis is later than every date. In microseconds it fits in 64 bits.
const maxMillis = 1 << 49

// Teller implements Layout.
func (Hashed) Teller(s *behaviour.Schema) Teller {
	return &hashedTeller{parser: newHashedParser(s), dates: dates{zone: s.Zone}}
}

type hashedTeller struct {
	parser *hashedParser
	dates  dates
	row    []byte
	kind   int
	ok     bool
}

// Tell implements Teller.
func (t *hashedTeller) Tell(c *cell.Cell) (RecordID, bool) {
	if !bytes.Equal(c.Row, t.row) {
		t.row = append(t.row[:0], c.Row...)
		_, kind, err := t.parser.parse(c.Row)
		t.kind, t.ok = kind, err == nil
	}
	if !t.ok {
		return RecordID{}, false
	}
	_, id, err := column.Parse(c.Qualifier)
	if err != nil {
		return RecordID{}, false
	}
	date, err := dateOfMillis(&t.dates, c.Time)
	return RecordID{Date: date, Kind: t.kind, ID: id}, err == nil
}

// Encoder implements Layout.
func (Hashed) Encoder(s *behaviour.Schema, family string) Encoder {
	e := &hashedEncoder{family: []byte(family)}
	for _, k := range s.Kinds {
		e.kinds = append(e.kinds, hashedKindOf(k))
	}
	return e
}

type hashedEncoder struct {
	family []byte
	kinds  []hashedKind

	kind    int
	records []hashedMoment
	values  [][]byte // the values of the records: for each record one for each of its fields
	c       cell.Cell
	qual    []byte
	remark  []byte
}

type hashedMoment struct {
	moment
	values int // index of the first
}

// Add implements Encoder.
func (e *hashedEncoder) Add(r *behaviour.Record) {
	e.kind = r.Kind
	millis := behaviour.Millis(r.Time)
	m := hashedMoment{moment{r.ID, millis, r.Time - millis*1000}, len(e.values)}
	e.values = append(e.values, r.Values...)
	i := len(e.records)
	for i > 0 && e.records[i-1].id == m.id && e.records[i-1].millis < m.millis {
		i-- // the same ID on an earlier day
	}
	e.records = slices.Insert(e.records, i, m)
}

// Cells implements Encoder. Cells are in order of column, and within a column in order of column ID.
// Cells with the same ID are in order of time, the latest first.
func (e *hashedEncoder) Cells(row []byte, emit func(*cell.Cell) error) error {
	k := &e.kinds[e.kind]
	e.c.Row, e.c.Family, e.c.Type = row, e.family, cell.Put
	for i, slot := range k.slots {
		e.qual = append(e.qual[:0], k.prefixes[i]...)
		n := len(e.qual)
		for j := range e.records {
			m := &e.records[j]
			values := e.values[m.values : m.values+k.fields]
			if slot == marker {
				e.remark = appendRemark(e.remark[:0], k.members, m.micros, values)
				e.c.Value = e.remark
			} else {
				e.c.Value = values[slot]
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

// Decoder implements Layout.
func (Hashed) Decoder(s *behaviour.Schema, q Want) Decoder {
	d := &hashedDecoder{schema: s, want: q, wanted: q.wanted(s), parser: newHashedParser(s), dates: dates{zone: s.Zone}, remarks: newRemarkReader()}
	d.put = d.putMember
	for i, k := range s.Kinds {
		h := hashedKindOf(k)
		h.members = slices.DeleteFunc(h.members, func(m member) bool { return !q.Has(i, m.slot) })
		d.kinds = append(d.kinds, h)
	}
	return d
}

// hashedDecoder makes the records of a row from its cells, which are added column by column.
type hashedDecoder struct {
	schema *behaviour.Schema
	kinds  []hashedKind // members has the requested ones only
	want   Want
	wanted []bool // by kind
	parser *hashedParser
	dates  dates

	rowState
	kind  *hashedKind
	pos   int     // index of the current column in kind.prefixes, -1 before the first
	slot  int     // of the current column
	asked bool    // the query requests the values of the current column
	last  version // of the last cell

	met    []hashedRecord // the records of the row so far
	sorted int            // the number of first records of met that belong to earlier columns, in order
	at     int            // index of the next of these

	remarks *remarkReader
	refs    []trail.Ref // of the event whose remark is read
	put     func(slot int, value []byte) error
}

// A version identifies a record of a row. Cells in a column are in order of version.
type version struct{ id, millis int64 }

func (v version) compare(o version) int {
	if c := cmp.Compare(v.id, o.id); c != 0 {
		return c
	}
	return cmp.Compare(o.millis, v.millis)
}

type hashedRecord struct {
	version
	event uint32 // index in batch.Events
}

// Add implements Decoder.
func (d *hashedDecoder) Add(c *cell.Cell) error {
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
	prefix, v := c.Qualifier[:n], version{int64(binary.BigEndian.Uint64(c.Qualifier[n:])), c.Time}
	same := d.pos >= 0 && bytes.Equal(prefix, d.kind.prefixes[d.pos])
	if same && d.last.compare(v) >= 0 || !same && !d.column(prefix) {
		if !slices.ContainsFunc(d.kind.prefixes, func(p []byte) bool { return bytes.Equal(p, prefix) }) {
			return d.stray(c)
		}
		d.again()
		d.column(prefix)
	}
	d.last = v
	if !d.asked {
		return nil // the remark has the record
	}
	date, err := dateOfMillis(&d.dates, c.Time)
	if err != nil {
		return fmt.Errorf("row %q: qualifier %q: %w", c.Row, c.Qualifier, err)
	}
	if !d.want.Span.Has(date) {
		return nil
	}
	ev, err := d.event(v, date)
	if err != nil {
		return err
	}
	if d.slot == marker {
		return d.remark(ev, c)
	}
	return put(d.batch, &d.batch.Refs[int(ev.Refs)+d.slot], c)
}

// begin starts a row, or decides to skip it.
func (d *hashedDecoder) begin(row []byte) error {
	d.row = append(d.row[:0], row...)
	d.skip = true
	key, kind, err := d.parser.parse(row)
	if err != nil {
		d.row = d.row[:0]
		return ForeignCell(err)
	}
	if !d.wanted[kind] {
		return nil
	}
	user, ok := d.user(key)
	if !ok {
		return nil
	}
	d.skip = false
	d.ev = trail.Event{User: user, Kind: uint16(kind)}
	d.kind = &d.kinds[kind]
	d.again()
	return nil
}

// again begins with the first column. A row may be added again with other records, which come
// from another file.
func (d *hashedDecoder) again() {
	d.pos = -1
	d.met, d.sorted, d.at = d.met[:0], 0, 0
}

// column moves to the column with a prefix.
func (d *hashedDecoder) column(prefix []byte) bool {
	for i := d.pos + 1; i < len(d.kind.prefixes); i++ {
		if bytes.Equal(d.kind.prefixes[i], prefix) {
			d.pos, d.slot, d.at = i, d.kind.slots[i], 0
			d.asked = d.slot == marker || d.want.Has(int(d.ev.Kind), d.slot)
			if d.sorted < len(d.met) {
				slices.SortFunc(d.met, func(a, b hashedRecord) int { return a.compare(b.version) })
				d.sorted = len(d.met)
			}
			return true
		}
	}
	return false
}

// event returns the event of a version. At the first cell of the version it adds the event to
// the batch.
func (d *hashedDecoder) event(v version, date behaviour.Date) (*trail.Event, error) {
	for d.at < d.sorted && d.met[d.at].compare(v) < 0 {
		d.at++
	}
	if d.at < d.sorted && d.met[d.at].version == v {
		return &d.batch.Events[d.met[d.at].event], nil
	}
	ev := d.ev
	ev.Date, ev.ID, ev.Time = int32(date), v.id, v.millis*1000
	var err error
	if ev.Refs, err = d.batch.Nulls(d.kind.fields); err != nil {
		return nil, fmt.Errorf("layout: row %q: %w", d.row, err)
	}
	d.met = append(d.met, hashedRecord{v, uint32(len(d.batch.Events))})
	d.batch.Events = append(d.batch.Events, ev)
	return &d.batch.Events[len(d.batch.Events)-1], nil
}

// remark reads the fields of an event's remark.
func (d *hashedDecoder) remark(ev *trail.Event, c *cell.Cell) error {
	if len(d.kind.members) == 0 {
		micros, ok := remarkMicros(c.Value)
		if !ok {
			return d.damaged(c, fmt.Errorf("%.100q is not a JSON object", c.Value))
		}
		ev.Time = c.Time*1000 + micros
		return nil
	}
	d.refs = d.batch.Refs[ev.Refs:]
	micros, err := d.remarks.read(c.Value, d.kind.members, d.put)
	switch {
	case errors.Is(err, trail.ErrFull):
		return fmt.Errorf("layout: row %q: %w", c.Row, err)
	case err != nil:
		return d.damaged(c, err)
	}
	ev.Time = c.Time*1000 + micros
	return nil
}

func (d *hashedDecoder) putMember(slot int, value []byte) (err error) {
	d.refs[slot], err = d.batch.Put(value)
	return err
}

func (d *hashedDecoder) damaged(c *cell.Cell, err error) error {
	return fmt.Errorf("layout: row %q: qualifier %q: remark of %s: %w", c.Row, c.Qualifier, d.schema.Kinds[d.ev.Kind].Name, err)
}

func (d *hashedDecoder) stray(c *cell.Cell) error {
	return ForeignCell(fmt.Errorf("layout: row %q: qualifier %q is none of %s's columns", c.Row, c.Qualifier, d.schema.Kinds[d.ev.Kind].Name))
}
