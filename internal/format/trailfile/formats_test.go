package trailfile_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/format/trailfile/arrowfile"
	"usertrail/internal/format/trailfile/textfile"
	"usertrail/internal/test/testkit"
)

// A trailWriter is the writer of any format.
type trailWriter interface {
	Write(b *trailfile.Batch) error
	Close() (trailfile.Meta, error)
	Reset(w io.Writer)
}

// A trailReader inspects a file.
type trailReader interface {
	Info() (trailfile.Info, error)
	Head(n int) ([][]string, error)
}

// A kind is a format of files. The tests in this file check promises that every format makes.
type kind struct {
	name   string
	writes int // fewest write calls for 3000 rows of every type
	writer func(w io.Writer, s trailfile.Schema, o trailfile.Options) (trailWriter, error)
	reader func(r io.ReaderAt, size int64) (trailReader, error)
	text   func(c *trailfile.Column, v any) string // the text of a value, as the reader shows it
}

var formats = []kind{
	{
		"parquet", 20,
		func(w io.Writer, s trailfile.Schema, o trailfile.Options) (trailWriter, error) {
			return trailfile.NewWriter(w, s, o)
		},
		func(r io.ReaderAt, size int64) (trailReader, error) { return trailfile.Open(r, size) },
		shown,
	},
	{
		"arrow", 20,
		func(w io.Writer, s trailfile.Schema, _ trailfile.Options) (trailWriter, error) {
			return arrowfile.NewWriter(w, s)
		},
		func(r io.ReaderAt, size int64) (trailReader, error) { return arrowfile.Open(r, size) },
		shown,
	},
	text("csv", textfile.CSV),
	text("jsonl", textfile.JSON),
}

func text(name string, f textfile.Format) kind {
	return kind{
		name, 3,
		func(w io.Writer, s trailfile.Schema, _ trailfile.Options) (trailWriter, error) {
			return textfile.NewWriter(w, s, f)
		},
		func(r io.ReaderAt, size int64) (trailReader, error) { return textfile.Open(r, size, f) },
		func(c *trailfile.Column, v any) string { return plainText(f, c, v) },
	}
}

func (f *kind) begin(tb testing.TB, w io.Writer, s trailfile.Schema) trailWriter {
	tb.Helper()
	out, err := f.writer(w, s, trailfile.Options{GroupRows: 1000})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// write writes a sample in batches of size rows, and returns the file.
func (f *kind) write(tb testing.TB, c sample, size int) ([]byte, trailfile.Meta) {
	tb.Helper()
	var buf bytes.Buffer
	w, err := f.writer(&buf, c.schema, c.opts)
	if err != nil {
		tb.Fatal(err)
	}
	for part := range slices.Chunk(c.rows, size) {
		if err := w.Write(batch(c.schema, part, len(part))); err != nil {
			tb.Fatal(err)
		}
	}
	meta, err := w.Close()
	if err != nil {
		tb.Fatal(err)
	}
	return buf.Bytes(), meta
}

// tries reports whether the tests of all formats write this sample in this format. The
// samples with the most rows test dictionaries of Parquet. Other formats write them only if
// everything is tested.
func (f *kind) tries(c sample) bool {
	return f.name == "parquet" || len(c.rows) <= 8192 || testkit.All()
}

// shown returns a value as the readers of Parquet and Arrow show it.
func shown(c *trailfile.Column, v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case int32:
		return behaviour.Date(v).String()
	case int64:
		if c.Type == behaviour.Timestamp {
			return time.UnixMicro(v).UTC().Format("2006-01-02T15:04:05.999999Z")
		}
	}
	return fmt.Sprint(v)
}

// plainText returns a value as a text file has it, without quotes.
func plainText(f textfile.Format, c *trailfile.Column, v any) string {
	d, ok := v.(float64)
	switch {
	case ok && math.IsNaN(d):
		return "NaN"
	case ok && math.IsInf(d, 0):
		word := map[textfile.Format]string{textfile.CSV: "inf", textfile.JSON: "Infinity"}[f]
		if d < 0 {
			return "-" + word
		}
		return word
	case ok && d == math.Trunc(d) && math.Abs(d) < 1e20:
		return strconv.FormatFloat(d, 'f', 1, 64)
	case f == textfile.CSV && c.Type == behaviour.String && v != nil:
		// encoding/csv removes the carriage return even inside quotes.
		return strings.ReplaceAll(v.(string), "\r\n", "\n")
	case c.Type == behaviour.Timestamp && v != nil:
		return time.UnixMicro(v.(int64)).UTC().Format("2006-01-02T15:04:05.000000Z")
	}
	return shown(c, v)
}

