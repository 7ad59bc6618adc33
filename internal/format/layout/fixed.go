package layout

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/rowkey"
)

// Fixed has one row for each event. Each part of a row has a fixed length:
//
//	row        user , date , record ID _ behaviour ID _ column ID    00004220130401523456_00003_0000000000000000042
//	qualifier  field
//	timestamp  the behaviour's time in milliseconds
//	value      the field's value, as package behaviour encodes it; null is no cell
//
// The user ID is a number of at most six digits, padded with zeros; fixed/8 has
// eight. The date has eight digits. The record ID has six digits: the time since the date
// began in the schema's zone, in tenths of a second. A marker, as in Reversed, keeps the
// microseconds that the timestamp would lose.
//
// The published design has three faults that this layout avoids. Its rows end in the record
// ID, a number from the file, so it keeps only one of two records with equal numbers from
// two files; here behaviour ID and column ID separate all events of a tenth of a second. It
// confuses the users "42" and "000042"; here an ID that begins with a zero does not fit. Its
// stop row, user and last day, excludes the last day.
//
// A user and span are one range: start and stop row. The bytes of the date have the same
// place in every row, so for a span without users the server skips rows. A user's rows
// are in order of time, except on days on which the clock goes back. The rows of a user
// cannot be computed. Servers can test fields by their columns, as in Game.
type Fixed struct {
	digits int // of a user
}

var _ = RegisterSized("fixed", newFixed)

const (
	userDigits   = 6 // where no size is given
	dateDigits   = 8
	recordDigits = 6
	kindDigits   = 5

	// fixedTail is the length of a row after the user.
	fixedTail = dateDigits + recordDigits + 1 + kindDigits + 1 + idDigits

	tenth     = 100_000 // microseconds
	maxTenths = 999_999

	// maxFuzzy is the largest number of days for which the server skips rows. It compares each day
	// with each row.
	maxFuzzy = 1000
)

func newFixed(sizes string) (Layout, error) {
	if sizes == "" {
		return Fixed{digits: userDigits}, nil
	}
	n, err := strconv.Atoi(sizes)
	if err != nil || n < 1 || n > 18 || strconv.Itoa(n) != sizes {
		return nil, fmt.Errorf("layout fixed/%s: after the slash, the number of digits of a user is expected, 1 to 18, such as fixed/8", sizes)
	}
	return Fixed{digits: n}, nil
}

// Name implements Layout.
func (l Fixed) Name() string {
	if l.digits == userDigits {
		return "fixed"
	}
	return "fixed/" + strconv.Itoa(l.digits)
}

// Traits implements Layout.
func (Fixed) Traits() Traits {
	return Traits{
		Together: true, DayRows: true, OneRecord: true,
		Row: RowParts{Kind: true, Date: true, Second: true, ID: true}, FieldCells: AllFields, MicrosCell: true,
		Ranges: Limits{Dates: true, Times: true},
	}
}

// Fits implements Layout.
func (l Fixed) Fits(s *behaviour.Schema, r *behaviour.Record) error {
	if err := l.fitsUser(r.User); err != nil {
		return err
	}
	if r.Date < behaviour.MinDate || r.Date > behaviour.MaxDate {
		return fmt.Errorf("date %s is not in the years 1 to 9999, which a row of the layout %s can tell", r.Date, l.Name())
	}
	c, err := calendarOf(s)
	if err != nil {
		return err
	}
	if n := c.tenths(r.Time, r.Date); n < 0 || n > maxTenths {
		return fmt.Errorf("time %s is %d tenths of a second after %s began in %s: the layout %s has room for 0 to %d",
			time.UnixMicro(r.Time).UTC().Format(time.RFC3339Nano), n, r.Date, s.Zone, l.Name(), maxTenths)
	}
	return nil
}

// A UserError is the error of Fits for a user ID that another pattern in the job would make fit.
type UserError struct {
	why  string
	step string // in the job
}

// Error implements error.
func (e *UserError) Error() string { return e.why + ": " + e.step + ", or choose another layout" }

// WithoutJob returns the error for a command that reads no job, but a table.
func (e *UserError) WithoutJob() error {
	return fmt.Errorf("%s: choose another layout, or load the logs into a new table and %s", e.why, e.step)
}

