package userlist

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
)

// A tabReader reads lines whose columns are separated by tabs. As in a log, quotes are part of a value. It skips empty lines, as csv.Reader does.
type tabReader struct {
	in     *bufio.Scanner
	limit  int // bytes of a line
	line   int // number of the last line
	fields []string
}

// newTabReader returns a reader of lines of fewer than limit bytes.
func newTabReader(in io.Reader, limit int) *tabReader {
	t := &tabReader{in: bufio.NewScanner(in), limit: limit}
	t.in.Buffer(nil, limit)
	return t
}

// Read returns the columns of the next line, or io.EOF. They are valid until the next call.
func (t *tabReader) Read() ([]string, error) {
	for t.in.Scan() {
		t.line++
		if line := strings.TrimRight(t.in.Text(), "\r"); line != "" {
			t.fields = slices.AppendSeq(t.fields[:0], strings.SplitSeq(line, "\t"))
			return t.fields, nil
		}
	}
	switch err := t.in.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, tooLong(t.line+1, t.limit, "")
	case err != nil:
		return nil, fmt.Errorf("line %d: %w", t.line+1, err)
	}
	return nil, io.EOF
}

// tooLong returns the error of a line of more than limit bytes. why is the likely reason, or "".
func tooLong(line, limit int, why string) error {
	return fmt.Errorf("line %d does not fit in memory: a line may have %s%s: correct the list, or raise --memory", line, humanize.IBytes(uint64(limit)), why)
}

// FieldPos returns the line of the last columns. It has no place for a column.
func (t *tabReader) FieldPos(int) (line, column int) { return t.line, 0 }
