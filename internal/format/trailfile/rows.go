package trailfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"usertrail/internal/behaviour"
)

// ErrNoTrails is wrapped by errors about Parquet files that lack a column that every trail
// file has.
var ErrNoTrails = errors.New("not a trail file")

// batchRows is the number of rows that Next returns, except at the end of the file. The rows
// of a batch fit into the processor's cache.
const batchRows = 4 << 10

// Behaviours holds rows of a trail file by column. Each row is one event.
type Behaviours struct {
	Rows      int
	User      Bytes
	Date      []int32  // days since 1970-01-01
	Time      []int64  // microseconds, UTC
	Behaviour []uint16 // index in Read.Kinds
	ID        []int64
	Fields    []Values // one for each of Read.Fields, with Valid set
}

// Read describes the rows of Rows: the behaviours found so far, and the fields.
type Read struct {
	Kinds  []string
	Fields []behaviour.Field
}

// Rows reads the rows of a trail file in order: the five columns that every file has, and the
// requested fields. It holds one page of each column. Only one goroutine may use it.
type Rows struct {
	schema  Read
	kinds   map[string]uint16
	columns []*columnRows // user_id, date, time, behaviour, id, the fields
	batch   Behaviours
	read    int64 // number of rows
}

// Rows begins to read f, with the fields of the given names. The caller must close the
// result.
func (f *File) Rows(fields ...string) (r *Rows, err error) {
	defer caught(&err, "read rows")
	r = &Rows{kinds: map[string]uint16{}}
	for _, name := range slices.Concat(behaviour.Reserved, fields) {
		at := slices.IndexFunc(f.f.Schema().Fields(), func(c parquet.Field) bool { return c.Name() == name && c.Leaf() && !c.Repeated() })
		if at < 0 {
			return nil, fmt.Errorf("trailfile: %w: no column %s", ErrNoTrails, name)
		}
		typ, ok := typeOf(f.f.Schema().Fields()[at].Type())
		if !ok {
			return nil, fmt.Errorf("trailfile: %w: column %s is %v", ErrNoTrails, name, f.f.Schema().Fields()[at].Type())
		}
		if n := len(r.columns); n < len(fixedTypes) && typ != fixedTypes[n] {
			return nil, fmt.Errorf("trailfile: %w: column %s is of type %s, want %s", ErrNoTrails, name, typ, fixedTypes[n])
		} else if n >= len(fixedTypes) {
			r.schema.Fields = append(r.schema.Fields, behaviour.Field{Name: name, Type: typ})
			r.batch.Fields = append(r.batch.Fields, Values{Type: typ})
		}
		r.columns = append(r.columns, newColumnRows(f, at))
	}
	return r, nil
}

// fixedTypes are the types of behaviour.Reserved.
var fixedTypes = []behaviour.Type{behaviour.String, behaviour.Day, behaviour.Timestamp, behaviour.String, behaviour.Int64}

// typeOf returns the type of field for a column of a Parquet type.
func typeOf(t parquet.Type) (behaviour.Type, bool) {
	if l := t.LogicalType(); l != nil {
		switch l := l.Value.(type) {
		case *format.StringType:
			return behaviour.String, true
		case *format.DateType:
			return behaviour.Day, true
		case *format.TimestampType:
			_, micros := l.Unit.Value.(*format.MicroSeconds)
			return behaviour.Timestamp, micros
		case *format.IntType:
			return behaviour.Int64, l.BitWidth == 64 && l.IsSigned
		default:
			return "", false
		}
	}
	switch t.Kind() {
	case parquet.Int64:
		return behaviour.Int64, true
	case parquet.Double:
		return behaviour.Double, true
	case parquet.Boolean:
		return behaviour.Bool, true
	}
	return "", false
}

// Schema returns the requested fields, and the behaviours found so far. Behaviours.Behaviour
// has indexes of these behaviours.
func (r *Rows) Schema() Read { return r.schema }

// Next returns the next rows, valid until the next call. After the last rows it returns
// io.EOF.
func (r *Rows) Next() (b *Behaviours, err error) {
	defer caught(&err, "read rows")
	r.reset()
	for i, c := range r.columns {
		rows := 0
		for rows < batchRows {
			got, err := c.next(batchRows - rows)
			if err == io.EOF {
				break
			}
			if err == nil {
				err = r.take(i, got)
			}
			if err != nil {
				return nil, fmt.Errorf("trailfile: column %s, row %d: %w", r.name(i), r.read+int64(rows), err)
			}
			rows += len(got)
		}
		if i > 0 && rows != r.batch.Rows {
			return nil, fmt.Errorf("trailfile: column %s ends at row %d, %s does not", r.name(i), r.read+int64(min(rows, r.batch.Rows)), r.name(0))
		}
		r.batch.Rows = rows
	}
	if r.batch.Rows == 0 {
		return nil, io.EOF
	}
	r.read += int64(r.batch.Rows)
	return &r.batch, nil
}

func (r *Rows) name(column int) string {
	if n := column - len(fixedTypes); n >= 0 {
		return r.schema.Fields[n].Name
	}
	return behaviour.Reserved[column]
}

// reset removes the rows of the last batch and keeps their memory.
func (r *Rows) reset() {
	b := &r.batch
	b.Rows = 0
	b.User.reset()
	b.Date, b.Time, b.Behaviour, b.ID = b.Date[:0], b.Time[:0], b.Behaviour[:0], b.ID[:0]
	for i := range b.Fields {
		v := &b.Fields[i]
		v.Valid, v.Int, v.Double, v.Small = v.Valid[:0], v.Int[:0], v.Double[:0], v.Small[:0]
		v.Str.reset()
	}
}

