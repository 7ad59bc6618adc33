package trailfile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"usertrail/internal/behaviour"
)

// A Column is one column of a trail file.
type Column struct {
	Name     string
	Type     behaviour.Type
	Nullable bool
	Local    bool     // a timestamp is the local time of a zone, not an instant
	Names    []string // the possible strings of a column with few strings; a row holds an index of them; nil for any other column
}

// A Schema is the list of columns of a trail file, in order. The first column is user_id, a
// string.
type Schema struct {
	Columns []Column
	// Order is the index of the column of times by which a user's rows are sorted. It is 0 if
	// each user has one row.
	Order int
}

// UserColumn is the name of every file's first column.
const UserColumn = "user_id"

// Names of columns in a result with one row per event.
const (
	DateColumn      = "date"
	TimeColumn      = "time"
	BehaviourColumn = "behaviour"
	IDColumn        = "id"
)

// The columns of local times, in a result with one row per event. Schema.WithLocal adds them.
const (
	LocalColumn  = "local_time"
	OffsetColumn = "utc_offset" // of the local time, such as +08:00
)

// Long returns the schema with one row for each event. kinds are the names of the possible
// behaviours. steps is the number of steps of the query's sequence.
func Long(kinds []string, steps int, fields []behaviour.Field) Schema {
	s := Schema{Order: 2, Columns: []Column{
		{Name: UserColumn, Type: behaviour.String},
		{Name: DateColumn, Type: behaviour.Day},
		{Name: TimeColumn, Type: behaviour.Timestamp},
		{Name: BehaviourColumn, Type: behaviour.String, Names: append([]string{}, kinds...)},
		{Name: IDColumn, Type: behaviour.Int64},
	}}
	s.Columns = appendSteps(s.Columns, steps)
	for _, f := range fields {
		s.Columns = append(s.Columns, Column{Name: f.Name, Type: f.Type, Nullable: true})
	}
	return s
}

// WithLocal returns s, a schema of Long, with the columns of local times after the ID.
func (s Schema) WithLocal() Schema {
	at := s.Index(IDColumn) + 1
	s.Columns = slices.Insert(slices.Clone(s.Columns), at,
		Column{Name: LocalColumn, Type: behaviour.Timestamp, Local: true},
		Column{Name: OffsetColumn, Type: behaviour.String})
	return s
}

// The columns of a wide row for one behaviour. The name of a column is the name of the behaviour, an
// underscore and one of these.
const (
	WideCount = "count"
	WideFirst = "first"
	WideLast  = "last"
	WideDays  = "days"
)

// The columns of local times in a wide row, for one behaviour. They follow the others.
const (
	WideFirstLocal = "first_local"
	WideLastLocal  = "last_local"
)

// WideColumns lists all columns of a wide row for one behaviour, in their order, without the local times.
var WideColumns = []string{WideCount, WideFirst, WideLast, WideDays}

// wideOrder lists all columns of a wide row for one behaviour, in their order.
var wideOrder = append(slices.Clone(WideColumns), WideFirstLocal, WideLastLocal)

// WithLocalWide returns some of WideColumns, with the local times of those that are times.
func WithLocalWide(columns []string) []string {
	out := slices.Clone(columns)
	if slices.Contains(columns, WideFirst) {
		out = append(out, WideFirstLocal)
	}
	if slices.Contains(columns, WideLast) {
		out = append(out, WideLastLocal)
	}
	return out
}

// IsLocal reports whether a column of a result with local times is one of local times.
func (s Shape) IsLocal(name string) bool {
	if s == WideShape {
		return strings.HasSuffix(name, "_"+WideFirstLocal) || strings.HasSuffix(name, "_"+WideLastLocal)
	}
	return name == LocalColumn
}

// wideColumn returns the column of a behaviour.
func wideColumn(kind, column string) Column {
	c := Column{Name: kind + "_" + column, Type: behaviour.Int64}
	switch column {
	case WideFirst, WideLast:
		c.Type, c.Nullable = behaviour.Timestamp, true
	case WideFirstLocal, WideLastLocal:
		c.Type, c.Nullable, c.Local = behaviour.Timestamp, true, true
	}
	return c
}

// Wide returns the schema with one row for each user: the given columns for each behaviour, in order, and
// then the steps.
func Wide(kinds, columns []string, steps int) Schema {
	s := Schema{Columns: []Column{{Name: UserColumn, Type: behaviour.String}}}
	for _, k := range kinds {
		for _, c := range columns {
			s.Columns = append(s.Columns, wideColumn(k, c))
		}
	}
	s.Columns = appendSteps(s.Columns, steps)
	return s
}

func appendSteps(c []Column, steps int) []Column {
	for i := range steps {
		c = append(c, Column{Name: StepColumn(i), Type: behaviour.Timestamp})
	}
	return c
}

// StepColumn returns the name of the column with the time of step i, counted from 0.
func StepColumn(i int) string { return "step_" + strconv.Itoa(i+1) }

