package trailfile

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"usertrail/internal/behaviour"
)

// A Writer writes one trail file. It is for one goroutine.
type Writer struct {
	out    *counter
	schema Schema
	opts   Options
	group  *libraryGroup
	meta   Meta
	last   []byte // user of the row before
	time   int64  // and its time
	err    error  // sticky: what was written before is of no use after it
	closed bool
}

// NewWriter begins a file on w. Nothing is promised of what w holds until Close
// has returned without an error.
func NewWriter(w io.Writer, s Schema, o Options) (*Writer, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	out := &counter{w: w}
	g, err := newLibraryGroup(out, s, o)
	if err != nil {
		return nil, err
	}
	return &Writer{out: out, schema: s, opts: o, group: g}, nil
}

// Write adds the rows of b, which come after all rows written before in order
// of user and time. It keeps no reference to b. How rows are cut into batches
// changes nothing in the file. After an error the file is of no use.
func (w *Writer) Write(b *Batch) error {
	if w.closed {
		return fmt.Errorf("trailfile: write after close")
	}
	if w.err == nil {
		w.err = w.write(b)
	}
	return w.err
}

func (w *Writer) write(b *Batch) error {
	if err := w.schema.check(b); err != nil {
		return err
	}
	if err := w.order(b); err != nil {
		return err
	}
	for from := 0; from < b.Rows; {
		n := min(b.Rows-from, w.opts.GroupRows-w.group.rows)
		if err := w.group.append(b, from, n); err != nil {
			return fmt.Errorf("trailfile: row group %d: %w", w.meta.Groups, err)
		}
		from += n
		w.meta.Rows += int64(n)
		if w.group.rows == w.opts.GroupRows {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *Writer) order(b *Batch) error {
	for i := range b.Rows {
		user := b.User.Data[b.User.Off[i]:b.User.Off[i+1]]
		c := bytes.Compare(w.last, user)
		first := w.meta.Rows == 0 && i == 0
		if !first && (c > 0 || c == 0 && w.time > b.Time[i]) {
			return fmt.Errorf("trailfile: row %d out of order: user %q at %d after %q at %d",
				w.meta.Rows+int64(i), user, b.Time[i], w.last, w.time)
		}
		if first || c != 0 {
			if !utf8.Valid(user) {
				return fmt.Errorf("trailfile: row %d: user_id %q is not UTF-8", w.meta.Rows+int64(i), user)
			}
			w.last = append(w.last[:0], user...)
			if first {
				w.meta.First = string(user)
			}
		}
		w.time = b.Time[i]
	}
	return nil
}

func (w *Writer) flush() error {
	if err := w.group.flush(); err != nil {
		return fmt.Errorf("trailfile: row group %d: %w", w.meta.Groups, err)
	}
	w.meta.Groups++
	return nil
}

// Close writes what is left and the footer, and says what the file holds. It
// does not close what the file is written to.
func (w *Writer) Close() (Meta, error) {
	if w.err == nil && !w.closed {
		w.err = w.finish()
	}
	w.closed = true
	return w.meta, w.err
}

func (w *Writer) finish() error {
	if w.group.rows > 0 {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if err := w.group.close(); err != nil {
		return fmt.Errorf("trailfile: close: %w", err)
	}
	w.meta.Last = string(w.last)
	w.meta.Bytes = w.out.n
	return nil
}

// check reports a batch whose columns do not fit each other or the schema.
func (s Schema) check(b *Batch) error {
	bad := func(column string, got int) error {
		return fmt.Errorf("trailfile: batch of %d rows: column %s has %d", b.Rows, column, got)
	}
	switch {
	case len(b.Date) != b.Rows:
		return bad("date", len(b.Date))
	case len(b.Time) != b.Rows:
		return bad("time", len(b.Time))
	case len(b.Behaviour) != b.Rows:
		return bad("behaviour", len(b.Behaviour))
	case len(b.ID) != b.Rows:
		return bad("id", len(b.ID))
	case len(b.Fields) != len(s.Fields):
		return fmt.Errorf("trailfile: batch of %d fields: the schema has %d", len(b.Fields), len(s.Fields))
	}
	if err := b.User.check(b.Rows); err != nil {
		return fmt.Errorf("trailfile: batch of %d rows: column user_id: %w", b.Rows, err)
	}
	for i, k := range b.Behaviour {
		if int(k) >= len(s.Kinds) {
			return fmt.Errorf("trailfile: row %d of the batch: behaviour %d of %d", i, k, len(s.Kinds))
		}
	}
	for i := range b.Fields {
		if err := b.Fields[i].check(s.Fields[i], b.Rows); err != nil {
			return fmt.Errorf("trailfile: batch of %d rows: column %s: %w", b.Rows, s.Fields[i].Name, err)
		}
	}
	return nil
}

func (v *Values) check(f behaviour.Field, rows int) error {
	if v.Type != f.Type {
		return fmt.Errorf("is %s, the schema says %s", v.Type, f.Type)
	}
	n := 0
	switch v.Type {
	case behaviour.String:
		if err := v.Str.check(rows); err != nil {
			return err
		}
		n = rows
	case behaviour.Int64, behaviour.Timestamp:
		n = len(v.Int)
	case behaviour.Double:
		n = len(v.Double)
	case behaviour.Bool, behaviour.Day:
		n = len(v.Small)
	}
	if n != rows || len(v.Valid) != rows {
		return fmt.Errorf("has %d values and %d marks of validity", n, len(v.Valid))
	}
	return nil
}

func (s *Bytes) check(rows int) error {
	if rows == 0 && len(s.Off) == 0 {
		return nil
	}
	if len(s.Off) != rows+1 {
		return fmt.Errorf("has %d offsets", len(s.Off))
	}
	for i := range rows {
		if s.Off[i] > s.Off[i+1] {
			return fmt.Errorf("row %d ends before it begins", i)
		}
	}
	if int64(s.Off[rows]) > int64(len(s.Data)) {
		return fmt.Errorf("row %d ends at %d of %d bytes", rows-1, s.Off[rows], len(s.Data))
	}
	return nil
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
