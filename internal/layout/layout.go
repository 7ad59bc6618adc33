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
// A Layout may be used by many goroutines; an Encoder or Decoder by one.
package layout

import (
	"fmt"
	"slices"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/trail"
)

// A Layout is one key design.
type Layout interface {
	// Name is what a job or a table calls it.
	Name() string

	// AppendRow appends the row that r belongs to.
	AppendRow(dst []byte, s *behaviour.Schema, r *behaviour.Record) []byte

	// ParseRow returns the date and kind of the records in row. It returns false
	// where no record of s is in such a row.
	ParseRow(s *behaviour.Schema, row []byte) (date behaviour.Date, kind int, ok bool)

	// AppendUserKey appends what a user's rows begin with. Keys of users order
	// them as their rows are ordered; rolls and lists are kept in that order.
	AppendUserKey(dst, user []byte) []byte

	// AppendUser appends the user ID of a user key.
	AppendUser(dst, key []byte) ([]byte, error)

	// UserKeyLen returns how long the user key is that row begins with, 0 if it
	// is not a row of this layout.
	UserKeyLen(row []byte) int

	// AppendStart and AppendStop append the first row that a user can have in
	// the span, and the first that is past it.
	AppendStart(dst, key []byte, span behaviour.Span) []byte
	AppendStop(dst, key []byte, span behaviour.Span) []byte

	// Rows yields, ascending, every row that a user can have of the kinds and
	// days that q asks for, until yield says to stop; it returns whether it did
	// not. Kinds are in order of behaviour ID. A row is valid until yield returns.
	Rows(s *behaviour.Schema, q Want, key []byte, yield func(row []byte) bool) bool

	// ID returns the column ID of the record that c is of.
	ID(c *cell.Cell) (int64, error)

	// Encoder returns what turns records of s into cells of a family.
	Encoder(s *behaviour.Schema, family string) Encoder

	// Decoder returns what turns cells into events of the kinds and days asked.
	Decoder(s *behaviour.Schema, q Want) Decoder

	// Prefixes are the qualifier prefixes that hold the fields that q asks for,
	// and enough to know that a record is there.
	Prefixes(s *behaviour.Schema, q Want) ([][]byte, error)
}

// An Encoder turns the records of one row into cells.
type Encoder interface {
	// Add adds a record of the row, in order of column ID. The bytes of r's
	// values must stay as they are until Cells returns.
	Add(r *behaviour.Record)
	// Cells gives the row's cells in order, and forgets its records. A cell is
	// valid until emit returns.
	Cells(row []byte, emit func(*cell.Cell) error) error
}

// Want is which events are asked for, and what of them.
type Want struct {
	Kinds []int
	Span  behaviour.Span
	// Fields says of each kind of the schema which of its fields are asked for;
	// the others come as null. Nil asks for all.
	Fields [][]bool
}

// Has says whether field i of kind k is asked for.
func (w Want) Has(k, i int) bool { return w.Fields == nil || w.Fields[k][i] }

// A Decoder turns cells into events. Cells of a row come together and in order;
// rows come in any order, and a row may come again with other records.
type Decoder interface {
	// Into says where events go and which users they are of: user returns the
	// batch's name of the user with a key, or false to pass over the row.
	Into(b *trail.Batch, user func(key []byte) (uint32, bool))
	// Add takes one cell. It keeps no reference to c's bytes.
	Add(c *cell.Cell) error
	// Flush ends the last row.
	Flush() error
}

var layouts = []Layout{Reversed{}}

// Default is the layout of a job that names none.
const Default = "reversed"

// ByName returns the layout that a job or table names.
func ByName(name string) (Layout, error) {
	i := slices.IndexFunc(layouts, func(l Layout) bool { return l.Name() == name })
	if i < 0 {
		var names []string
		for _, l := range layouts {
			names = append(names, l.Name())
		}
		return nil, fmt.Errorf("layout %q is not known; there is %s", name, strings.Join(names, ", "))
	}
	return layouts[i], nil
}