// take adds values to a column of the batch.
func (r *Rows) take(column int, values []parquet.Value) error {
	b := &r.batch
	for _, v := range values {
		if column < len(fixedTypes) && v.IsNull() {
			return fmt.Errorf("%w: a null", ErrNoTrails)
		}
		switch column {
		case 0:
			b.User.Append(v.ByteArray())
		case 1:
			b.Date = append(b.Date, v.Int32())
		case 2:
			b.Time = append(b.Time, v.Int64())
		case 3:
			kind, err := r.kind(v.ByteArray())
			if err != nil {
				return err
			}
			b.Behaviour = append(b.Behaviour, kind)
		case 4:
			b.ID = append(b.ID, v.Int64())
		default:
			b.Fields[column-len(fixedTypes)].push(v)
		}
	}
	return nil
}

// kind returns the index of a behaviour. A new behaviour gets the next index.
func (r *Rows) kind(name []byte) (uint16, error) {
	if k, ok := r.kinds[string(name)]; ok {
		return k, nil
	}
	k := len(r.schema.Kinds)
	if k == behaviour.MaxKinds {
		return 0, fmt.Errorf("%w: more than %d behaviours", ErrNoTrails, k)
	}
	r.schema.Kinds = append(r.schema.Kinds, string(name))
	r.kinds[string(name)] = uint16(k)
	return uint16(k), nil
}

// push adds a value, or a null.
func (v *Values) push(p parquet.Value) {
	v.Valid = append(v.Valid, !p.IsNull())
	switch v.Type {
	case behaviour.String:
		v.Str.Append(p.ByteArray())
	case behaviour.Int64, behaviour.Timestamp:
		v.Int = append(v.Int, p.Int64())
	case behaviour.Double:
		v.Double = append(v.Double, p.Double())
	case behaviour.Day:
		v.Small = append(v.Small, p.Int32())
	case behaviour.Bool:
		n := int32(0)
		if p.Boolean() {
			n = 1
		}
		v.Small = append(v.Small, n)
	}
}

// Close releases the resources of the rows.
func (r *Rows) Close() error {
	var all error
	for _, c := range r.columns {
		all = errors.Join(all, c.close())
	}
	return all
}

// columnRows reads one column, row group by row group and page by page.
type columnRows struct {
	file   *File
	group  int // the next group
	column int
	pages  parquet.Pages // of this group; nil between groups
	page   parquet.Page
	values parquet.ValueReader // of page; nil between pages
	buf    []parquet.Value
}

func newColumnRows(f *File, column int) *columnRows {
	return &columnRows{file: f, column: column, buf: make([]parquet.Value, batchRows/4)}
}

// next returns at least one and at most n values, valid until the next call, or io.EOF.
func (c *columnRows) next(n int) ([]parquet.Value, error) {
	for {
		if c.values == nil {
			if err := c.nextPage(); err != nil {
				return nil, err
			}
		}
		got, err := c.values.ReadValues(c.buf[:min(n, len(c.buf))])
		if err != nil && err != io.EOF {
			return nil, err
		}
		if got > 0 {
			return c.buf[:got], nil
		}
		c.endPage()
	}
}

// nextPage begins the next page, in the next group if necessary.
func (c *columnRows) nextPage() error {
	for {
		if c.pages == nil {
			if err := c.nextGroup(); err != nil {
				return err
			}
		}
		page, err := c.pages.ReadPage()
		if err == nil {
			c.page, c.values = page, page.Values()
			return nil
		}
		if err != io.EOF {
			return err
		}
		if err := c.close(); err != nil {
			return err
		}
	}
}

// nextGroup begins the next row group. After the last it returns io.EOF.
func (c *columnRows) nextGroup() error {
	groups := c.file.f.RowGroups()
	if c.group == len(groups) {
		return io.EOF
	}
	g := groups[c.group]
	if err := c.file.checkChunk(&c.file.f.Metadata().RowGroups[c.group].Columns[c.column].MetaData, g.NumRows(), math.MaxInt64); err != nil {
		return err
	}
	c.pages = g.ColumnChunks()[c.column].Pages()
	c.group++
	return nil
}

func (c *columnRows) endPage() {
	if c.page != nil {
		parquet.Release(c.page)
	}
	c.page, c.values = nil, nil
}

// close ends the row group.
func (c *columnRows) close() error {
	c.endPage()
	if c.pages == nil {
		return nil
	}
	err := c.pages.Close()
	c.pages = nil
	return err
}

// Dates returns the first and the last date in the file according to its footer. ok is false
// if the footer does not have them, or the file has no rows.
func (f *File) Dates() (from, to behaviour.Date, ok bool) {
	at := slices.IndexFunc(f.f.Schema().Fields(), func(c parquet.Field) bool { return c.Name() == "date" })
	if at < 0 {
		return 0, 0, false
	}
	for i, g := range f.f.Metadata().RowGroups {
		s := &g.Columns[at].MetaData.Statistics
		if len(s.MinValue) != 4 || len(s.MaxValue) != 4 {
			return 0, 0, false
		}
		lo, hi := dateAt(s.MinValue), dateAt(s.MaxValue)
		if i == 0 || lo < from {
			from = lo
		}
		if i == 0 || hi > to {
			to = hi
		}
		ok = true
	}
	return from, to, ok
}

// dateAt returns a date from its form in statistics.
func dateAt(b []byte) behaviour.Date { return behaviour.Date(int32(binary.LittleEndian.Uint32(b))) }
