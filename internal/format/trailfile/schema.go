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
	Names    []string // of a column of few strings: a row holds an index in it; nil for any other
}

// A Schema is the columns of a trail file, in the order in which they stand. The
// first is user_id, a string.
type Schema struct {
	Columns []Column
	// Order is the column of times by which a user's rows are sorted. It is 0
	// where each user has one row.
	Order int
}

// UserColumn is the name of every file's first column.
const UserColumn = "user_id"

// Names of columns that an answer of one row for each behaviour has.
const (
	DateColumn      = "date"
	TimeColumn      = "time"
	BehaviourColumn = "behaviour"
	IDColumn        = "id"
)

// Long is the schema of one row for each behaviour. Kinds are the names of the
// behaviours that may come, steps how many steps of a sequence each user took.
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

// The columns of a wide row for each behaviour, as suffixes of a column's name.
const (
	countEnding = "_count"
	firstEnding = "_first"
	lastEnding  = "_last"
	daysEnding  = "_days"
)

// PerKind is how many columns of a wide row are of one behaviour.
const PerKind = 4

// Wide is the schema of one row for each user: PerKind columns for each behaviour,
// in order, then the steps.
func Wide(kinds []string, steps int) Schema {
	s := Schema{Columns: []Column{{Name: UserColumn, Type: behaviour.String}}}
	for _, k := range kinds {
		s.Columns = append(s.Columns,
			Column{Name: k + countEnding, Type: behaviour.Int64},
			Column{Name: k + firstEnding, Type: behaviour.Timestamp, Nullable: true},
			Column{Name: k + lastEnding, Type: behaviour.Timestamp, Nullable: true},
			Column{Name: k + daysEnding, Type: behaviour.Int64})
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

// StepColumn is the name of the column that says when step i, counted from 0, was
// taken.
func StepColumn(i int) string { return "step_" + strconv.Itoa(i+1) }

// Without is s less the column called name.
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

// Index is where the column called name stands, or -1.
func (s Schema) Index(name string) int {
	return slices.IndexFunc(s.Columns, func(c Column) bool { return c.Name == name })
}

// A Shape says what a row of a trail file is: an event or a user.
type Shape string

// The shapes.
const (
	LongShape Shape = "long" // one row for each behaviour
	WideShape Shape = "wide" // one row for each user
)

// ShapeOf tells by the names of its columns which shape a file has, and is not ok
// for one that holds no trails. The column that partitions a long answer is not in
// its files.
func ShapeOf(names []string) (s Shape, ok bool) {
	if len(names) == 0 || names[0] != UserColumn {
		return "", false
	}
	if len(names) > PerKind && wideNames(names[1:1+PerKind]) {
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

// wideNames reports whether names are the columns of one behaviour.
func wideNames(names []string) bool {
	kind, ok := strings.CutSuffix(names[0], countEnding)
	return ok && slices.Equal(names[1:], []string{kind + firstEnding, kind + lastEnding, kind + daysEnding})
}

// SchemaVersion is the value of the key trail.version in a file's metadata. It
// changes when a column that every trail has changes its name, type or meaning.
const SchemaVersion = "1"

// VersionKey is that key.
const VersionKey = "trail.version"

// createdBy is the writer's name in the footer. Readers trust the statistics of
// a writer whose name they do not know to have been wrong.
const createdBy = "usertrail version " + SchemaVersion

// Validate reports what keeps s from being the schema of a file.
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
			return fmt.Errorf("trailfile: column %s stands twice", c.Name)
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
