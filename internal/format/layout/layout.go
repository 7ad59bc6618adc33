// Package layout defines the key designs of tables: the row, qualifier and timestamp of a record, the
// rows that a query reads, and the meaning of a cell. No other package knows the form of a key.
//
// A layout is one type in one file. It is used between the values (rowkey,
// column, cell, behaviour) and the packages that move them:
//
//	bulkload   AppendRow returns the row of a record; an Encoder turns the records
//	           of one row into its cells, in order
//	extract    Reads returns the ranges and rows with a user's behaviours; a Decoder
//	           turns cells back into events
//
// Many goroutines may use a Layout at once. Reads, a Teller, an Encoder and a Decoder
// are for one goroutine.
//
// A new layout is a file that registers its type: docs/explanation/layouts.md shows how.
package layout

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/trail"
)

// A Layout is one key design.
type Layout interface {
	// Name returns the name in jobs and tables. ByName accepts it.
	Name() string

	// Traits returns the properties that tables and readers depend on.
	Traits() Traits

	// Fits returns an error if the keys of a record would lose information.
	Fits(s *behaviour.Schema, r *behaviour.Record) error

	// AppendRow appends the row of r. Fits must have returned nil for r.
	AppendRow(dst []byte, s *behaviour.Schema, r *behaviour.Record) []byte

	// AppendUserKey appends a user's key. Rolls and lists are sorted by user keys. If
	// Traits.Together is set, the user's rows begin with the key, and users' rows are in the
	// order of keys.
	AppendUserKey(dst, user []byte) []byte

	// AppendUser appends the user ID of a user key. It returns an error for a key that
	// AppendUserKey cannot have made.
	AppendUser(dst, key []byte) ([]byte, error)

	// UserKey returns the user key in row, as a slice of row, or nil if row is not a row of
	// this layout.
	UserKey(row []byte) []byte

	// Reads returns the rows and columns that hold the behaviours of q.
	Reads(s *behaviour.Schema, q Want) (*Reads, error)

	// Teller returns a Teller for records of s.
	Teller(s *behaviour.Schema) Teller

	// Encoder returns an Encoder that turns records of s into cells of a family.
	Encoder(s *behaviour.Schema, family string) Encoder

	// Decoder returns a Decoder that turns cells into events of q's kinds and days.
	Decoder(s *behaviour.Schema, q Want) Decoder
}

// Reads lists the rows and columns that hold the behaviours of a query.
type Reads struct {
	// Columns select all wanted fields, and at least one cell of every record.
	Columns Columns
	// Ranges yields the ranges that hold a user's rows, in ascending order, until yield
	// returns false. It returns false if yield did. A range is valid until yield returns.
	Ranges func(key []byte, yield func(start, stop []byte) bool) bool
	// Rows yields every row that a user can have, in ascending order. It is nil if the rows
	// cannot be computed.
	Rows func(key []byte, yield func(row []byte) bool) bool
	// Timed means that Ranges and Columns hold almost no cells of other times than the query's.
	Timed bool
	// Fuzzy match rows of all users by bytes at fixed places. It is nil if no bytes have
	// the same place in every row.
	Fuzzy []Fuzzy
}

// Columns select qualifiers: those that begin with one of Prefixes, or all if Prefixes is
// empty. If From or To is not nil, they select only qualifiers from From, included, to To,
// not included.
type Columns struct {
	Prefixes [][]byte
	From, To []byte
}

// Bounded reports whether c has a From or a To.
func (c *Columns) Bounded() bool { return c.From != nil || c.To != nil }

// A Fuzzy matches rows that begin with Row, except that bytes where Any is true may
// differ.
type Fuzzy struct {
	Row []byte
	Any []bool
}

// A Teller finds out which record a cell belongs to, from the cell's row, qualifier and
// timestamp. It is fastest if the cells of a row follow each other.
type Teller interface {
	// Tell returns false for a cell whose row no record of the schema can have. If the row
	// alone has the date and kind, a cell of an unknown column has NoID.
	Tell(c *cell.Cell) (RecordID, bool)
}

// A rowTeller is a Teller that finds out from a row alone which records the row can have.
type rowTeller interface {
	tellRow(row []byte) (RecordID, bool)
}