func (l Fixed) fitsUser(user []byte) error {
	_, number := parseDigits(user)
	switch {
	case !number || len(user) == 0:
		return &UserError{fmt.Sprintf("user ID %q is not a number of at most %d digits, as the layout %s needs", user, l.digits, l.Name()), "extract the number with the job's user pattern"}
	case len(user) > 1 && user[0] == '0':
		return &UserError{fmt.Sprintf("user ID %q begins with a zero, and the layout %s would take it for another user", user, l.Name()), "remove the zeros with the job's user pattern"}
	case len(user) > l.digits && len(user) <= 18:
		return fmt.Errorf("user ID %q has %d digits, the layout %s has room for %d: write fixed/%d, or more if a longer ID is in the logs", user, len(user), l.Name(), l.digits, len(user))
	case len(user) > l.digits:
		return fmt.Errorf("user ID %q has %d digits, the layout %s has room for %d: choose another layout", user, len(user), l.Name(), l.digits)
	}
	return nil
}

// calendars has the calendars of schemas' zones, by name. A row is decoded with the time at
// which its day began.
var calendars sync.Map

func calendarOf(s *behaviour.Schema) (*calendar, error) {
	if c, ok := calendars.Load(s.Zone); ok {
		return c.(*calendar), nil
	}
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		return nil, fmt.Errorf("zone of the table: %w", err)
	}
	c, _ := calendars.LoadOrStore(s.Zone, &calendar{zone: zone})
	return c.(*calendar), nil
}

// A calendar returns when the days of a zone begin. It remembers days, because records of one day are
// decoded together. Many goroutines may use it.
type calendar struct {
	zone *time.Location
	days [64]atomic.Pointer[begun] // by the date's last bits
}

type begun struct {
	date   behaviour.Date
	micros int64 // when the day began
}

// tenths returns the time since the beginning of a date, in tenths of a second, rounded down.
func (c *calendar) tenths(micros int64, d behaviour.Date) int64 {
	at := &c.days[int(d)&(len(c.days)-1)]
	day := at.Load()
	if day == nil || day.date != d {
		day = &begun{d, d.Start(c.zone).UnixMicro()}
		at.Store(day)
	}
	n := micros - day.micros
	if n < 0 {
		n -= tenth - 1
	}
	return n / tenth
}

// AppendRow implements Layout.
func (l Fixed) AppendRow(dst []byte, s *behaviour.Schema, r *behaviour.Record) []byte {
	n := int64(0)
	if c, err := calendarOf(s); err == nil { // as it is, since r fits
		n = c.tenths(r.Time, r.Date)
	}
	dst = rowkey.AppendDate(l.AppendUserKey(dst, r.User), r.Date)
	dst = append(appendDigits(dst, uint64(n), recordDigits), sep)
	dst = append(appendDigits(dst, uint64(s.Kinds[r.Kind].ID), kindDigits), sep)
	return appendDigits(dst, uint64(r.ID), idDigits)
}

// foreignUser begins the key of a user that cannot have rows. It sorts after all digits.
const foreignUser = '~'

// AppendUserKey implements Layout. A user whose ID does not fit has a key, too. No row begins with it.
func (l Fixed) AppendUserKey(dst, user []byte) []byte {
	if l.fitsUser(user) != nil {
		return appendUserKey(append(dst, foreignUser), user)
	}
	for range l.digits - len(user) {
		dst = append(dst, '0')
	}
	return append(dst, user...)
}

// AppendUser implements Layout.
func (l Fixed) AppendUser(dst, key []byte) ([]byte, error) {
	if len(key) > 0 && key[0] == foreignUser {
		at := len(dst)
		dst, err := parseUserKey(dst, key[1:])
		if err != nil {
			return nil, err
		}
		if l.fitsUser(dst[at:]) == nil {
			return nil, fmt.Errorf("layout: %q is not a user key of the layout %s: the user has rows", key, l.Name())
		}
		return dst, nil
	}
	if !l.isKey(key) {
		return nil, fmt.Errorf("layout: %q is not a user key of the layout %s: %d digits", key, l.Name(), l.digits)
	}
	n := 0
	for n < len(key)-1 && key[n] == '0' {
		n++
	}
	return append(dst, key[n:]...), nil
}

// isKey reports whether rows can begin with key.
func (l Fixed) isKey(key []byte) bool {
	_, ok := parseDigits(key)
	return ok && len(key) == l.digits
}

// UserKey implements Layout.
func (l Fixed) UserKey(row []byte) []byte {
	if key, _ := l.cut(row); key != nil {
		return key
	}
	return nil
}

// cut divides a row into the user key and the rest. The key is nil if row is no row of the layout.
func (l Fixed) cut(row []byte) (key, rest []byte) {
	n := l.digits
	if len(row) != n+fixedTail || !l.isKey(row[:n]) || row[n+dateDigits+recordDigits] != sep || row[len(row)-idDigits-1] != sep {
		return nil, nil
	}
	return row[:n:n], row[n:]
}

