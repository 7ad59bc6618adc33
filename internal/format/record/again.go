package record

import (
	"fmt"
	"slices"
)

// A SecondHeader is the error of a record that has the names of the header in another order. The records after it would have their
// columns in that order. It wraps ErrHeader.
type SecondHeader struct {
	Path   string
	Line   int64 // 0 if it is not known
	Offset int64 // in the file's text
}

func (h *SecondHeader) Error() string {
	at := fmt.Sprintf("byte %d", h.Offset)
	if h.Line > 0 {
		at = fmt.Sprintf("line %d, %s", h.Line, at)
	}
	return fmt.Sprintf("record: parse %s: %v: the second header at %s has the columns in another order: split the log there", h.Path, ErrHeader, at)
}

// Unwrap returns ErrHeader.
func (h *SecondHeader) Unwrap() error { return ErrHeader }

// headers finds headers after the first one.
type headers struct {
	names []string // of the header, in order of the alphabet; nil if the file has no header, or one name
	order []string // as in the file
	bytes int      // of a header without quotes
	split *splitter
	lines bool // lines are counted from the beginning of the file
}

// FindHeaders makes Parse end with a SecondHeader at a record that has the names of the header in another order. header is the header
// that the file's Reader returned. lines is set if the chunks count the lines from the beginning of the file, and not of a range. Only
// records that are bad or skipped are examined: the name of a column is no time.
func (p *Parser) FindHeaders(header []string, lines bool) {
	if !p.format.Header || p.json != nil || len(header) < 2 {
		return
	}
	h := &headers{names: slices.Sorted(slices.Values(header)), order: header, split: newSplitter(p.split.syntax, p.split.delimiter), lines: lines}
	for _, name := range header {
		h.bytes += len(name) + len(p.split.delimiter)
	}
	h.bytes -= len(p.split.delimiter)
	p.headers = h
}

// has reports whether rec has the names of the header in another order. The cutter has found its quotes to be right.
func (h *headers) has(rec []byte, quoted bool) bool {
	if h == nil || len(rec) < h.bytes || h.split.syntax != Blanks && len(rec) > h.bytes+2*len(h.names) {
		return false // it is longer, also with a quote before and after each name
	}
	h.split.split(rec, quoted)
	if len(h.split.spans) != len(h.names) {
		return false
	}
	names := h.split.names()
	if slices.Equal(names, h.order) {
		return false
	}
	slices.Sort(names)
	return slices.Equal(names, h.names)
}

// secondHeader returns the error of the record at a place of the chunk.
func (p *Parser) secondHeader(at int) error {
	h := &SecondHeader{Path: p.file.Path, Offset: p.chunk.Offset + int64(at)}
	if p.headers.lines {
		h.Line = p.lineOf(at)
	}
	return h
}