// TellRow returns the date and kind of the records that a row can have, by the row alone. It is for
// rows whose cells have timestamps or columns that no record of the schema has. It returns false if t
// is no rowTeller, or if the row can have no record. The column ID is NoID.
func TellRow(t Teller, row []byte) (RecordID, bool) {
	r, ok := t.(rowTeller)
	if !ok {
		return RecordID{}, false
	}
	rec, ok := r.tellRow(row)
	rec.ID = NoID
	return rec, ok
}

// TellOwn is Tell for a cell that an Encoder of l made. It returns an error if the cell belongs to no record.
func TellOwn(l Layout, t Teller, c *cell.Cell) (RecordID, error) {
	rec, ok := t.Tell(c)
	if !ok {
		return rec, fmt.Errorf("row %.64q, column %.64q: the layout %s cannot read its own cell", c.Row, c.Qualifier, l.Name())
	}
	return rec, nil
}

// RecordID identifies the record of a user that a cell belongs to.
type RecordID struct {
	Date behaviour.Date
	Kind int   // index in Schema.Kinds
	ID   int64 // column ID
}

// NoID is the column ID that no record has.
const NoID = -1

// An Encoder turns the records of one row into cells.
type Encoder interface {
	// Add adds a record of the row. The caller adds records in order of column ID, and must
	// not change the bytes of r's values until Cells returns.
	Add(r *behaviour.Record)
	// Cells calls emit with the row's cells in order, and drops its records. A cell is
	// valid until emit returns. Without records there are no cells.
	Cells(row []byte, emit func(*cell.Cell) error) error
}

// A Widening is a layout in which every field has a cell of its own. A record of a table gets a value of one
// more field by one more cell. The traits of the layout have AllFields and DayRows.
type Widening interface {
	Layout
	// FieldEncoder returns an Encoder that makes only the cells of values. It makes none of the other cells
	// that show that a record exists.
	FieldEncoder(s *behaviour.Schema, family string) Encoder
}

// Want describes the events that a query wants, and their fields.
type Want struct {
	Kinds []int // in order of behaviour ID
	Span  behaviour.Span
	// Times limits the times within Span; nil is no limit.
	Times *Times
	// Newest limits the query to the latest records of each user, at most this number; 0 is
	// all. It only saves time, in layouts whose Traits have a Newest: more records may be
	// returned.
	Newest int
	// Where has, for each kind of the schema, tests that a wanted record's fields pass. A
	// kind without tests is not wanted. Nil is no test. It only saves time, in layouts with the
	// trait OneRecord: more records may be returned.
	Where [][]behaviour.Test
	// Fields marks, for each kind of the schema, the fields that are wanted. The other fields
	// are null in events. Nil is all fields.
	Fields [][]bool
}

// Times are microseconds since 1970-01-01 UTC, both included.
type Times struct{ First, Last int64 }

// AppendSplitKey appends the key by which a record counts when split points are chosen: its
// user's key if rows begin with user keys, and else its row.
func AppendSplitKey(dst []byte, l Layout, s *behaviour.Schema, r *behaviour.Record) []byte {
	if l.Traits().Together {
		return l.AppendUserKey(dst, r.User)
	}
	return l.AppendRow(dst, s, r)
}

// Everything wants the records of all kinds in a span, whole.
func Everything(s *behaviour.Schema, span behaviour.Span) Want {
	w := Want{Span: span}
	for k := range s.Kinds {
		w.Kinds = append(w.Kinds, k)
	}
	return w
}

// Everyone wants the records of all kinds in a span, and none of their fields.
func Everyone(s *behaviour.Schema, span behaviour.Span) Want {
	w := Want{Span: span}
	for k := range s.Kinds {
		w.Kinds = append(w.Kinds, k)
		w.Fields = append(w.Fields, make([]bool, len(s.Kinds[k].Fields)))
	}
	return w
}

// wanted returns, for each kind of s, whether w wants it.
func (w Want) wanted(s *behaviour.Schema) []bool {
	out := make([]bool, len(s.Kinds))
	for _, k := range w.Kinds {
		out[k] = true
	}
	return out
}

