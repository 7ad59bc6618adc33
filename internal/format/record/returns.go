package record

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// ErrReturns is wrapped if the lines of a file end in carriage returns alone. The whole file would be one record.
var ErrReturns = errors.New("the lines end in carriage returns alone")

// ReturnsAlone reports whether the lines of a text with this beginning end in carriage returns alone.
func ReturnsAlone(begin []byte) bool {
	return !bytes.Contains(begin, newline) && bytes.Contains(bytes.TrimRight(begin, "\r"), []byte("\r"))
}

// CheckReturns returns an error that wraps ErrReturns if the lines of a log end in carriage returns alone. begin is the beginning of the
// log. Quoted values may have carriage returns.
func CheckReturns(begin []byte) error {
	if lines, others := returned(begin, true); len(lines) < 2 || others {
		return nil
	}
	return returnsError()
}

// checkReturns is CheckReturns for a log of a known format. final is set if begin is the whole log. Without a header, a value of the first
// record may have carriage returns, so the parts must have equal numbers of columns.
func checkReturns(begin []byte, final bool, f *Format, delimiter []byte) error {
	lines, others := returned(begin, f.Syntax == CSV)
	switch {
	case len(lines) < 2 || others:
		return nil
	case f.Header:
		return returnsError()
	case !final:
		lines = lines[:len(lines)-1] // the last part is cut
	}
	if len(lines) < 2 {
		return nil
	}
	columns := func(line []byte) int {
		if f.Syntax == Blanks {
			return len(bytes.Fields(line))
		}
		return bytes.Count(line, delimiter) + 1
	}
	width := columns(lines[0])
	if width < 2 || slices.ContainsFunc(lines, func(line []byte) bool { return columns(line) != width }) {
		return nil
	}
	return returnsError()
}

func returnsError() error {
	return fmt.Errorf("%w: convert the log, for example by tr '\\r' '\\n'", ErrReturns)
}

// quotedValue matches a quoted value, or the beginning of one.
var quotedValue = regexp.MustCompile(`"[^"]*("|$)`)

// returned divides the first line of a text at its carriage returns. others reports whether other lines follow. If quotes is set, line
// ends in quoted values do not count.
func returned(begin []byte, quotes bool) (lines [][]byte, others bool) {
	if bytes.Count(begin, []byte("\r")) == bytes.Count(begin, []byte("\r\n")) {
		return nil, false
	}
	if quotes {
		begin = quotedValue.ReplaceAll(begin, []byte("x"))
	}
	first, rest, _ := bytes.Cut(begin, newline)
	return bytes.Split(bytes.TrimRight(first, "\r"), []byte("\r")), len(bytes.TrimSpace(rest)) > 0
}
