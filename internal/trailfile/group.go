package trailfile

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"usertrail/internal/behaviour"
)

// A column is one column of a row group and what the footer says of it.
type column struct {
	name      string
	physical  format.Type
	logical   format.LogicalType
	converted thrift.Null[deprecated.ConvertedType] // what readers look at that know no logical types
	nullable  bool
	levels    []byte // of each row, 1 if it has a value; empty unless nullable
	values    values
}

// valid is how many of the rows from..to have a value.
func (c *column) valid(from, to int) int {
	if !c.nullable {
		return to - from
	}
	return bytes.Count(c.levels[from:to], []byte{1})
}

// A group gathers the rows of a row group, already in indexes and without nulls.
type group struct {
	rows int

	user  *users
	date  *numbers[int32]
	time  *numbers[int64]
	kind  *kinds
	id    *numbers[int64]
	field []values
	words []*words // those of field that are

	columns []*column
}

func newGroup(s Schema) *group {
	g := &group{
		user: &users{text: text{sorted: true}},
		date: newInt32s(),
		time: newInt64s(),
		kind: &kinds{names: s.Kinds},
		id:   newInt64s(),
	}
	g.columns = []*column{
		newColumn("user_id", behaviour.String, g.user),
		newColumn("date", behaviour.Day, g.date),
		newColumn("time", behaviour.Timestamp, g.time),
		newColumn("behaviour", behaviour.String, g.kind),
		newColumn("id", behaviour.Int64, g.id),
	}
	for _, f := range s.Fields {
		c := newColumn(f.Name, f.Type, newValues(f.Type))
		c.nullable = true
		g.columns = append(g.columns, c)
		g.field = append(g.field, c.values)
		if w, ok := c.values.(*words); ok {
			g.words = append(g.words, w)
		}
	}
	return g
}

func newValues(t behaviour.Type) values {
	switch t {
	case behaviour.String:
		return newWords()
	case behaviour.Double:
		return doubles{newDoubles()}
	case behaviour.Bool:
		return &bools{}
	case behaviour.Day:
		return newInt32s()
	}
	return newInt64s()
}

func newColumn(name string, t behaviour.Type, v values) *column {
	c := &column{name: name, values: v, physical: format.Int64}
	switch t {
	case behaviour.String:
		c.physical, c.logical.Value, c.converted = format.ByteArray, &format.StringType{}, thrift.New(deprecated.UTF8)
	case behaviour.Double:
		c.physical = format.Double
	case behaviour.Bool:
		c.physical = format.Boolean
	case behaviour.Timestamp:
		c.logical.Value = &format.TimestampType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: &format.MicroSeconds{}}}
		c.converted = thrift.New(deprecated.TimestampMicros)
	case behaviour.Day:
		c.physical, c.logical.Value, c.converted = format.Int32, &format.DateType{}, thrift.New(deprecated.Date)
	}
	return c
}

// element is what the footer's schema says of c.
func (c *column) element() format.SchemaElement {
	repetition := format.Required
	if c.nullable {
		repetition = format.Optional
	}
	return format.SchemaElement{
		Name:           c.name,
		Type:           thrift.New(c.physical),
		RepetitionType: thrift.New(repetition),
		ConvertedType:  c.converted,
		LogicalType:    c.logical,
	}
}

// add adds the rows from..to of b. row is the number of b's first row, for
// errors.
func (g *group) add(b *Batch, from, to int, row int64) error {
	if err := g.user.add(b, from, to, row); err != nil {
		return err
	}
	g.date.addAll(b.Date[from:to])
	g.time.addAll(b.Time[from:to])
	g.kind.add(b.Behaviour[from:to])
	g.id.addAll(b.ID[from:to])
	for i := range b.Fields {
		f, c := &b.Fields[i], g.columns[len(g.columns)-len(g.field)+i]
		c.levels = appendLevels(c.levels, f.Valid[from:to])
		if bad := addField(g.field[i], f, from, to); bad >= 0 {
			return fmt.Errorf("row %d: %w", row+int64(bad), notText(c.name, f.Str.at(bad)))
		}
	}
	g.rows += to - from
	return nil
}

// addField adds the rows from..to of f to v, and returns the row of a string
// that is not UTF-8, or -1.
func addField(v values, f *Values, from, to int) int {
	valid := f.Valid[from:to]
	switch v := v.(type) {
	case *words:
		return v.add(&f.Str, f.Valid, from, to)
	case doubles:
		v.add(f.Double[from:to], valid)
	case *bools:
		v.add(f.Small[from:to], valid)
	case *numbers[int32]:
		v.add(f.Small[from:to], valid)
	case *numbers[int64]:
		v.add(f.Int[from:to], valid)
	}
	return -1
}

func appendLevels(dst []byte, valid []bool) []byte {
	n := len(dst)
	dst = grow(dst, len(valid))
	for i, v := range valid {
		dst[n+i] = bit(v)
	}
	return dst
}

// judge decides which columns of strings keep a dictionary.
func (g *group) judge() {
	for _, w := range g.words {
		w.judge()
	}
}

// reset forgets the rows and keeps the memory.
func (g *group) reset() {
	g.rows = 0
	for _, c := range g.columns {
		c.levels = c.levels[:0]
		c.values.reset()
	}
}

// restart forgets the file.
func (g *group) restart() {
	g.reset()
	g.user.restart()
	for _, w := range g.words {
		w.restart()
	}
}

// bytes is how many bytes of strings the rows have that were added.
func (g *group) bytes() int {
	n := g.user.bytes
	for _, w := range g.words {
		n += w.bytes
	}
	return n
}

// stringBytes is how many bytes of strings row i of b has.
func stringBytes(b *Batch, i int) int {
	n := len(b.User.at(i))
	for f := range b.Fields {
		if v := &b.Fields[f]; v.Type == behaviour.String && v.Valid[i] {
			n += len(v.Str.at(i))
		}
	}
	return n
}

// mostBytes bounds the sum of stringBytes over the rows from..to from above.
func mostBytes(b *Batch, from, to int) int {
	n := int(b.User.Off[to] - b.User.Off[from])
	for f := range b.Fields {
		if v := &b.Fields[f]; v.Type == behaviour.String {
			n += int(v.Str.Off[to] - v.Str.Off[from])
		}
	}
	return n
}

// grow lengthens s by n elements of any content.
func grow[T any](s []T, n int) []T { return slices.Grow(s, n)[:len(s)+n] }
