// Package layout is the key design of a table: which row, qualifier and
// timestamp a record has, which rows answer a question, and what a cell means.
// Nothing else knows how a key looks.
//
// A layout is one type in one file. It stands between the values (rowkey,
// column, cell, behaviour) and everything that moves them:
//
//	bulkload   Row puts a record where it belongs; an Encoder turns the records
//	           of one row into its cells, in order
//	extract    Start, Stop and Rows say where a user's behaviours are; a Decoder
//	           turns cells back into events
//
// A Layout may be used by many goroutines; Reads, a Teller, an Encoder or a Decoder by
// one.
//
// A new layout is a file that registers its type: docs/layouts.md shows how.
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
	// Name is what a job or a table calls it; ByName takes it.
	Name() string

	// Traits are what tables and readers need to know of it.
	Traits() Traits

	// Fits reports why a record cannot be laid out, whose keys would lose something.
	Fits(s *behaviour.Schema, r *behaviour.Record) error

	// AppendRow appends the row that r, which fits, belongs to.
	AppendRow(dst []byte, s *behaviour.Schema, r *behaviour.Record) []byte

	// AppendUserKey appends a user's key. Rolls and lists are kept in the order of
	// keys; where a user's rows lie together they begin with it, and are in that order.
	AppendUserKey(dst, user []byte) []byte

	// AppendUser appends the user ID of a user key.
	AppendUser(dst, key []byte) ([]byte, error)

	// UserKey returns the user key that is in row, as a part of it; nil if it is not a
	// row of this layout.
	UserKey(row []byte) []byte

	// Reads says where the behaviours are that q asks for.
	Reads(s *behaviour.Schema, q Want) (*Reads, error)

	// Teller returns what tells cells of records of s.
	Teller(s *behaviour.Schema) Teller

	// Encoder returns what turns records of s into cells of a family.
	Encoder(s *behaviour.Schema, family string) Encoder

	// Decoder returns what turns cells into events of the kinds and days asked.
	Decoder(s *behaviour.Schema, q Want) Decoder
}

// Traits are what differs from layout to layout in how a table is made, cut and read.
type Traits struct {
	// Together says that a user's rows lie side by side, and begin with the user key.
	Together bool
	// Told says that a row has records of one date and kind, which the row alone tells.
	Told bool
	// ByField says that fields have cells of their own, so that reading few of them
	// costs less than reading all.
	ByField bool
	// OneRecord says that a row is one record, and that each of its fields that is not null
	// has a column of the field's name, whose value is as package behaviour encodes it.
	OneRecord bool
	// Newest says what of a user comes in order of time, the latest first.
	Newest Newest
	// Versions is how many versions of a column must be kept; 0 is one.
	Versions int
	// TTL is how long rows are kept where a job does not say; 0 is for ever.
	TTL time.Duration
	// Splits are the split points that suit the layout whoever the users are; nil where
	// the users decide.
	Splits func(regions int) [][]byte
}

// Newest is what comes in order of time.
type Newest int

// One row, or one column of a user's one row, is a record then.
const (
	NotNewest Newest = iota
	NewestRows
	NewestColumns
)

// Reads says where the behaviours of a question are.
type Reads struct {
	// Columns hold all fields that are asked for, and enough to know of each record that
	// it is there.
	Columns Columns
	// Ranges yields, ascending, the ranges of rows in which a user's are, until yield says
	// to stop; it returns whether it did not. A range is valid until yield returns.
	Ranges func(key []byte, yield func(start, stop []byte) bool) bool
	// Rows yields, ascending, every row that a user can have. It is nil where a user can
	// have more rows than can be told.
	Rows func(key []byte, yield func(row []byte) bool) bool
	// Timed says that Ranges and Columns hold next to nothing of other times than are
	// asked for.
	Timed bool
	// Fuzzy match the rows of all users alike, each in some bytes; nil where no bytes have
	// the same place in every row.
	Fuzzy []Fuzzy
}

// Columns are qualifiers to ask for: all that begin with one of Prefixes, or all if
// there are none, and of these only those from From on and before To, where they are
// not nil.
type Columns struct {
	Prefixes [][]byte
	From, To []byte
}

// Bounded says whether they are asked for from one, or up to another.
func (c *Columns) Bounded() bool { return c.From != nil || c.To != nil }

// A Fuzzy matches rows that begin with Row, but for the bytes where Any is true.
type Fuzzy struct {
	Row []byte
	Any []bool
}

