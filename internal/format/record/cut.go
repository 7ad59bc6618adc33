package record

import "bytes"

// A cutter finds the ends of records. Reader and Parser both use it, on different pieces
// of one text. Its result depends only on the bytes from the record's beginning, so both
// find the same ends.
type cutter struct {
	quotes    bool // a record may hold newlines between quotes
	delimiter []byte
	maxLine   int
}

// line returns the size of the line at the beginning of data with its line end, and its
// content without it. The size is 0 if the line does not end in data. final is set if no more
// data follows.
func line(data []byte, final bool) (size, content int) {
	n := bytes.IndexByte(data, '\n')
	switch {
	case n >= 0:
		size, content = n+1, n
	case final:
		size, content = len(data), len(data)
	default:
		return 0, 0
	}
	if content > 0 && data[content-1] == '\r' {
		content--
	}
	return size, content
}

// unmarked returns text without the byte order marks at its beginning. In a file that was joined from others, later records may have
// them. The quote of the first field comes after them.
func unmarked(text []byte) []byte {
	if len(text) > 0 && text[0] == mark[0] {
		return bytes.TrimLeft(text, mark)
	}
	return text
}

// whole returns the number of bytes at the beginning of data that are whole records.
func (c *cutter) whole(data []byte, final bool) int {
	if final {
		return len(data)
	}
	at := 0
	for c.quotes {
		q := bytes.IndexByte(data[at:], '"')
		if q < 0 {
			break
		}
		start := at + bytes.LastIndexByte(data[at:at+q], '\n') + 1
		size, _, _ := c.quoted(data[start:], false)
		if size == 0 {
			return start
		}
		at = start + size
	}
	return at + bytes.LastIndexByte(data[at:], '\n') + 1
}

// record measures the record at the beginning of data, as line does for a line.
func (c *cutter) record(data []byte, final bool) (size, content int, bad Reason) {
	size, content = line(data, final)
	if c.quotes && (size == 0 || bytes.IndexByte(data[:content], '"') >= 0) {
		return c.quoted(data, final)
	}
	return c.short(size, content)
}

func (c *cutter) short(size, content int) (int, int, Reason) {
	if content > c.maxLine {
		return size, content, TooLong
	}
	return size, content, ""
}

// quoted measures a record of csv that may hold quotes. If its quotes are wrong, or not
// closed within maxLine bytes, the record is its first line alone.
func (c *cutter) quoted(data []byte, final bool) (size, content int, bad Reason) {
	window, cut := data, false
	if most := c.maxLine + len("\r\n"); len(data) >= most {
		window, cut = data[:most], true
	}
	size, content, end := c.scan(window)
	if !cut && (end == unended || end == unclosed) && !final {
		return 0, 0, ""
	}
	if end == unended && !cut {
		end = ended
	}
	if end == ended && content <= c.maxLine {
		return size, content, ""
	}
	size, content = line(data, final)
	if content > c.maxLine {
		return size, content, TooLong
	}
	return size, content, BadQuote
}

// An ending is the result of a scan for the end of a record.
type ending int

const (
	ended    ending = iota // the end of its line
	unended                // the end of the data, not in quotes
	unclosed               // the end of the data, in quotes
	broken                 // a quote where none is allowed
)

// scan reads data field by field, up to the end of the record or of data, and
// measures the record as line does.
func (c *cutter) scan(data []byte) (size, content int, end ending) {
	at, eol := len(data)-len(unmarked(data)), -1 // eol is len(data) if no line ends after at
	for {
		if at < len(data) && data[at] == '"' {
			n := closing(data[at:])
			if n < 0 {
				return 0, 0, unclosed
			}
			at += n
			if n := len(c.delimiter); bytes.HasPrefix(data[at:], c.delimiter) {
				at += n
				continue
			}
			return c.afterQuote(data, at)
		}
		if eol < at {
			eol = len(data)
			if n := bytes.IndexByte(data[at:], '\n'); n >= 0 {
				eol = at + n
			}
		}
		field, more := data[at:eol], false
		if d := bytes.Index(field, c.delimiter); d >= 0 {
			field, more = field[:d], true
		}
		if bytes.IndexByte(field, '"') >= 0 {
			return 0, 0, broken
		}
		switch {
		case more:
			at += len(field) + len(c.delimiter)
		case eol < len(data):
			size, content = line(data[at:eol+1], true)
			return at + size, at + content, ended
		default:
			size, content = line(data[at:], true)
			return at + size, at + content, unended
		}
	}
}

// closing returns the length of the quoted field at the beginning of data, or
// -1 if its closing quote is not in data.
func closing(data []byte) int {
	at := 1
	for {
		q := bytes.IndexByte(data[at:], '"')
		if q < 0 {
			return -1
		}
		at += q + 1
		if at == len(data) || data[at] != '"' {
			return at
		}
		at++
	}
}

// afterQuote returns the result for a closing quote that no delimiter follows.
func (c *cutter) afterQuote(data []byte, at int) (size, content int, end ending) {
	rest := data[at:]
	switch {
	case bytes.HasPrefix(rest, []byte("\n")):
		return at + 1, at, ended
	case bytes.HasPrefix(rest, []byte("\r\n")):
		return at + 2, at, ended
	case len(rest) == 0 || string(rest) == "\r":
		return len(data), at, unended
	case bytes.HasPrefix(c.delimiter, rest):
		return 0, 0, unclosed // the beginning of a delimiter: more data is needed, or it is wrong
	}
	return 0, 0, broken
}
