package record

import (
	"bytes"
	"math"
)

// A span is a piece of a splitter's text. A null one has from < 0.
type span struct{ from, to int }

// A splitter cuts a record into columns. The columns are pieces of the record itself. If
// quotes or escapes had to be removed, they are pieces of a copy.
type splitter struct {
	syntax    Syntax
	delimiter []byte
	wanted    int // how many columns have a span, from the first one; the others are only counted

	text  []byte
	spans []span
	count int    // the columns of the record
	plain []byte // for the copy
}

// newSplitter returns a splitter that keeps all columns.
func newSplitter(syntax Syntax, delimiter []byte) *splitter {
	return &splitter{syntax: syntax, delimiter: delimiter, wanted: math.MaxInt}
}

// split cuts rec into fields. The cutter must have found its quotes to be right. quoted is
// set if rec has quotes. Text and spans are valid until the next call, and as long as rec.
func (s *splitter) split(rec []byte, quoted bool) {
	s.text, s.spans, s.count = rec, s.spans[:0], 0
	switch {
	case s.syntax == Blanks:
		s.blanks(rec)
	case quoted:
		s.quoted(rec)
	case len(s.delimiter) == 1:
		s.byByte(rec, s.delimiter[0])
	default:
		s.byString(rec)
	}
}

func (s *splitter) byByte(rec []byte, delimiter byte) {
	spans, from := s.spans, 0
	for len(spans) < s.wanted {
		n := bytes.IndexByte(rec[from:], delimiter)
		if n < 0 {
			break
		}
		spans = append(spans, span{from, from + n})
		from += n + 1
	}
	s.spans = spans
	s.last(rec, from)
}

func (s *splitter) byString(rec []byte) {
	from := 0
	for len(s.spans) < s.wanted {
		n := bytes.Index(rec[from:], s.delimiter)
		if n < 0 {
			break
		}
		s.spans = append(s.spans, span{from, from + n})
		from += n + len(s.delimiter)
	}
	s.last(rec, from)
}

// last handles the columns from a place that are left: one that is wanted, or those that are only
// counted.
func (s *splitter) last(rec []byte, from int) {
	s.count = len(s.spans) + 1
	if len(s.spans) < s.wanted {
		s.spans = append(s.spans, span{from, len(rec)})
		return
	}
	s.count += bytes.Count(rec[from:], s.delimiter)
}

func (s *splitter) blanks(rec []byte) {
	at := 0
	for {
		for at < len(rec) && blank(rec[at]) {
			at++
		}
		if at == len(rec) {
			return
		}
		from := at
		for at < len(rec) && !blank(rec[at]) {
			at++
		}
		if s.count++; s.count <= s.wanted {
			s.spans = append(s.spans, span{from, at})
		}
	}
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// quoted copies the columns, without their quotes, one after the other.
func (s *splitter) quoted(rec []byte) {
	s.plain = s.plain[:0]
	for {
		from, n := len(s.plain), 0
		isQuoted := len(rec) > 0 && rec[0] == '"'
		if isQuoted {
			n = closing(rec)
		} else if n = bytes.Index(rec, s.delimiter); n < 0 {
			n = len(rec)
		}
		if s.count++; s.count <= s.wanted {
			if isQuoted {
				s.plain = unquote(s.plain, rec[1:n-1])
			} else {
				s.plain = append(s.plain, rec[:n]...)
			}
			s.spans = append(s.spans, span{from, len(s.plain)})
		}
		if n == len(rec) {
			break
		}
		rec = rec[n+len(s.delimiter):]
	}
	s.text = s.plain
}

// unquote appends the text between two quotes. A doubled quote in it becomes one quote.
func unquote(dst, text []byte) []byte {
	for {
		q := bytes.IndexByte(text, '"')
		if q < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:q+1]...)
		text = text[q+2:]
	}
}

// names returns copies of the columns that have spans.
func (s *splitter) names() []string {
	text, out := string(s.text), make([]string, len(s.spans))
	for i, sp := range s.spans {
		out[i] = text[sp.from:sp.to]
	}
	return out
}
