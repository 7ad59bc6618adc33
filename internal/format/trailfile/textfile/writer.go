package textfile

import (
	"io"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/trailfile"
)

// A Format is a format of text.
type Format string

// The formats.
const (
	CSV   Format = "csv"
	JSON  Format = "jsonl"
	Excel Format = "excel" // csv for Excel; CSV opens it too
)

// flushBytes is the amount of text that is collected before it is written.
const flushBytes = 64 << 10

// A Writer writes one file of trails, and another one after Reset. Only one goroutine may use
// it.
type Writer struct {
	guard  *trailfile.Guard
	cells  []cell
	end    string // ends a row
	header []byte
	out    io.Writer
	buf    []byte
	bytes  int64 // number of written bytes
}

// A cell writes the values of one column.
type cell struct {
	*trailfile.Column
	lead  string   // the text before the value
	null  string   // the text of a null
	names []string // the written form of Column.Names
	dialect
	clock clock
}

// A dialect holds the forms of the values that differ between the formats.
type dialect struct {
	text    func(dst, s []byte) []byte
	quote   string                             // around times and dates
	strange func(dst []byte, v float64) []byte // appends a double that has no digits, such as NaN
	digits  func(dst []byte, v int64) []byte
	time    func(c *cell, dst []byte, v int64) []byte
}

var dialects = map[Format]dialect{
	CSV:   {text: appendCSV, quote: ``, strange: appendStrangeCSV, digits: appendInt, time: (*cell).appendMicros},
	JSON:  {text: appendJSON, quote: `"`, strange: appendStrangeJSON, digits: appendInt, time: (*cell).appendMicros},
	Excel: {text: appendExcel, quote: ``, strange: appendStrangeExcel, digits: appendExcelInt, time: (*cell).appendExcelTime},
}

// NewWriter begins a file on w.
func NewWriter(w io.Writer, s trailfile.Schema, f Format) (*Writer, error) {
	g, err := trailfile.NewGuard(s)
	if err != nil {
		return nil, err
	}
	out := &Writer{guard: g, out: w}
	out.setUp(s, f)
	switch f {
	case CSV:
		out.header = header(s, appendCSV)
	case Excel:
		out.header = append([]byte(Mark), header(s, appendGuarded)...)
	}
	out.Reset(w)
	return out, nil
}

// header returns the first line of a csv file.
func header(s trailfile.Schema, text func(dst, s []byte) []byte) []byte {
	var line []byte
	for i, c := range s.Columns {
		if i > 0 {
			line = append(line, ',')
		}
		line = text(line, []byte(c.Name))
	}
	return append(line, '\n')
}

func (w *Writer) setUp(s trailfile.Schema, f Format) {
	w.end = "\n"
	if f == JSON {
		w.end = "}\n"
	}
	for i := range s.Columns {
		c := cell{Column: &s.Columns[i], dialect: dialects[f]}
		if f == JSON {
			c.lead, c.null = string(append(appendJSON([]byte(","), []byte(c.Name)), ':')), "null"
			if i == 0 {
				c.lead = "{" + c.lead[1:]
			}
		} else if i > 0 {
			c.lead = ","
		}
		if f == Excel {
			switch c.Name {
			case trailfile.UserColumn:
				c.text = appendFormula
			case trailfile.IDColumn:
				c.digits = appendFormulaInt
			}
		}
		for _, name := range c.Names {
			c.names = append(c.names, string(c.text(nil, []byte(name))))
		}
		w.cells = append(w.cells, c)
	}
}

// Reset begins another file on out, in the memory of the previous file. It may be called at
// any time.
func (w *Writer) Reset(out io.Writer) {
	w.guard.Reset()
	w.out, w.bytes = out, 0
	w.buf = append(w.buf[:0], w.header...)
}

// Continue begins a part of a file on out. Another Writer writes the beginning of the file.
func (w *Writer) Continue(out io.Writer) {
	w.Reset(out)
	w.buf = w.buf[:0]
}

// Write adds the rows of b. They must sort after all rows written before, by user and time.
// Write keeps no reference to b. After an error the file is not usable.
func (w *Writer) Write(b *trailfile.Batch) error { return w.guard.Write(b, w.add) }

func (w *Writer) add(b *trailfile.Batch) error {
	for row := range b.Rows {
		for i := range w.cells {
			w.buf = w.cells[i].append(w.buf, &b.Columns[i], row)
		}
		w.buf = append(w.buf, w.end...)
		if len(w.buf) >= flushBytes {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *Writer) flush() error {
	n, err := w.out.Write(w.buf)
	w.bytes += int64(n)
	w.buf = w.buf[:0]
	return err
}

// Break ends a part of the file. The rows after it may sort before the rows that were written.
func (w *Writer) Break() error {
	_, err := w.guard.Close(w.flush)
	w.guard.Reset()
	return err
}

// Close writes the remaining rows, and returns a description of the file. It does not close
// the underlying writer.
func (w *Writer) Close() (trailfile.Meta, error) {
	meta, err := w.guard.Close(w.flush)
	meta.Bytes = w.bytes
	return meta, err
}

// append appends the cell of a row.
func (c *cell) append(dst []byte, v *trailfile.Values, row int) []byte {
	dst = append(dst, c.lead...)
	if c.Nullable && !v.Valid[row] {
		return append(dst, c.null...)
	}
	switch {
	case c.names != nil:
		return append(dst, c.names[v.Code[row]]...)
	case c.Type == behaviour.String:
		return c.text(dst, v.Str.At(row))
	case c.Type == behaviour.Int64:
		return c.digits(dst, v.Int[row])
	case c.Type == behaviour.Double:
		return c.double(dst, v.Double[row])
	case c.Type == behaviour.Bool:
		return appendBool(dst, v.Small[row] != 0)
	}
	dst = append(dst, c.quote...)
	if c.Type == behaviour.Day {
		dst = c.clock.appendDate(dst, int64(v.Small[row]))
	} else {
		dst = c.time(c, dst, v.Int[row])
	}
	return append(dst, c.quote...)
}

// appendMicros appends a time to the microsecond. A local time has no zone.
func (c *cell) appendMicros(dst []byte, v int64) []byte {
	zone := "Z"
	if c.Local {
		zone = ""
	}
	return c.clock.appendTime(dst, v, zone)
}
