// Package arrowfile writes trails as Arrow IPC files, which are also Feather files of
// version 2, and opens such files for inspection. It uses the schemas and batches of
// trailfile, and makes the same promises: the same rows give the
// same bytes, however they are cut into batches, and rows out of order or text that
// is not UTF-8 are errors. No other package uses Arrow.
//
//	user_id, behaviour, string fields   utf8
//	time, timestamp fields              timestamp[us, UTC]
//	local times                         timestamp[us]
//	date, date fields                   date32
//	id, int64 fields                    int64
//	double, bool                        double, bool
//
// These are the types that readers of Arrow give to the columns of a Parquet part,
// so results of both formats can be concatenated. For the same reason the behaviour is not a
// dictionary. A column that is required in Parquet is not nullable.
//
// A stream has the same batches in Arrow's streaming format, without compression, because it
// is read at once by another process. It has many parts. Rows are sorted in a part only.
//
// A record batch has batchRows rows, or fewer if there are many columns. It has fewer if it is the last, or if another
// row would take its strings beyond batchBytes. In a file each buffer is compressed by LZ4, as
// Arrow's own writers do.
package arrowfile

import (
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/trailfile"
)

const (
	batchRows  = 32 << 10
	batchCells = 2 << 20 // values and nulls
	batchBytes = 8 << 20
)

// A Writer writes one file of trails, and another one after Reset. It holds one record batch
// in memory. Only one goroutine may use it.
type Writer struct {
	guard   *trailfile.Guard
	schema  trailfile.Schema
	arrow   *arrow.Schema
	columns []*column
	out     counted
	file    batchWriter
	stream  bool
	most    int // rows of a record batch
	rows    int // in columns
	bytes   int // bytes of strings in columns
	batches int
}

// A batchWriter writes record batches in one of Arrow's two formats.
type batchWriter interface {
	Write(arrow.RecordBatch) error
	Close() error
}

// messages writes the record batches and the end of a stream. The schema, which is the first message, is
// written already.
type messages struct {
	out    io.Writer
	schema bool // the library has passed the schema
}

// endOfStream is the last message of a stream: a continuation without a length.
var endOfStream = []byte("\xff\xff\xff\xff\x00\x00\x00\x00")

func (m *messages) Start() error { return nil }

func (m *messages) WritePayload(p ipc.Payload) error {
	if !m.schema {
		m.schema = true
		return nil
	}
	_, err := p.WritePayload(m.out)
	return err
}

func (m *messages) Close() error {
	_, err := m.out.Write(endOfStream)
	return err
}

// counted counts the written bytes.
type counted struct {
	io.Writer
	bytes int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.bytes += int64(n)
	return n, err
}

// NewWriter begins a file on w. The file is complete when Close returns without an error.
func NewWriter(w io.Writer, s trailfile.Schema) (*Writer, error) {
	g, err := trailfile.NewGuard(s)
	if err != nil {
		return nil, err
	}
	out := &Writer{guard: g, schema: s, arrow: newSchema(s), most: max(1, min(batchRows, batchCells/len(s.Columns)))}
	for i := range s.Columns {
		out.columns = append(out.columns, newColumn(&out.schema.Columns[i]))
	}
	out.Reset(w)
	return out, nil
}

// NewStream begins a stream on w. The stream is complete when Close returns without an error.
func NewStream(w io.Writer, s trailfile.Schema) (*Writer, error) {
	out, err := NewWriter(w, s)
	if err == nil {
		out.stream = true
	}
	return out, err
}

// Continue begins a part of a stream on out. Another Writer writes the beginning of the stream.
func (w *Writer) Continue(out io.Writer) {
	w.Reset(out)
	w.next()
}

// next begins to write record batches of a stream.
func (w *Writer) next() {
	w.file = ipc.NewWriterWithPayloadWriter(&messages{out: &w.out}, ipc.WithSchema(w.arrow))
}

