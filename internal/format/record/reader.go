package record

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
)

// firstRead is the number of bytes that are read to find the header.
const firstRead = 64 << 10

// ErrHeader is wrapped if the header of a file cannot be read, or lacks a column of the
// format.
var ErrHeader = errors.New("the header does not fit the job")

// ErrLarge is wrapped if a record has more than Format.Held bytes, and the text up to there does not
// show that the record is bad. It is also wrapped if the fields of a record have more than twice as many, and if a header has more
// than Format.Columns columns.
var ErrLarge = errors.New("too large for the memory")

// ErrLargeHeader is wrapped if the header is what is too large. It wraps ErrLarge.
var ErrLargeHeader error = largeHeader{ErrLarge}

type largeHeader struct{ error }

// Unwrap returns ErrLarge.
func (l largeHeader) Unwrap() error { return l.error }

// A Reader cuts a file's text into chunks. Only one goroutine may use it.
type Reader struct {
	path   string
	in     io.Reader
	free   func()
	cut    cutter
	held   int // bytes of one record in memory, with its line end
	blanks bool
	header []string

	rest   []byte // read and not yet returned; begins with a record
	offset int64  // of rest[0] in the text
	line   int64  // number of the line that rest begins
	err    error  // the error that ended reading: io.EOF or another one
}

// Open begins to read a file from r. It decompresses the file by the ending of its path,
// decodes it, and reads the header if the format has one. The caller closes the Reader first
// and then r.
func Open(r io.Reader, file File, f *Format) (*Reader, error) { return OpenGrowing(r, file, f, nil) }

// OpenGrowing is Open with a function for zstd files whose later frames need more memory. It may be nil.
func OpenGrowing(r io.Reader, file File, f *Format, grow Grow) (*Reader, error) {
	delimiter, err := f.delimiter()
	if err != nil {
		return nil, fmt.Errorf("record: open %s: %w", file.Path, err)
	}
	in, free, err := decompress(r, file.Path, f.Window, grow)
	if err != nil {
		return nil, fmt.Errorf("record: open %s: %w", file.Path, err)
	}
	out := &Reader{
		path:   file.Path,
		free:   free,
		cut:    f.cutter(delimiter),
		held:   f.held(),
		blanks: f.Syntax == Blanks,
		line:   1,
	}
	if in, err = notUTF8(in, f.Encoding, file.Path); err == nil {
		out.in, err = Decode(in, f.Encoding)
	}
	if err == nil {
		err = out.begin(f)
	}
	if err != nil {
		out.Close()
		return nil, fmt.Errorf("record: open %s: %w", file.Path, err)
	}
	return out, nil
}

// Header returns the names of the columns in the file. It returns nil if the format has no
// header or the file has no record.
func (r *Reader) Header() []string { return r.header }

// Close frees the memory of the decompression.
func (r *Reader) Close() error {
	r.free()
	return nil
}

// begin reads a byte order mark and the header.
func (r *Reader) begin(f *Format) error {
	r.rest = make([]byte, 0, firstRead/16)
	if r.fill(&r.rest); r.err == nil {
		r.rest = slices.Grow(r.rest, firstRead-len(r.rest))
		r.fill(&r.rest)
	}
	if errors.Is(r.err, ErrEncoding) {
		return r.err
	}
	if !f.Converts() { // notUTF8 has examined other files
		if err := checkEnding(r.rest, r.path); err != nil {
			return err
		}
	}
	if bytes.HasPrefix(r.rest, []byte(mark)) {
		r.take(len(mark))
	}
	if name := WideMark(r.rest); name != "" {
		return fmt.Errorf("%w: the file begins with the byte order mark of %s, and the job says %s: write encoding: %s under logs", ErrEncoding, name, cmp.Or(f.Encoding, "utf-8"), name)
	}
	if f.Syntax == JSONL {
		return nil // Next returns the error if reading fails
	}
	if err := checkReturns(r.rest, r.err == io.EOF, f, r.cut.delimiter); err != nil || !f.Header {
		return err
	}
	rec, quoted, err := r.first()
	if err != nil || rec == nil {
		return err
	}
	s := newSplitter(f.Syntax, r.cut.delimiter)
	if len(s.delimiter) > 0 { // a header may have very many columns, and a slice that grows would hold them twice
		s.spans = make([]span, 0, bytes.Count(rec, s.delimiter)+1)
	}
	s.split(unmarked(rec), quoted)
	if f.Columns > 0 && len(s.spans) > f.Columns {
		return fmt.Errorf("header in line %d: %w: it has %d columns, and %d fit", r.line, ErrLargeHeader, len(s.spans), f.Columns)
	}
	r.header = s.names()
	r.take(len(rec))
	n, _ := line(r.rest, true) // its line end
	r.take(n)
	return nil
}

