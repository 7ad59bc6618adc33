package layout

import (
	"math"
	"strings"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/column"
)

// Traits are the properties of a layout that matter when a table is made, cut, read, and when
// the cost of a read is estimated. The suite of this package probes every layout for them.
type Traits struct {
	// Together means that a user's rows are adjacent and begin with the user key.
	Together bool
	// DayRows means that the records of a row have one date and kind, and that the row key has
	// both.
	DayRows bool
	// Row lists the parts of a record that its row key has, in addition to the user.
	Row RowParts
	// OneRecord means that a row is one record, and that each field that is not null is a
	// column with the field's name. Package behaviour encodes its value.
	OneRecord bool
	// Newest states whether a user's rows or columns are in order of time, the latest first.
	Newest Newest

	// FieldCells is how many fields of a kind, the first ones, have cells of their own if
	// they are not null. Reading few fields then costs less than reading all. 0 means that a
	// record is one cell; AllFields means all fields.
	FieldCells int
	// Packed is the name of a field that has no cell of its own anyway; empty if there is no
	// such name.
	Packed string
	// Marked means that every record has one cell in addition to the cells of its fields.
	// Without it, the cell of the first field, or a column.Marker in its place, shows that the
	// record exists.
	Marked bool
	// MicrosCell means that a record has one cell more if its time is not a whole number of
	// milliseconds and its first field is not null.
	MicrosCell bool
	// KindColumns means that the qualifiers of a kind's cells begin with the kind's name.
	KindColumns bool

	// Ranges are the limits of a Want that narrow the Ranges of Reads, or its Columns.From and
	// Columns.To. A scan also reads the rows and columns beyond every other limit.
	Ranges Limits

	// Versions is how many versions of a column must be kept; 0 is one.
	Versions int
	// TTL is the time for which rows are kept if a job does not set it; 0 is no limit.
	TTL time.Duration
	// Splits returns split points that suit the layout whatever the users are. It is nil if
	// split points depend on the users.
	Splits func(regions int) [][]byte
}

// AllFields is the FieldCells of a layout in which every field has a cell of its own.
const AllFields = math.MaxInt

// RowParts are parts of a record. If two records of a user differ in such a part, they have
// different rows.
type RowParts struct {
	Kind   bool
	Date   bool
	Second bool // the time in whole seconds; includes Date
	ID     bool // the column ID: each record has a row of its own
}

// Limits are limits of a Want.
type Limits struct {
	Kinds bool // Want.Kinds
	Dates bool // Want.Span
	Times bool // Want.Times
}

// A Newest names the rows or columns that are in order of time.
type Newest int

// The values of Newest. With NewestRows a row is one record; with NewestColumns a user has
// one row, and a column is one record.
const (
	NotNewest Newest = iota
	NewestRows
	NewestColumns
)

// OwnCells returns, for each field of k, whether it has a cell in addition to the cell that
// shows that the record exists.
func (t *Traits) OwnCells(k *behaviour.Kind) []bool {
	out := make([]bool, len(k.Fields))
	for i, f := range k.Fields {
		out[i] = i < t.FieldCells && (t.Marked || i > 0) && f.Name != t.Packed
	}
	return out
}

// ColumnsTellKinds reports whether the columns of a query for the first kind of s are fewer than
// the columns of a query for all its kinds. Both queries read no fields.
func (t *Traits) ColumnsTellKinds(s *behaviour.Schema) bool {
	if t.KindColumns || t.FieldCells == 0 || t.Marked {
		return t.KindColumns && len(s.Kinds) > 1
	}
	read := []string{column.Marker, firstField(&s.Kinds[0])}
	for k := range s.Kinds {
		if f := firstField(&s.Kinds[k]); !t.hasColumn(read, f) {
			return true
		}
	}
	return false
}

// firstField returns the field whose cell shows that a record of k exists.
func firstField(k *behaviour.Kind) string {
	if len(k.Fields) == 0 {
		return column.Marker
	}
	return k.Fields[0].Name
}

// hasColumn reports whether a query that reads some fields reads the cells of another one, too.
// The names of OneRecord are prefixes of qualifiers.
func (t *Traits) hasColumn(read []string, field string) bool {
	for _, r := range read {
		if r == field || t.OneRecord && strings.HasPrefix(field, r) {
			return true
		}
	}
	return false
}