// Without returns s without the column called name.
func (s Schema) Without(name string) Schema {
	at := s.Index(name)
	if at < 0 {
		return s
	}
	out := Schema{Columns: slices.Delete(slices.Clone(s.Columns), at, at+1), Order: s.Order}
	if at < s.Order {
		out.Order--
	}
	return out
}

// Index returns the index of the column called name, or -1.
func (s Schema) Index(name string) int {
	return slices.IndexFunc(s.Columns, func(c Column) bool { return c.Name == name })
}

// A Shape is the meaning of a row in a trail file: an event or a user.
type Shape string

// The shapes.
const (
	LongShape Shape = "long" // one row for each event
	WideShape Shape = "wide" // one row for each user
)

// ShapeOf determines the shape of a file by the names of its columns. ok is false for a file
// without trails. The column that partitions a long result is not in its files.
func ShapeOf(names []string) (s Shape, ok bool) {
	if len(names) == 0 || names[0] != UserColumn {
		return "", false
	}
	if wideNames(names[1:]) {
		return WideShape, true
	}
	long := behaviour.Reserved
	for _, gone := range []string{"", DateColumn, BehaviourColumn} {
		want := slices.DeleteFunc(slices.Clone(long), func(name string) bool { return name == gone })
		if len(names) >= len(want) && slices.Equal(names[:len(want)], want) {
			return LongShape, true
		}
	}
	return "", false
}

// wideNames reports whether names are the columns of behaviours in wide rows, and perhaps of steps.
func wideNames(names []string) bool {
	if len(names) == 0 {
		return false
	}
	at := strings.LastIndexByte(names[0], '_')
	if at < 0 {
		return false
	}
	var columns []string // of the first behaviour, and so of each
	for _, c := range wideOrder {
		if len(columns) < len(names) && names[len(columns)] == names[0][:at]+"_"+c {
			columns = append(columns, c)
		}
	}
	return len(columns) > 0 && blocksOf(names, columns)
}

// blocksOf reports whether names are the given columns of some behaviours, and then of steps.
func blocksOf(names, columns []string) bool {
	for len(names) > 0 && names[0] != StepColumn(0) {
		kind, ok := strings.CutSuffix(names[0], "_"+columns[0])
		if !ok || len(names) < len(columns) {
			return false
		}
		for i, c := range columns {
			if names[i] != kind+"_"+c {
				return false
			}
		}
		names = names[len(columns):]
	}
	for i, name := range names {
		if name != StepColumn(i) {
			return false
		}
	}
	return true
}

// SchemaVersion is the value of the key trail.version in a file's metadata. It changes if a
// column that every trail has changes its name, type or meaning.
const SchemaVersion = "1"

// VersionKey is the name of this key.
const VersionKey = "trail.version"

// createdBy is the writer's name in the footer. Readers distrust the statistics of writers
// that are known to have written wrong ones.
const createdBy = "usertrail version " + SchemaVersion

// Validate returns an error if s cannot be the schema of a file.
func (s Schema) Validate() error {
	if len(s.Columns) == 0 || s.Columns[0].Name != UserColumn || s.Columns[0].Type != behaviour.String || s.Columns[0].Nullable {
		return fmt.Errorf("trailfile: the first column is not %s", UserColumn)
	}
	if s.Order < 0 || s.Order >= len(s.Columns) || s.Order > 0 && (s.Columns[s.Order].Type != behaviour.Timestamp || s.Columns[s.Order].Nullable) {
		return fmt.Errorf("trailfile: rows cannot be sorted by column %d", s.Order)
	}
	seen := map[string]bool{}
	for _, c := range s.Columns {
		switch {
		case seen[c.Name] && slices.Contains(behaviour.Reserved, c.Name):
			return fmt.Errorf("trailfile: field %s: every trail has a column of that name", c.Name)
		case seen[c.Name]:
			return fmt.Errorf("trailfile: column %s occurs twice", c.Name)
		case c.Name == "" || !utf8.ValidString(c.Name):
			return fmt.Errorf("trailfile: column %q: a name is text, and not empty", c.Name)
		case !c.Type.Valid():
			return fmt.Errorf("trailfile: column %s: unknown type %q", c.Name, c.Type)
		}
		seen[c.Name] = true
		if err := c.validateNames(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Column) validateNames() error {
	switch {
	case c.Names == nil:
		return nil
	case c.Type != behaviour.String || c.Nullable:
		return fmt.Errorf("trailfile: column %s: only strings that are never null can be told by names", c.Name)
	case len(c.Names) > behaviour.MaxKinds:
		return fmt.Errorf("trailfile: %d behaviours: at most %d in one file", len(c.Names), behaviour.MaxKinds)
	}
	for _, name := range c.Names {
		if !utf8.ValidString(name) {
			return fmt.Errorf("trailfile: behaviour %q is not UTF-8", name)
		}
	}
	return nil
}
