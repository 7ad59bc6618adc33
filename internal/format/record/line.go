package record

import (
	"bytes"
	"fmt"
)

// LineAt returns the line that begins at an offset of the text, without its line end. If the
// line has more than most bytes, it returns the first most+1 bytes. It moves the Reader past
// the returned bytes, so the offsets of several calls must ascend.
func (r *Reader) LineAt(offset int64, most int) ([]byte, error) {
	buf := make([]byte, 0, firstRead)
	for r.offset < offset {
		if !r.more(buf) {
			return nil, r.noLine(offset)
		}
		r.take(int(min(int64(len(r.rest)), offset-r.offset)))
	}
	if r.offset > offset {
		return nil, r.noLine(offset)
	}
	var out []byte
	for r.more(buf) {
		end := bytes.IndexByte(r.rest, '\n')
		n := end
		if n < 0 {
			n = len(r.rest)
		}
		n = min(n, most+1-len(out))
		out = append(out, r.rest[:n]...)
		r.take(n)
		if len(out) > most {
			return out, nil
		}
		if end >= 0 {
			return bytes.TrimSuffix(out, []byte("\r")), nil
		}
	}
	if len(out) == 0 || r.failed() != nil {
		return nil, r.noLine(offset)
	}
	return bytes.TrimSuffix(out, []byte("\r")), nil
}

// Match compares texts with the text from an offset to an end of a line. It returns the number of the line that begins at the offset,
// or 0 if no line begins there, and which texts are equal. It moves the Reader past the bytes that it compared, so the offsets of
// several calls must ascend.
func (r *Reader) Match(offset int64, texts [][]byte) (line int64, same []bool, err error) {
	buf := make([]byte, 0, firstRead)
	begins := r.offset == offset
	for r.offset < offset && r.more(buf) {
		n := int(min(int64(len(r.rest)), offset-r.offset))
		begins = r.rest[n-1] == '\n'
		r.take(n)
	}
	same = make([]bool, len(texts))
	if r.offset != offset || !begins || !r.more(buf) {
		return 0, same, r.failed()
	}
	line = r.line
	differ := make([]bool, len(texts))
	for i := 0; ; i++ {
		open := 0
		ended := !r.more(buf) || r.rest[0] == '\n' || r.rest[0] == '\r'
		for t, text := range texts {
			switch {
			case differ[t] || same[t]:
			case i == len(text):
				same[t], differ[t] = ended, !ended
			case len(r.rest) == 0 || text[i] != r.rest[0]:
				differ[t] = true
			default:
				open++
			}
		}
		if open == 0 {
			return line, same, r.failed()
		}
		r.take(1)
	}
}

// more reads into buf if all bytes that were read are consumed.
func (r *Reader) more(buf []byte) bool {
	for len(r.rest) == 0 && r.err == nil {
		r.rest = buf[:0]
		r.fill(&r.rest)
	}
	return len(r.rest) > 0
}

func (r *Reader) noLine(offset int64) error {
	if err := r.failed(); err != nil {
		return fmt.Errorf("record: read %s: after offset %d: %w", r.path, r.offset, err)
	}
	return fmt.Errorf("record: %s: no line begins at offset %d", r.path, offset)
}