// TestEveryFormatShowsWhatWasWritten compares row by row and column by column.
func TestEveryFormatShowsWhatWasWritten(t *testing.T) {
	t.Parallel()
	for _, f := range formats {
		for _, c := range samples() {
			if !f.tries(c) {
				continue
			}
			t.Run(f.name+", "+c.name, func(t *testing.T) {
				data, meta := f.write(t, c, 1000)
				if meta.Rows != int64(len(c.rows)) || meta.Bytes != int64(len(data)) {
					t.Errorf("meta is %+v, want %d rows and %d bytes", meta, len(c.rows), len(data))
				}
				if n := len(c.rows); n > 0 && (meta.First != c.rows[0].user || meta.Last != c.rows[n-1].user) {
					t.Errorf("users %q to %q, want %q to %q", meta.First, meta.Last, c.rows[0].user, c.rows[n-1].user)
				}
				r, err := f.reader(bytes.NewReader(data), int64(len(data)))
				if f.name == "jsonl" && len(c.rows) == 0 {
					if err == nil || len(data) > 0 {
						t.Errorf("a file without rows has %d bytes, and opens", len(data))
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				info, err := r.Info()
				if err != nil || info.Rows != meta.Rows || len(info.Columns) != len(c.schema.Columns) {
					t.Fatalf("%d rows of %d columns, %v; want %d of %d", info.Rows, len(info.Columns), err, meta.Rows, len(c.schema.Columns))
				}
				rows, err := r.Head(len(c.rows) + 1)
				if err != nil || len(rows) != len(c.rows) {
					t.Fatalf("%d rows, %v; want %d", len(rows), err, len(c.rows))
				}
				for col := range c.schema.Columns {
					column := &c.schema.Columns[col]
					if info.Columns[col].Name != column.Name {
						t.Errorf("column %d is %s, want %s", col, info.Columns[col].Name, column.Name)
					}
					for i := range rows {
						if want := f.text(column, c.rows[i].column(c.schema, col)); rows[i][col] != want {
							t.Fatalf("row %d, column %s: %q, want %q", i, column.Name, rows[i][col], want)
						}
					}
				}
			})
		}
	}
}

// TestBytesDoNotDependOnBatches also reuses one writer for all files, and compares them with
// the files of new writers.
func TestBytesDoNotDependOnBatches(t *testing.T) {
	t.Parallel()
	for _, f := range formats {
		for _, c := range samples() {
			if !f.tries(c) {
				continue
			}
			t.Run(f.name+", "+c.name, func(t *testing.T) {
				want, _ := f.write(t, c, len(c.rows)+1)
				for _, size := range []int{1, 7, 8191} {
					if len(c.rows) > 1000*size {
						continue // slow, and without more coverage
					}
					if got, _ := f.write(t, c, size); !bytes.Equal(got, want) {
						t.Errorf("batches of %d rows make another file", size)
					}
				}
				f.checkReuse(t, c, want)
			})
		}
	}
}

func (f *kind) checkReuse(t *testing.T, c sample, want []byte) {
	t.Helper()
	var buf bytes.Buffer
	w, err := f.writer(&buf, c.schema, c.opts)
	if err != nil {
		t.Fatal(err)
	}
	other := different(people(99, c.schema, 1000, 0))
	if c.schema.Order == 0 {
		other = userEach(other)
	}
	for _, finish := range []bool{false, true} {
		buf.Reset()
		w.Reset(&buf)
		if err := w.Write(batch(c.schema, other, 0)); err != nil {
			t.Fatal(err)
		}
		if finish {
			if _, err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		buf.Reset()
		w.Reset(&buf)
		if err := w.Write(batch(c.schema, c.rows, 2)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(buf.Bytes(), want) {
			t.Fatal("a writer used again makes another file")
		}
	}
}

// TestEveryFormatRefusesSchemas writes with invalid schemas.
func TestEveryFormatRefusesSchemas(t *testing.T) {
	for _, f := range formats {
		if _, err := f.writer(new(bytes.Buffer), trailfile.Schema{}, trailfile.Options{}); err == nil {
			t.Errorf("%s: began a file without columns", f.name)
		}
	}
}
