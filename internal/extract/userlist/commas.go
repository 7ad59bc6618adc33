package userlist

import (
	"encoding/csv"
	"errors"
	"io"
)

// A commaReader reads rows as csv.Reader does, of at most limit bytes each. A quote that is not closed makes a row of all lines after
// it.
type commaReader struct {
	*csv.Reader
	in    *limited
	limit int // bytes of a row
	line  int // number of the first line of the last row; 0 before the first row
}

// newCommaReader returns a reader of rows of at most limit bytes.
func newCommaReader(in io.Reader, limit int) *commaReader {
	c := &commaReader{in: &limited{in: in}, limit: limit}
	c.Reader = csv.NewReader(c.in)
	c.ReuseRecord, c.FieldsPerRecord = true, -1
	return c
}

// Read returns the columns of the next row, or io.EOF. They are valid until the next call.
func (c *commaReader) Read() ([]string, error) {
	c.in.left = c.limit
	row, err := c.Reader.Read()
	if errors.Is(err, errLimit) {
		return nil, tooLong(c.line+1, c.limit, ", and a quote may not be closed")
	}
	if err == nil {
		c.line, _ = c.FieldPos(0)
	}
	return row, err
}

// errLimit is the error of limited after its last byte.
var errLimit = errors.New("too many bytes")

// limited reads at most left bytes.
type limited struct {
	in   io.Reader
	left int
}

// Read implements io.Reader.
func (l *limited) Read(b []byte) (int, error) {
	if l.left <= 0 {
		return 0, errLimit
	}
	n, err := l.in.Read(b[:min(len(b), l.left)])
	l.left -= n
	return n, err
}