// fields returns, for each kind that w wants, which of its fields are wanted.
func (w Want) fields(s *behaviour.Schema) [][]bool {
	out := make([][]bool, len(s.Kinds))
	for _, k := range w.Kinds {
		out[k] = make([]bool, len(s.Kinds[k].Fields))
		for i := range out[k] {
			out[k][i] = w.Has(k, i)
		}
	}
	return out
}

// Has reports whether field i of kind k is wanted.
func (w Want) Has(k, i int) bool { return w.Fields == nil || w.Fields[k][i] }

// times returns the times that wanted behaviours can have.
func (w Want) times(s *behaviour.Schema) (Times, error) { return TimesOf(w.Span, w.Times, s) }

// TimesOf returns the microseconds of a span's days in the zone of s, limited to bounds if
// bounds is not nil. If none are left, First is greater than Last.
func TimesOf(span behaviour.Span, bounds *Times, s *behaviour.Schema) (t Times, err error) {
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		return t, fmt.Errorf("layout: zone of the table: %w", err)
	}
	t.First, t.Last = span.Micros(zone)
	if bounds != nil {
		t.First, t.Last = max(t.First, bounds.First), min(t.Last, bounds.Last)
	}
	return t, nil
}

// Bounds returns the first row that users from the key first to the key last can have, and
// the first row after all of their rows.
func (r *Reads) Bounds(first, last []byte) (start, stop []byte) {
	r.Ranges(first, func(a, _ []byte) bool {
		start = append([]byte(nil), a...)
		return false
	})
	r.Ranges(last, func(_, b []byte) bool {
		stop = append(stop[:0], b...)
		return true
	})
	return start, stop
}

// A Decoder turns cells into events. The caller adds the cells of a row together and in
// order. Rows may be added in any order, and a row may be added again with other records.
// The events may include some outside the query's Times, or that do not pass its Where.
type Decoder interface {
	// Into sets the batch for events and the function that maps a user key to the user's
	// number in the batch. If user returns false, the row is skipped.
	Into(b *trail.Batch, user func(key []byte) (uint32, bool))
	// Add adds one cell. It keeps no reference to c's bytes. It fails with
	// trail.ErrFull if the batch has no room for the cell, and with ErrForeign if the cell
	// belongs to no record.
	Add(c *cell.Cell) error
	// Flush ends the last row.
	Flush() error
}

// put puts the value of a cell into b.
func put(b *trail.Batch, ref *trail.Ref, c *cell.Cell) (err error) {
	if *ref, err = b.Put(c.Value); err != nil {
		return fmt.Errorf("layout: row %q: %w", c.Row, err)
	}
	return nil
}

// Default is the layout of a job that names none.
const Default = "reversed"

// GroupLen returns a function that returns the length of the prefix that all rows of a user
// share. If a user's rows are not adjacent, it returns the length of the row.
func GroupLen(l Layout) func(row []byte) int {
	if l.Traits().Together {
		return func(row []byte) int { return len(l.UserKey(row)) }
	}
	return func(row []byte) int { return len(row) }
}

// makers has, by name, the functions that make layouts from the sizes after a slash.
var makers = map[string]func(sizes string) (Layout, error){}

// Register registers l under its name. It panics if the name is taken.
func Register(l Layout) bool {
	return RegisterSized(l.Name(), func(sizes string) (Layout, error) {
		if sizes != "" {
			return nil, fmt.Errorf("layout %s has no sizes: write it without %q", l.Name(), "/"+sizes)
		}
		return l, nil
	})
}

// RegisterSized registers layouts called name, or name/SIZES. made makes a layout from
// sizes, which is "" if the name has no slash. It panics if the name is taken.
func RegisterSized(name string, made func(sizes string) (Layout, error)) bool {
	if makers[name] != nil {
		panic("layout " + name + " is registered twice")
	}
	makers[name] = made
	return true
}

// Names returns the names of all layouts, sorted.
func Names() []string { return slices.Sorted(maps.Keys(makers)) }

// ByName returns the layout that a job or table names.
func ByName(name string) (Layout, error) {
	first, sizes, _ := strings.Cut(name, "/")
	made := makers[first]
	if made == nil {
		return nil, fmt.Errorf("layout %q is not known; there is %s", name, strings.Join(Names(), ", "))
	}
	return made(sizes)
}
