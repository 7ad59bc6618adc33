package trailfile

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"usertrail/internal/behaviour"
)

// ErrClosed is returned for rows that are written after Close.
var ErrClosed = errors.New("trailfile: the writer is closed")

// A Guard keeps the promises that all formats share: columns fit the schema, rows are in
// order, text is UTF-8, and an error remains. Writers of other formats use it, for one file
// at a time.
type Guard struct {
	schema Schema
	meta   Meta
	last   []byte // user of the previous row
	time   int64  // time of the previous row
	err    error
	closed bool
}

// NewGuard returns a Guard for files of s.
func NewGuard(s Schema) (*Guard, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return &Guard{schema: s}, nil
}

// Write checks the rows of b and calls add to write them. It does not call add if a check or
// an earlier call failed.
func (g *Guard) Write(b *Batch, add func(*Batch) error) error {
	switch {
	case g.closed:
		return ErrClosed
	case g.err != nil:
		return g.err
	}
	if g.err = g.take(b); g.err == nil {
		g.err = add(b)
	}
	if g.err != nil {
		g.err = fmt.Errorf("trailfile: %w", g.err)
	}
	return g.err
}

// Close calls finish to end the file, unless an earlier call has failed. It returns the
// description of the file without its size.
func (g *Guard) Close(finish func() error) (Meta, error) {
	if g.err == nil && !g.closed {
		if err := finish(); err != nil {
			g.err = fmt.Errorf("trailfile: %w", err)
		}
	}
	g.closed = true
	g.meta.Last = string(g.last)
	return g.meta, g.err
}

// Reset begins another file of the same schema.
func (g *Guard) Reset() {
	*g = Guard{schema: g.schema, last: g.last[:0]}
}

func (g *Guard) take(b *Batch) error {
	if err := g.schema.check(b); err != nil {
		return err
	}
	if err := g.order(b); err != nil {
		return err
	}
	for i := range g.schema.Columns {
		if c := &g.schema.Columns[i]; c.Type == behaviour.String && c.Names == nil {
			if err := g.text(c, &b.Columns[i]); err != nil {
				return err
			}
		}
	}
	g.meta.Rows += int64(b.Rows)
	return nil
}

func (g *Guard) order(b *Batch) error {
	user := &b.Columns[0].Str
	for i := range b.Rows {
		s, row := user.At(i), g.meta.Rows+int64(i)
		if row == 0 {
			g.meta.First = string(s)
		} else if c := bytes.Compare(s, g.last); c < 0 || c == 0 && (g.schema.Order == 0 || b.Columns[g.schema.Order].Int[i] < g.time) {
			return outOfOrder(row, s, g.last, b.times(g.schema), i, g.time)
		} else if c == 0 {
			g.time = b.Columns[g.schema.Order].Int[i]
			continue
		}
		g.last = append(g.last[:0], s...)
		if g.schema.Order > 0 {
			g.time = b.Columns[g.schema.Order].Int[i]
		}
	}
	return nil
}

// times returns the times by which a user's rows are sorted, nil if each user has one row.
func (b *Batch) times(s Schema) []int64 {
	if s.Order == 0 {
		return nil
	}
	return b.Columns[s.Order].Int
}

func (g *Guard) text(c *Column, v *Values) error {
	if v.Str.isText() {
		return nil
	}
	for i := range v.Str.len() {
		if c.Nullable && !v.Valid[i] {
			continue
		}
		if s := v.Str.At(i); len(s) > maxValueBytes || !utf8.Valid(s) {
			return fmt.Errorf("row %d: %w", g.meta.Rows+int64(i), notText(c.Name, s))
		}
	}
	return nil
}

// isText reports whether all strings are UTF-8 and not too long. It is faster than a look at each
// string. If it returns false, the strings that are not null may be so all the same.
func (s *Bytes) isText() bool {
	n := s.len()
	if n == 0 {
		return true
	}
	all := s.Data[s.Off[0]:s.Off[n]]
	if len(all) > maxValueBytes || !utf8.Valid(all) {
		return false
	}
	for _, end := range s.Off[1:n] {
		if i := int(end - s.Off[0]); i < len(all) && !utf8.RuneStart(all[i]) {
			return false
		}
	}
	return true
}

// outOfOrder returns the error for a row that is out of order: the row of user s at times[i],
// if times is not nil, after a row of user last at time.
func outOfOrder(row int64, s, last []byte, times []int64, i int, time int64) error {
	if times == nil {
		return fmt.Errorf("row %d out of order: user %q after user %q", row, s, last)
	}
	return fmt.Errorf("row %d out of order: user %q at %d after user %q at %d", row, s, times[i], last, time)
}

// notText returns the error for a string that no column may hold.
func notText(column string, s []byte) error {
	if len(s) > maxValueBytes {
		return fmt.Errorf("column %s: a value of %d bytes, at most %d", column, len(s), maxValueBytes)
	}
	return fmt.Errorf("column %s: %.64q is not UTF-8", column, s)
}
