package record

import (
	"bytes"
	"fmt"
	"io"
)

// maxBroken is the maximum number of records with wrong quotes that Begins measures. It may
// have to scan up to MaxLine for each of them.
const maxBroken = 4096

// maxNear is the longest record around which Begins reads.
const maxNear = 16 << 20

// WhyWhole returns the reason why the file at path cannot be read in ranges, or "" if it
// can. A file can be read in ranges if offsets in its text are offsets in its bytes.
func (f *Format) WhyWhole(path string) string {
	if IsCompressed(path) {
		return "it is compressed"
	}
	if f.Converts() {
		return "it is in " + f.Encoding + ", whose offsets are counted in UTF-8"
	}
	if f.Syntax == CSV && f.maxLine() > maxNear {
		return fmt.Sprintf("a record may have %d bytes, and %d are looked through to find where one begins", f.maxLine(), maxNear)
	}
	return ""
}

// Converts reports whether files have another encoding than UTF-8.
func (f *Format) Converts() bool {
	e, err := lookup(f.Encoding)
	return e != nil || err != nil
}

// Begins returns the offset of the first record that begins at or after the byte at, in a
// file r of size bytes; a header and empty lines count as records. If there is none, it
// returns size. It reads only about MaxLine bytes around at. If these bytes allow more than
// one result, because quotes may be open before them or a line is too long, sure is false.
func (f *Format) Begins(r io.ReaderAt, size, at int64) (offset int64, sure bool, err error) {
	delimiter, err := f.delimiter()
	if err != nil {
		return 0, false, err
	}
	c := f.cutter(delimiter)
	most := int64(min(c.maxLine, maxNear) + len("\r\n"))
	lead := int64(1)
	if c.quotes {
		lead = most
	}
	from := max(0, at-lead)
	data := make([]byte, min(size, at+most)-from)
	if n, err := r.ReadAt(data, from); n < len(data) {
		return 0, false, cutShort(err)
	}
	b := boundaries{cut: c, data: data, final: from+int64(len(data)) == size, begins: make([]bool, len(data)+1)}
	b.candidates(from == 0, int(at-from))
	n, sure := b.first(int(at - from))
	return from + int64(n), sure, nil
}

// boundaries are the places in data where a record may begin.
//
// A record of several lines has at most maxLine bytes and its line end. A record that began
// before data therefore ends within that many bytes, and a line begins at its end. One of
// the lines that begin within these bytes is surely the beginning of a record, and so are
// all records that follow it. Two candidates are joined when the records after them reach
// the same place.
type boundaries struct {
	cut    cutter
	data   []byte
	final  bool // no more data follows data
	begins []bool
	open   int // how many of begins are true
}

// candidates marks the lines that begin at or before at. At the file's beginning it marks the
// first record.
func (b *boundaries) candidates(atBeginning bool, at int) {
	if atBeginning {
		n := 0
		if bytes.HasPrefix(b.data, []byte(mark)) {
			n = len(mark)
		}
		b.add(n)
		return
	}
	for n := 0; n < at; n++ {
		next := bytes.IndexByte(b.data[n:], '\n')
		if next < 0 {
			return
		}
		n += next
		b.add(n + 1)
	}
}

func (b *boundaries) add(n int) {
	if !b.begins[n] {
		b.begins[n] = true
		b.open++
	}
}

// first follows all candidates until they meet, and returns the first such place at or after
// at.
func (b *boundaries) first(at int) (n int, sure bool) {
	broken := 0
	for n := range b.begins {
		switch {
		case !b.begins[n]:
			continue
		case n >= at && b.open == 1:
			return n, true
		case n == len(b.data):
			return 0, false
		}
		size, _, bad := b.cut.record(b.data[n:], b.final)
		if bad != "" {
			broken++
		}
		if size == 0 || broken > maxBroken {
			return 0, false
		}
		b.open--
		b.add(n + size)
	}
	return 0, false
}

// OpenRange is Open for a range of a file for which WhyWhole returned "". body holds the
// bytes from offset from up to, but not including, offset to. Each of the two offsets is 0,
// the file's size, or a result of Begins. The header is read from head, which holds the file
// from its beginning; no range includes it. Lines are counted from the first line of the
// range.
func OpenRange(head, body io.Reader, file File, f *Format, from, to int64) (*Reader, error) {
	h, err := Open(head, file, f)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	if err := h.failed(); err != nil {
		return nil, fmt.Errorf("record: open %s: %w", file.Path, err)
	}
	r := &Reader{path: h.path, in: body, free: func() {}, cut: h.cut, held: h.held, blanks: h.blanks, header: h.header, line: 1, offset: from}
	r.pass(min(h.offset, to))
	return r, nil
}

// pass moves forward to an offset. Next returns the error if reading fails.
func (r *Reader) pass(to int64) {
	for r.offset < to && r.err == nil {
		r.rest = make([]byte, 0, firstRead)
		r.fill(&r.rest)
		r.take(int(min(int64(len(r.rest)), to-r.offset)))
	}
}

// Lines returns the number of line ends that have been read. After Next has returned
// io.EOF, that is the number of all line ends.
func (r *Reader) Lines() int64 { return r.line - 1 }
