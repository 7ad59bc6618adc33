package record

import "bytes"

// A span is a piece of a splitter's text. A null one has from < 0.
type span struct{ from, to int }

// A splitter cuts a record into columns. The columns are pieces of the record itself. If
// quotes or escapes had to be removed, they are pieces of a copy.
type splitter struct {
	syntax    Syntax
	delimiter []byte

	text  []byte
	spans []span
	plain []byte // for the copy
}

// split cuts rec into fields. The cutter must have found its quotes to be right. quoted is
// set if rec has quotes. Text and spans are valid until the next call, and as long as rec.
func (s *splitter) split(rec []byte, quoted bool) {
	s.text, s.spans = rec, s.spans[:0]
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
	for {
		n := bytes.IndexByte(rec[from:], delimiter)
		if n < 0 {
			break
		}
		spans = append(spans, span{from, from + n})
		from += n + 1
	}
	s.spans = append(spans, span{from, len(rec)})
}

func (s *splitter) byString(rec []byte) {
	from := 0
	for {
		n := bytes.Index(rec[from:], s.delimiter)
		if n < 0 {
			break
		}
		s.spans = append(s.spans, span{from, from + n})
		from += n + len(s.delimiter)
	}
	s.spans = append(s.spans, span{from, len(rec)})
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
		s.spans = append(s.spans, span{from, at})
	}
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// quoted copies the columns, without their quotes, one after the other.
func (s *splitter) quoted(rec []byte) {
	s.plain = s.plain[:0]
	for {
		from, n := len(s.plain), 0
		if len(rec) > 0 && rec[0] == '"' {
			n = closing(rec)
			s.plain = unquote(s.plain, rec[1:n-1])
		} else {
			n = bytes.Index(rec, s.delimiter)
			if n < 0 {
				n = len(rec)
			}
			s.plain = append(s.plain, rec[:n]...)
		}
		s.spans = append(s.spans, span{from, len(s.plain)})
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

// names returns copies of the columns as strings.
func (s *splitter) names() []string {
	out := make([]string, len(s.spans))
	for i, sp := range s.spans {
		out[i] = string(s.text[sp.from:sp.to])
	}
	return out
}
