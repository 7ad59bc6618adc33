package textfile

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"usertrail/internal/format/trailfile"
)

// A File is a text file of trails that was opened for inspection. Only one goroutine may use
// it.
type File struct {
	r      io.ReaderAt
	size   int64
	format Format
	names  []string
}

// ErrNoRows is returned for a jsonl file without rows. It cannot be distinguished from any
// other empty file.
var ErrNoRows = errors.New("a file without rows, which tells no columns")

// Open reads the names of the columns in the size bytes of r. r must stay readable as long as
// the File is used.
func Open(r io.ReaderAt, size int64, f Format) (*File, error) {
	t := &File{r: r, size: size, format: f}
	next := t.rows()
	if f == CSV {
		row, err := next()
		if err != nil {
			return nil, fmt.Errorf("trailfile: open: header: %w", err)
		}
		t.names = slices.Clone(row)
		return t, nil
	}
	names, _, err := jsonLine(t.lines())
	if err == io.EOF {
		err = ErrNoRows
	}
	if err != nil {
		return nil, fmt.Errorf("trailfile: open: %w", err)
	}
	t.names = names
	return t, nil
}

// Columns returns the names of the columns.
func (t *File) Columns() []string { return t.names }

// Info counts the rows, for which it reads the whole file.
func (t *File) Info() (trailfile.Info, error) {
	var info trailfile.Info
	for _, name := range t.names {
		info.Columns = append(info.Columns, trailfile.ColumnInfo{Name: name})
	}
	next, err := t.begin()
	if err != nil {
		return info, err
	}
	for {
		_, err := next()
		if err == io.EOF {
			return info, nil
		}
		if err != nil {
			return info, fmt.Errorf("trailfile: row %d: %w", info.Rows, err)
		}
		info.Rows++
	}
}

// Head returns the first n rows as text, one string per column. A null is the empty string.
func (t *File) Head(n int) ([][]string, error) {
	next, err := t.begin()
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for len(rows) < n {
		row, err := next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return rows, fmt.Errorf("trailfile: row %d: %w", len(rows), err)
		}
		rows = append(rows, slices.Clone(row))
	}
	return rows, nil
}

// begin returns a reader that is positioned before the first row.
func (t *File) begin() (func() ([]string, error), error) {
	next := t.rows()
	if t.format == CSV {
		if _, err := next(); err != nil {
			return nil, fmt.Errorf("trailfile: header: %w", err)
		}
	}
	return next, nil
}

// rows returns a function that returns the next row, including the header of csv. A row is
// valid until the next call.
func (t *File) rows() func() ([]string, error) {
	in := t.lines()
	if t.format == CSV {
		if b, _ := in.Peek(len(Mark)); string(b) == Mark {
			in.Discard(len(Mark))
		}
		c := csv.NewReader(in)
		c.ReuseRecord = true
		return c.Read
	}
	return func() ([]string, error) {
		names, values, err := jsonLine(in)
		if err == nil && !slices.Equal(names, t.names) {
			err = fmt.Errorf("has the columns %q, want %q", names, t.names)
		}
		return values, err
	}
}

func (t *File) lines() *bufio.Reader {
	return bufio.NewReaderSize(io.NewSectionReader(t.r, 0, t.size), flushBytes)
}

// jsonLine reads the object of a line and returns its keys and values, in order.
func jsonLine(in *bufio.Reader) (names, values []string, err error) {
	line, err := in.ReadBytes('\n')
	if err == io.EOF && len(line) > 0 {
		return nil, nil, io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, nil, err
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, nil, errors.Join(errors.New("is no object of JSON"), err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		value, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		if _, nested := value.(json.Delim); nested {
			return nil, nil, fmt.Errorf("%v is not one value", key)
		}
		text := ""
		if value != nil {
			text = fmt.Sprint(value)
		}
		names, values = append(names, key.(string)), append(values, text)
	}
	if _, err := d.Token(); err != nil {
		return nil, nil, err
	}
	return names, values, nil
}
