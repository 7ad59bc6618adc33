package record

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A SecondHeader is the error of a header within a file that has the names of the first header, or Format.Names, in another order. The
// records after it would have their columns in that order. It wraps ErrHeader.
type SecondHeader struct {
	Path   string
	Line   int64 // 0 if it is not known
	Offset int64 // in the file's text
	Named  bool  // the file should have no header, and the job names its columns
}

func (h *SecondHeader) Error() string {
	at := fmt.Sprintf("byte %d", h.Offset)
	if h.Line > 0 {
		at = fmt.Sprintf("line %d, %s", h.Line, at)
	}
	what := fmt.Sprintf("the second header at %s has the columns in another order: split the log there", at)
	if h.Named {
		what = fmt.Sprintf("the header at %s has the names of the job in another order: split the log there, or correct names", at)
	}
	return fmt.Sprintf("record: parse %s: %v: %s", h.Path, ErrHeader, what)
}

// Unwrap returns ErrHeader.
func (h *SecondHeader) Unwrap() error { return ErrHeader }

// headers finds headers after the first one.
type headers struct {
	order []string       // the names, as in the file
	count map[string]int // how often each name occurs
	cut   cutter
	split *splitter
	lines bool // lines are counted from the beginning of the file
}

// fewestJoined is the number of columns from which a header is found at the end of another record. A text may end with fewer names.
const fewestJoined = 3

// FindHeaders makes Parse end with a SecondHeader at a header that has the names of the columns in another order. header is the header
// that the file's Reader returned. If the format has none, the names are Format.Names. lines is set if the chunks count the lines from
// the beginning of the file, and not of a range. Only records that are bad or skipped are examined: the name of a column is no time.
func (p *Parser) FindHeaders(header []string, lines bool) {
	if !p.format.Header {
		header = p.format.Names
	}
	if p.json != nil || len(header) < 2 {
		return
	}
	h := &headers{order: header, count: map[string]int{}, cut: p.cut, split: newSplitter(p.split.syntax, p.split.delimiter), lines: lines}
	for _, name := range header {
		h.count[name]++
	}
	h.split.wanted = 0
	p.headers = h
}

// in reports whether a record ends with a header in another order, and where this header begins. It is the whole record, or comes after
// the last record of a log without a last line end. Its columns are read from the end, because the quotes before it may be wrong.
func (h *headers) in(rec []byte) (at int, found bool) {
	if h == nil {
		return 0, false
	}
	var names []string // from the last one
	for len(names) < len(h.order)-1 {
		before, name, ok := h.last(rec)
		if !ok || h.count[string(name)] == 0 {
			return 0, false
		}
		names, rec = append(names, string(name)), before
	}
	first, ok := h.missing(names)
	if !ok {
		return 0, false
	}
	names = append(names, first)
	slices.Reverse(names)
	if slices.Equal(names, h.order) {
		return 0, false
	}
	before, ok := h.trim(rec, first)
	if !ok {
		return 0, false
	}
	if h.empty(before) {
		return 0, true
	}
	at = len(bytes.TrimRight(before, mark))
	return at, first != "" && len(names) >= fewestJoined && h.ends(before[:at], before)
}

// last cuts the last of several columns from a record.
func (h *headers) last(rec []byte) (before, name []byte, ok bool) {
	if h.split.syntax == Blanks {
		rec = bytes.TrimRight(rec, " \t")
		n := bytes.LastIndexAny(rec, " \t") + 1
		return rec[:n], rec[n:], n > 0
	}
	if !h.cut.quotes || !bytes.HasSuffix(rec, []byte(`"`)) {
		n := bytes.LastIndex(rec, h.cut.delimiter)
		if n < 0 {
			return nil, nil, false
		}
		return rec[:n], rec[n+len(h.cut.delimiter):], true
	}
	open := len(rec) - 1
	for {
		if open = bytes.LastIndexByte(rec[:open], '"'); open < 0 {
			return nil, nil, false
		}
		if open == 0 || rec[open-1] != '"' {
			break
		}
		open-- // two quotes are one of the name
	}
	name = bytes.ReplaceAll(rec[open+1:len(rec)-1], []byte(`""`), []byte(`"`))
	before, ok = bytes.CutSuffix(rec[:open], h.cut.delimiter)
	return before, name, ok
}

// missing returns the name that names lack.
func (h *headers) missing(names []string) (name string, ok bool) {
	left := maps.Clone(h.count)
	for _, n := range names {
		if left[n]--; left[n] < 0 {
			return "", false
		}
	}
	for n, count := range left {
		if count > 0 {
			name = n
		}
	}
	return name, true
}

// trim cuts a name from the end of a record. The name may be in quotes.
func (h *headers) trim(rec []byte, name string) (before []byte, ok bool) {
	if h.split.syntax == Blanks {
		rec = bytes.TrimRight(rec, " \t")
	}
	if h.cut.quotes {
		if before, ok = bytes.CutSuffix(rec, []byte(`"`+strings.ReplaceAll(name, `"`, `""`)+`"`)); ok {
			return before, true
		}
	}
	return bytes.CutSuffix(rec, []byte(name))
}

// empty reports whether a text before a header is no record.
func (h *headers) empty(text []byte) bool {
	text = unmarked(text)
	if h.split.syntax == Blanks {
		text = bytes.TrimLeft(text, " \t")
	}
	return len(text) == 0
}

// ends reports whether rec may be the last record of a log. Its last column may be cut. before is the text before the header. A name
// after a blank that separates no columns is part of a text.
func (h *headers) ends(rec, before []byte) bool {
	if blank(before[len(before)-1]) && (h.split.syntax == Blanks || !bytes.HasSuffix(before, h.cut.delimiter)) {
		return false
	}
	columns := bytes.Count(rec, h.cut.delimiter) + 1
	if _, _, bad := h.cut.record(rec, true); bad == "" {
		h.split.split(unmarked(rec), h.cut.quotes && bytes.IndexByte(rec, '"') >= 0)
		columns = h.split.count
	}
	return columns == len(h.order) || columns < len(h.order) && !bytes.HasSuffix(rec, h.cut.delimiter)
}

// secondHeader returns the error of the record at a place of the chunk.
func (p *Parser) secondHeader(at int) error {
	h := &SecondHeader{Path: p.file.Path, Offset: p.chunk.Offset + int64(at), Named: !p.format.Header}
	if p.headers.lines {
		h.Line = p.lineOf(at)
	}
	return h
}
