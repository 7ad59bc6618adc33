package trailfile

import (
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"usertrail/internal/behaviour"
)

// A column is one column of a row group, with its entries in the footer.
type column struct {
	name      string
	physical  format.Type
	logical   format.LogicalType
	converted thrift.Null[deprecated.ConvertedType] // for readers that do not support logical types
	nullable  bool
	levels    levels // empty unless nullable
	values    values
}

// A group collects the rows of a row group, already as indexes and without nulls.
type group struct {
	schema  Schema
	rows    int
	columns []*column
	user    *users   // the first column
	words   []*words // the columns of this type
}

func newGroup(s Schema) *group {
	g := &group{schema: s, user: &users{text: text{sorted: true}}}
	g.columns = []*column{newColumn(&s.Columns[0], g.user)}
	for i := range s.Columns[1:] {
		c := newColumn(&s.Columns[1+i], newValues(&s.Columns[1+i]))
		g.columns = append(g.columns, c)
		if w, ok := c.values.(*words); ok {
			g.words = append(g.words, w)
		}
	}
	return g
}

func newValues(c *Column) values {
	switch {
	case c.Names != nil:
		return &kinds{names: c.Names, code: make([]int32, len(c.Names))}
	case c.Type == behaviour.String:
		return newWords()
	case c.Type == behaviour.Double:
		return doubles{newDoubles()}
	case c.Type == behaviour.Bool:
		return &bools{}
	case c.Type == behaviour.Day:
		return newInt32s()
	}
	return newInt64s()
}

func newColumn(of *Column, v values) *column {
	c := &column{name: of.Name, nullable: of.Nullable, values: v, physical: format.Int64}
	switch of.Type {
	case behaviour.String:
		c.physical, c.logical.Value, c.converted = format.ByteArray, &format.StringType{}, thrift.New(deprecated.UTF8)
	case behaviour.Double:
		c.physical = format.Double
	case behaviour.Bool:
		c.physical = format.Boolean
	case behaviour.Timestamp:
		c.logical.Value = &format.TimestampType{IsAdjustedToUTC: !of.Local, Unit: format.TimeUnit{Value: &format.MicroSeconds{}}}
		if !of.Local { // the older annotation means UTC
			c.converted = thrift.New(deprecated.TimestampMicros)
		}
	case behaviour.Day:
		c.physical, c.logical.Value, c.converted = format.Int32, &format.DateType{}, thrift.New(deprecated.Date)
	}
	return c
}

// element returns c's element of the footer's schema.
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

// add adds the rows from up to to of b. row is the number of b's first row, for errors.
func (g *group) add(b *Batch, from, to int, row int64) error {
	if err := g.user.add(&b.Columns[0].Str, b.times(g.schema), from, to, row); err != nil {
		return err
	}
	for i := 1; i < len(g.columns); i++ {
		c, v := g.columns[i], &b.Columns[i]
		if bad := c.add(v, from, to); bad >= 0 {
			return fmt.Errorf("row %d: %w", row+int64(bad), notText(c.name, v.Str.At(bad)))
		}
	}
	g.rows += to - from
	return nil
}

// add adds the rows from up to to of f. It returns the row of a string that is not UTF-8, or
// -1.
func (c *column) add(f *Values, from, to int) int {
	if !c.nullable {
		return addAll(c.values, f, from, to)
	}
	valid := f.Valid[from:to]
	c.levels.add(valid)
	switch v := c.values.(type) {
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

// addAll adds the rows from up to to of a column that has no nulls.
func addAll(v values, f *Values, from, to int) int {
	switch v := v.(type) {
	case *words:
		return v.addAll(&f.Str, from, to)
	case *kinds:
		v.add(f.Code[from:to])
	case doubles:
		v.addAll(f.Double[from:to])
	case *bools:
		v.addAll(f.Small[from:to])
	case *numbers[int32]:
		v.addAll(f.Small[from:to])
	case *numbers[int64]:
		v.addAll(f.Int[from:to])
	}
	return -1
}

// judge decides which string columns keep a dictionary.
func (g *group) judge() {
	for _, w := range g.words {
		w.judge()
	}
}

// reset removes the rows and keeps the memory.
func (g *group) reset() {
	g.rows = 0
	for _, c := range g.columns {
		c.levels.reset()
		c.values.reset()
	}
}

// restart removes all state of the file.
func (g *group) restart() {
	g.reset()
	g.user.restart()
	for _, w := range g.words {
		w.restart()
	}
}

// bytes returns the total size of the strings in the added rows.
func (g *group) bytes() int {
	n := g.user.bytes
	for _, w := range g.words {
		n += w.bytes
	}
	return n
}

// memory returns the approximate memory of the added rows in bytes.
func (g *group) memory() int {
	n := g.bytes()
	for _, c := range g.columns {
		n += 8*c.values.len() + 2*len(c.levels.runs)
	}
	return n
}

// stringBytes returns the size of the strings in row i of b, except strings with
// Column.Names.
func (s Schema) stringBytes(b *Batch, i int) int {
	n := 0
	for col := range s.Columns {
		c, v := &s.Columns[col], &b.Columns[col]
		if c.Type == behaviour.String && c.Names == nil && (!c.Nullable || v.Valid[i]) {
			n += len(v.Str.At(i))
		}
	}
	return n
}

// Fit returns the end of those rows from up to to of b that fit into the limit of string bytes. bytes is
// the size of the strings before. If fresh is set, the group has no rows yet, and one row fits whatever
// its size.
func (s Schema) Fit(b *Batch, from, to, bytes, limit int, fresh bool) int {
	if bytes+s.mostBytes(b, from, to) <= limit {
		return to
	}
	for i := from; i < to; i++ {
		bytes += s.stringBytes(b, i)
		if bytes > limit && !(fresh && i == from) {
			return i
		}
	}
	return to
}

// StringBytes returns the size of the strings in the rows from up to to of b, except strings with
// Column.Names and the strings of nulls.
func (s Schema) StringBytes(b *Batch, from, to int) int {
	n := s.mostBytes(b, from, to)
	for col := range s.Columns {
		if c := &s.Columns[col]; c.Type == behaviour.String && c.Nullable {
			n -= b.Columns[col].NullBytes(from, to)
		}
	}
	return n
}

// mostBytes returns an upper bound for the sum of stringBytes over the rows from up to to.
func (s Schema) mostBytes(b *Batch, from, to int) int {
	n := 0
	for col := range s.Columns {
		if c, v := &s.Columns[col], &b.Columns[col]; c.Type == behaviour.String && c.Names == nil {
			n += int(v.Str.Off[to] - v.Str.Off[from])
		}
	}
	return n
}

// grow lengthens s by n elements with arbitrary content.
func grow[T any](s []T, n int) []T { return slices.Grow(s, n)[:len(s)+n] }