// Break ends a part of a stream. The rows after it may sort before the rows that were written.
func (w *Writer) Break() error {
	_, err := w.guard.Close(w.rest)
	w.guard.Reset()
	return err
}

func newSchema(s trailfile.Schema) *arrow.Schema {
	var fields []arrow.Field
	for _, c := range s.Columns {
		fields = append(fields, arrow.Field{Name: c.Name, Type: typeOf(&c), Nullable: c.Nullable})
	}
	about := arrow.MetadataFrom(map[string]string{trailfile.VersionKey: trailfile.SchemaVersion})
	return arrow.NewSchema(fields, &about)
}

func typeOf(c *trailfile.Column) arrow.DataType {
	switch c.Type {
	case behaviour.String:
		return arrow.BinaryTypes.String
	case behaviour.Double:
		return arrow.PrimitiveTypes.Float64
	case behaviour.Bool:
		return arrow.FixedWidthTypes.Boolean
	case behaviour.Timestamp:
		if c.Local {
			return &arrow.TimestampType{Unit: arrow.Microsecond}
		}
		return arrow.FixedWidthTypes.Timestamp_us
	case behaviour.Day:
		return arrow.FixedWidthTypes.Date32
	}
	return arrow.PrimitiveTypes.Int64
}

// Reset begins another file on out. It may be called at any time.
func (w *Writer) Reset(out io.Writer) {
	w.guard.Reset()
	w.out = counted{Writer: out}
	w.file = nil
	w.empty()
	w.rows, w.bytes, w.batches = 0, 0, 0
}

// Write adds the rows of b. They must sort after all rows written before, by user and time.
// Write keeps no reference to b. After an error the file is not usable.
func (w *Writer) Write(b *trailfile.Batch) error { return w.guard.Write(b, w.add) }

func (w *Writer) add(b *trailfile.Batch) error {
	for from := 0; from < b.Rows; {
		to := w.schema.Fit(b, from, min(b.Rows, from+w.most-w.rows), w.bytes, batchBytes, w.rows == 0)
		for i, c := range w.columns {
			c.add(&b.Columns[i], from, to)
		}
		w.rows += to - from
		w.bytes += w.schema.StringBytes(b, from, to)
		if to < b.Rows || w.rows == w.most {
			if err := w.flush(); err != nil {
				return err
			}
		}
		from = to
	}
	return nil
}

// flush writes the collected rows as a record batch.
func (w *Writer) flush() error {
	if err := w.begin(); err != nil {
		return err
	}
	arrays := make([]arrow.Array, len(w.columns))
	for i, c := range w.columns {
		arrays[i] = c.array()
	}
	r := array.NewRecordBatch(w.arrow, arrays, int64(w.rows))
	err := w.file.Write(r)
	w.rows, w.bytes = 0, 0
	w.batches++
	w.empty()
	return err
}

// empty removes the rows of the record batch.
func (w *Writer) empty() {
	for _, c := range w.columns {
		c.reset()
	}
}

// begin begins the file, if it has not begun.
func (w *Writer) begin() (err error) {
	switch {
	case w.file != nil:
	case w.stream:
		schema := ipc.GetSchemaPayload(w.arrow, memory.DefaultAllocator)
		defer schema.Release()
		_, err = schema.WritePayload(&w.out)
		w.next()
	default:
		w.file, err = ipc.NewFileWriter(&w.out, ipc.WithSchema(w.arrow), ipc.WithLZ4())
	}
	return err
}

// Close writes the remaining rows and the footer, and returns a description of the file. It
// does not close the underlying writer.
func (w *Writer) Close() (trailfile.Meta, error) {
	meta, err := w.guard.Close(w.finish)
	meta.Bytes, meta.Groups = w.out.bytes, w.batches
	return meta, err
}

// rest writes the collected rows as the last record batch of a part.
func (w *Writer) rest() error {
	if w.rows == 0 {
		return w.begin()
	}
	return w.flush()
}

func (w *Writer) finish() error {
	if err := w.rest(); err != nil {
		return err
	}
	return w.file.Close()
}