// Reads implements Layout. A user's rows are one range. An ID that this layout cannot store
// gets an empty range at its key, so that ranges of its neighbours stay bounded.
func (l Fixed) Reads(s *behaviour.Schema, q Want) (*Reads, error) {
	first, last, err := fixedBounds(s, q)
	if err != nil {
		return nil, err
	}
	var start, stop []byte
	return &Reads{
		Timed:   true,
		Columns: Columns{Prefixes: plainPrefixes(s, q)},
		Ranges: func(key []byte, yield func(start, stop []byte) bool) bool {
			if first == nil {
				return true
			}
			start, stop = append(start[:0], key...), append(stop[:0], key...)
			if !l.isKey(key) {
				return yield(start, append(stop, 0))
			}
			start, stop = append(start, first...), append(stop, last...)
			return yield(start, stop)
		},
		Fuzzy: l.fuzzy(q.Span),
	}, nil
}

// fixedBounds returns the parts after the user of the first and the last row of a query. They are
// nil if the query can have no rows.
func fixedBounds(s *behaviour.Schema, q Want) (first, last []byte, err error) {
	times, err := q.times(s)
	if err != nil {
		return nil, nil, err
	}
	c, err := calendarOf(s)
	if err != nil {
		return nil, nil, fmt.Errorf("layout: %w", err)
	}
	// If the clock goes back over midnight, the times of two days alternate.
	from, to := behaviour.DateAt(times.First, c.zone), behaviour.DateAt(times.Last, c.zone)
	if (from - 1).End(c.zone).UnixMicro() > times.First {
		from--
	}
	if (to + 1).Start(c.zone).UnixMicro() <= times.Last {
		to++
	}
	from, to = max(from, q.Span.From, behaviour.MinDate), min(to, q.Span.To, behaviour.MaxDate)
	if times.First > times.Last || from > to {
		return nil, nil, nil
	}
	first = rowkey.AppendDate(nil, from)
	if n := c.tenths(times.First, from); n > 0 && n <= maxTenths {
		first = appendDigits(first, uint64(n), recordDigits)
	}
	last = rowkey.AppendDate(nil, to)
	if n := c.tenths(times.Last, to); n >= 0 && n <= maxTenths {
		return first, append(appendDigits(last, uint64(n), recordDigits), sep+1), nil
	}
	return first, append(last, '9'+1), nil
}

// fuzzy returns patterns that match the rows of each day of a span, nil if there are too many days.
func (l Fixed) fuzzy(span behaviour.Span) []Fuzzy {
	from, to := max(span.From, behaviour.MinDate), min(span.To, behaviour.MaxDate)
	if from > to || int(to-from) >= maxFuzzy {
		return nil
	}
	out := make([]Fuzzy, 0, to-from+1)
	for d := from; d <= to; d++ {
		f := Fuzzy{Row: rowkey.AppendDate(appendDigits(nil, 0, l.digits), d), Any: make([]bool, l.digits+dateDigits)}
		for i := range l.digits {
			f.Any[i] = true
		}
		out = append(out, f)
	}
	return out
}

// parser reads rows of records of s.
func (l Fixed) parser(s *behaviour.Schema) rowParser {
	errNot := fmt.Errorf("not a row of the layout %s: user, date, record_behaviour_ID", l.Name())
	return func(row []byte) (oneRow, error) {
		key, rest := l.cut(row)
		if key == nil {
			return oneRow{}, errNot
		}
		const behind = dateDigits + recordDigits + 1
		ymd, ok1 := parseDigits(rest[:dateDigits])
		_, ok2 := parseDigits(rest[dateDigits : behind-1])
		number, ok3 := parseDigits(rest[behind : behind+kindDigits])
		id, ok4 := parseID(rest[behind+kindDigits+1:])
		date, ok5 := dateOf(ymd/10000, ymd/100%100, ymd%100)
		if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || number > behaviour.MaxID {
			return oneRow{}, errNot
		}
		kind, ok := s.KindByID(uint16(number))
		if !ok {
			return oneRow{}, fmt.Errorf("no behaviour has the ID %d", number)
		}
		return oneRow{key: key, kind: kind, date: date, id: id}.anyTime(), nil
	}
}

// Teller implements Layout.
func (l Fixed) Teller(s *behaviour.Schema) Teller {
	return &oneRecordTeller{parse: l.parser(s), plains: plainsOf(s), user: l.AppendUser}
}

// Encoder implements Layout.
func (Fixed) Encoder(s *behaviour.Schema, family string) Encoder {
	return newOneRecordEncoder(s, family)
}

// FieldEncoder implements Widening.
func (Fixed) FieldEncoder(s *behaviour.Schema, family string) Encoder {
	return newOneRecordFields(s, family)
}

// Decoder implements Layout.
func (l Fixed) Decoder(s *behaviour.Schema, q Want) Decoder {
	return newOneRecordDecoder(s, q, l.parser(s))
}