// A Teller tells which records cells are of. It looks at a cell's row, qualifier and
// timestamp alone, and is fastest where the cells of a row come together.
type Teller interface {
	// Tell returns false for a cell in a row that no record of the schema has. Where the
	// row alone tells, a strange column is one of NoID.
	Tell(c *cell.Cell) (Told, bool)
}

// Told is which record of a user a cell is of.
type Told struct {
	Date behaviour.Date
	Kind int   // index in Schema.Kinds
	ID   int64 // column ID
}

// NoID is the column ID that no record has.
const NoID = -1

// An Encoder turns the records of one row into cells.
type Encoder interface {
	// Add adds a record of the row. They come in order of column ID. The bytes of r's
	// values must stay as they are until Cells returns.
	Add(r *behaviour.Record)
	// Cells gives the row's cells in order, and forgets its records. A cell is
	// valid until emit returns.
	Cells(row []byte, emit func(*cell.Cell) error) error
}

// Want is which events are asked for, and what of them.
type Want struct {
	Kinds []int // in order of behaviour ID
	Span  behaviour.Span
	// Times bounds the time more closely than Span; nil does not.
	Times *Times
	// Newest asks for no more of a user than this many records, the latest; 0 is all. It
	// is for layouts whose Traits say what comes newest, and more may come out.
	Newest int
	// Where says of each kind of the schema what fields that are asked for must be; of a kind
	// of which it says nothing no record is asked for. Nil asks for all. It is for layouts
	// whose Traits say OneRecord, and more may come out.
	Where [][]behaviour.Test
	// Fields says of each kind of the schema which of its fields are asked for;
	// the others come as null. Nil asks for all.
	Fields [][]bool
}

// Times are microseconds since 1970-01-01 UTC, both included.
type Times struct{ First, Last int64 }

// AppendSplitKey appends what a table of l is cut by for a record: its user's key where rows
// begin with that, and its row where they do not.
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

// wanted says of each kind of s whether w asks for it.
func (w Want) wanted(s *behaviour.Schema) []bool {
	out := make([]bool, len(s.Kinds))
	for _, k := range w.Kinds {
		out[k] = true
	}
	return out
}

// fields says of each kind that w asks for which fields are.
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

// Has says whether field i of kind k is asked for.
func (w Want) Has(k, i int) bool { return w.Fields == nil || w.Fields[k][i] }

// times are the microseconds at which behaviours can be that w asks for.
func (w Want) times(s *behaviour.Schema) (Times, error) { return TimesOf(w.Span, w.Times, s) }

// TimesOf are the microseconds of a span's days in the zone of s, and within bounds, if
// there are any. Where there are none, First comes after Last.
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

// Bounds are the first row that users from the key first to the key last can have, and
// the first that is past theirs.
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

// A Decoder turns cells into events. Cells of a row come together and in order;
// rows come in any order, and a row may come again with other records. What is out of
// a question's Times, or not what its Where asks for, may come out all the same.
type Decoder interface {
	// Into says where events go and which users they are of: user returns the
	// batch's name of the user with a key, or false to pass over the row.
	Into(b *trail.Batch, user func(key []byte) (uint32, bool))
	// Add takes one cell. It keeps no reference to c's bytes. It fails with
	// trail.ErrFull where the batch cannot take the cell.
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

// GroupLen returns what says how many bytes at a row's beginning all rows of a user have
// in common; of layouts in which these do not lie together, all bytes of the row.
func GroupLen(l Layout) func(row []byte) int {
	if l.Traits().Together {
		return func(row []byte) int { return len(l.UserKey(row)) }
	}
	return func(row []byte) int { return len(row) }
}

// makers make the layouts of a name, of what follows a slash behind it.
var makers = map[string]func(sizes string) (Layout, error){}

// Register makes l known by its name.
func Register(l Layout) bool {
	return RegisterSized(l.Name(), func(sizes string) (Layout, error) {
		if sizes != "" {
			return nil, fmt.Errorf("layout %s has no sizes: write it without %q", l.Name(), "/"+sizes)
		}
		return l, nil
	})
}

// RegisterSized makes layouts known that are called name, or name/SIZES: made of
// sizes, which are empty where none are given.
func RegisterSized(name string, made func(sizes string) (Layout, error)) bool {
	if makers[name] != nil {
		panic("layout " + name + " is registered twice")
	}
	makers[name] = made
	return true
}

// Names are those of all layouts.
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