// first returns the first record that is not empty, nil if there is none. It leaves the text
// positioned at this record.
func (r *Reader) first() (rec []byte, quoted bool, err error) {
	for {
		final := r.err == io.EOF
		size, content, bad := r.cut.record(r.rest, final)
		switch {
		case bad != "":
			return nil, false, fmt.Errorf("header in line %d: %s: %w", r.line, bad, ErrHeader)
		case size > 0 && !r.empty(r.rest[:content]):
			rec = r.rest[:content]
			return rec, r.cut.quotes && bytes.IndexByte(rec, '"') >= 0, nil
		case size > 0:
			r.take(size)
		case r.err != nil:
			return nil, false, r.failed()
		case len(r.rest) > r.cut.maxLine+len("\r\n"):
			return nil, false, fmt.Errorf("header in line %d: %s: more than %d bytes: %w", r.line, TooLong, r.cut.maxLine, ErrHeader)
		case len(r.rest) > r.held:
			return nil, false, fmt.Errorf("header in line %d: %w: it has more than %d bytes", r.line, ErrLargeHeader, r.held-len("\r\n"))
		default:
			r.rest = slices.Grow(r.rest, max(firstRead, len(r.rest)))
			r.fill(&r.rest)
		}
	}
}

// empty reports whether a line is not a record.
func (r *Reader) empty(text []byte) bool {
	text = unmarked(text)
	return len(text) == 0 || r.blanks && len(bytes.Trim(text, " \t")) == 0
}

// failed returns the error that ended reading, nil at the end of the file.
func (r *Reader) failed() error {
	if r.err == io.EOF {
		return nil
	}
	return r.err
}

// take moves the position n bytes forward in the text that has been read.
func (r *Reader) take(n int) {
	r.line += int64(bytes.Count(r.rest[:n], newline))
	r.offset += int64(n)
	r.rest = r.rest[n:]
}

var newline = []byte("\n")

// Next returns the next whole records, about cap(buf) bytes of them, and io.EOF
// after the last record. The chunk is in buf, or in a larger slice if one record
// does not fit. For a truncated or damaged file, Next first returns the whole records
// before the damage and then an error. If compressed data is truncated, the error wraps
// io.ErrUnexpectedEOF. If a record is too large for Format.Held, the error wraps ErrLarge.
func (r *Reader) Next(buf []byte) (Chunk, error) {
	data := append(r.within(buf[:0]), r.rest...)
	r.rest = r.rest[:0]
	for {
		r.fill(&data)
		if n := r.cut.whole(data, r.err == io.EOF); n > 0 {
			return r.chunk(data, n), nil
		}
		switch {
		case r.err == io.EOF:
			return Chunk{}, io.EOF
		case r.err != nil:
			return Chunk{}, fmt.Errorf("record: read %s: after offset %d: %w", r.path, r.offset+int64(len(data)), r.err)
		case len(data) >= r.cut.maxLine+len("\r\n"):
			return r.skip(data)
		case len(data) >= r.held:
			return Chunk{}, fmt.Errorf("record: read %s: record at byte %d: %w: it has more than %d bytes", r.path, r.offset, ErrLarge, r.held-len("\r\n"))
		}
		data = r.within(slices.Grow(data, max(4096, len(data))))
	}
}

// within returns data with as much of its capacity as a record may have.
func (r *Reader) within(data []byte) []byte {
	return data[:len(data):max(len(data), min(cap(data), r.held))]
}

// fill reads until data is full or nothing is left to read.
func (r *Reader) fill(data *[]byte) {
	d := *data
	for len(d) < cap(d) && r.err == nil {
		n, err := r.in.Read(d[len(d):cap(d)])
		d, r.err = d[:len(d)+n], err
	}
	*data = d
}

// chunk returns the first n bytes of data and keeps the others.
func (r *Reader) chunk(data []byte, n int) Chunk {
	c := Chunk{Data: data[:n], Offset: r.offset, Line: r.line}
	r.rest = append(r.rest[:0], data[n:]...)
	r.offset += int64(n)
	r.line += int64(bytes.Count(c.Data, newline))
	return c
}

// skip skips the rest of a line that is too long to hold. data is the beginning of the
// line; its memory is reused for the text after the line.
func (r *Reader) skip(data []byte) (Chunk, error) {
	long := tooLong(r.cut.maxLine, bytes.Clone(data[:min(len(data), MaxRaw)]))
	long.Cut = true
	long.Path, long.Line, long.Offset = r.path, r.line, r.offset
	c := Chunk{Data: data[:0], Offset: r.offset, Line: r.line, Long: long}
	for {
		r.offset += int64(len(data))
		data = data[:0]
		r.fill(&data)
		if n := bytes.IndexByte(data, '\n'); n >= 0 {
			r.rest = append(r.rest[:0], data[n+1:]...)
			r.offset += int64(n + 1)
			r.line++
			return c, nil
		}
		if r.err == io.EOF {
			r.offset += int64(len(data))
			return c, nil
		}
		if r.err != nil {
			return Chunk{}, fmt.Errorf("record: read %s: after offset %d: %w", r.path, r.offset+int64(len(data)), r.err)
		}
	}
}

// tooLong returns the Reject of a line of more than most bytes. raw is the beginning of the
// line.
func tooLong(most int, raw []byte) *Reject {
	return &Reject{Reason: TooLong, Err: fmt.Errorf("more than %d bytes", most), Raw: raw[:min(len(raw), MaxRaw)], Cut: len(raw) > MaxRaw}
}
