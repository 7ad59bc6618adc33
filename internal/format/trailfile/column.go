package trailfile

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"usertrail/internal/run/visible"
)

// ErrColumn is wrapped if a file does not have a requested column, or has it with another
// type.
var ErrColumn = errors.New("no such column")

// ErrLargePage is wrapped if a page of a column is too large for the memory.
var ErrLargePage = errors.New("too large for the memory")

// columnValues is the number of values of a column that are read at once.
const columnValues = 1024

// ColumnNames returns the names of the columns.
func (f *File) ColumnNames() []string {
	var names []string
	for _, field := range f.f.Schema().Fields() {
		names = append(names, field.Name())
	}
	return names
}

// IDs calls emit with each value of a column of strings or integers, in order and as text. It
// skips nulls. It holds one page and one dictionary of at most most bytes at a time, and id is valid until emit returns. If one is
// larger, the error wraps ErrLargePage.
func (f *File) IDs(column string, most int64, emit func(id []byte) error) (err error) {
	defer caught(&err, "read column "+column)
	c, err := f.idColumn(column)
	if err != nil {
		return err
	}
	for i, g := range f.f.RowGroups() {
		err := f.checkChunk(&f.f.Metadata().RowGroups[i].Columns[c.Index()].MetaData, g.NumRows(), most)
		if err == nil {
			err = chunkIDs(g.ColumnChunks()[c.Index()], emit)
		}
		if err != nil {
			return fmt.Errorf("trailfile: column %s: row group %d: %w", column, i, err)
		}
	}
	return nil
}

// idColumn returns the column with a name, if its values can be IDs.
func (f *File) idColumn(name string) (*parquet.Column, error) {
	c := f.f.Root().Column(name)
	if c == nil {
		return nil, fmt.Errorf("%w: %q; there is %s", ErrColumn, name, visible.List(f.ColumnNames()))
	}
	if !c.Leaf() || c.Repeated() {
		return nil, fmt.Errorf("%w of strings or integers: %s is a list or a group: name another column", ErrColumn, visible.Text(name))
	}
	if !holdsIDs(c.Type()) {
		return nil, fmt.Errorf("%w of strings or integers: %s is %s: cast it to a string or an integer, or name another column", ErrColumn, visible.Text(name), c.Type())
	}
	return c, nil
}

// holdsIDs reports whether t is a string, bytes without another meaning, or an integer.
func holdsIDs(t parquet.Type) bool {
	switch t.Kind() {
	case parquet.ByteArray, parquet.Int32, parquet.Int64:
	default:
		return false
	}
	l := t.LogicalType()
	if l == nil || l.Value == nil {
		return true
	}
	switch l.Value.(type) {
	case *format.StringType, *format.EnumType, *format.IntType:
		return true
	}
	return false
}

// chunkIDs calls emit with the values of a column in one row group.
func chunkIDs(c parquet.ColumnChunk, emit func(id []byte) error) error {
	pages := c.Pages()
	defer pages.Close()
	unsigned := isUnsigned(c.Type())
	values := make([]parquet.Value, columnValues)
	for {
		page, err := pages.ReadPage()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		err = pageIDs(page.Values(), values, unsigned, emit)
		parquet.Release(page)
		if err != nil {
			return err
		}
	}
}

func isUnsigned(t parquet.Type) bool {
	l := t.LogicalType()
	if l == nil {
		return false
	}
	i, ok := l.Value.(*format.IntType)
	return ok && !i.IsSigned
}

// pageIDs calls emit with the values of a page. values is its buffer.
func pageIDs(r parquet.ValueReader, values []parquet.Value, unsigned bool, emit func(id []byte) error) error {
	var text []byte
	for {
		n, err := r.ReadValues(values)
		for _, v := range values[:n] {
			switch {
			case v.IsNull():
				continue
			case v.Kind() == parquet.ByteArray:
				text = append(text[:0], v.ByteArray()...)
			case v.Kind() == parquet.Int32 && unsigned:
				text = strconv.AppendUint(text[:0], uint64(v.Uint32()), 10)
			case v.Kind() == parquet.Int32:
				text = strconv.AppendInt(text[:0], int64(v.Int32()), 10)
			case unsigned:
				text = strconv.AppendUint(text[:0], v.Uint64(), 10)
			default:
				text = strconv.AppendInt(text[:0], v.Int64(), 10)
			}
			if err := emit(text); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
