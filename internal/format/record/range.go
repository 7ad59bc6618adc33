package record

import (
	"fmt"
	"io"
)

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
	return f.begins(r, size, at, nearRead)
}

// nearRead is the number of bytes that Begins reads at a time.
const nearRead = 1 << 20

// begins is Begins. step is the number of bytes to read at a time.
func (f *Format) begins(r io.ReaderAt, size, at int64, step int) (offset int64, sure bool, err error) {
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
	from, to := max(0, at-lead), min(size, at+most)
	b := boundaries{cut: c, in: r, step: step, window: int(most), from: from, at: int(at - from), end: int(to - from), final: to == size, begins: newPlaces(int(to-from) + 1)}
	n, sure, err := b.first()
	return from + int64(n), sure, err
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
