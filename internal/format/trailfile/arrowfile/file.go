package arrowfile

import (
	"fmt"
	"io"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/trailfile"
)

// Magic is the first bytes of an Arrow IPC file.
const Magic = "ARROW1"

// A File is an Arrow IPC file that was opened for inspection. Only one goroutine may use it.
type File struct {
	f      *ipc.FileReader
	footer *footer
}

// Open reads the footer of the size bytes in r. r must stay readable as long as the File is
// used.
func Open(r io.ReaderAt, size int64) (f *File, err error) {
	defer caught(&err, "open")
	end, err := readFooter(r, size)
	if err != nil {
		return nil, fmt.Errorf("trailfile: open: %w", err)
	}
	in, err := ipc.NewFileReader(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, fmt.Errorf("trailfile: open: %w", err)
	}
	return &File{f: in, footer: end}, nil
}

// caught turns a panic of the library into an error. The library panics on some damaged
// files.
func caught(err *error, doing string) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("trailfile: %s: damaged file: %v", doing, r)
	}
}

// Info returns the content of the footer. Its groups are record batches.
func (f *File) Info() (info trailfile.Info, err error) {
	defer caught(&err, "read")
	s := f.f.Schema()
	info.Metadata = s.Metadata().ToMap()
	for _, c := range s.Fields() {
		info.Columns = append(info.Columns, trailfile.ColumnInfo{Name: c.Name, Type: c.Type.String(), Nullable: c.Nullable})
	}
	err = f.each(func(r arrow.RecordBatch) bool {
		g := trailfile.GroupInfo{Rows: r.NumRows()}
		if r.NumRows() > 0 && r.NumCols() > 0 {
			g.First, g.Last = text(r.Column(0), 0), text(r.Column(0), int(r.NumRows()-1))
		}
		for i := range info.Columns {
			info.Columns[i].Nulls += int64(r.Column(i).NullN())
		}
		info.Rows += g.Rows
		info.Groups = append(info.Groups, g)
		return true
	})
	return info, err
}

// Head returns the first n rows as text, one string per column. A null is the empty string.
func (f *File) Head(n int) (rows [][]string, err error) {
	defer caught(&err, "read rows")
	err = f.each(func(r arrow.RecordBatch) bool {
		for row := range int(r.NumRows()) {
			if len(rows) >= n {
				return false
			}
			line := make([]string, r.NumCols())
			for i := range line {
				line[i] = text(r.Column(i), row)
			}
			rows = append(rows, line)
		}
		return len(rows) < n
	})
	return rows, err
}

// each calls do with each record batch until do returns false.
func (f *File) each(do func(r arrow.RecordBatch) bool) error {
	for i := range f.f.NumRecords() {
		if err := f.footer.batch(i); err != nil {
			return fmt.Errorf("trailfile: record batch %d: %w", i, err)
		}
		r, err := f.f.RecordBatchAt(i)
		if err != nil {
			return fmt.Errorf("trailfile: record batch %d: %w", i, err)
		}
		more := do(r)
		r.Release()
		if !more {
			return nil
		}
	}
	return nil
}

// text returns a value as readable text.
func text(c arrow.Array, i int) string {
	if c.IsNull(i) {
		return ""
	}
	switch c := c.(type) {
	case *array.Date32:
		return behaviour.Date(c.Value(i)).String()
	case *array.Timestamp:
		if c.DataType().(*arrow.TimestampType).TimeZone == "" {
			return behaviour.LocalText(int64(c.Value(i)))
		}
		return behaviour.Timestamp.Text(behaviour.AppendInt64(nil, int64(c.Value(i))))
	case *array.Float64:
		return strconv.FormatFloat(c.Value(i), 'g', -1, 64)
	}
	return c.ValueStr(i)
}
