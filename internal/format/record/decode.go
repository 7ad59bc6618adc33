package record

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// sourceBuffer is the number of bytes of a compressed file that one read requests.
const sourceBuffer = 256 << 10

// mark is the byte order mark in UTF-8.
const mark = "\uFEFF"

// ErrCompressed is wrapped by errors about compressed data that is damaged or incomplete.
var ErrCompressed = errors.New("the compressed data is damaged or incomplete")

// Decompress returns the decompressed bytes of r, and a function that frees the decompressor.
// The ending of name determines the compression. Errors about the compressed data wrap ErrCompressed.
// window is the largest window of a zstd file in bytes; 0 means MaxWindow. If a file needs a larger one, the
// error wraps ErrWindow.
func Decompress(r io.Reader, name string, window int64) (io.Reader, func(), error) {
	return decompress(r, name, window, nil)
}

// decompress is Decompress with a Grow, which may be nil.
func decompress(r io.Reader, name string, window int64, grow Grow) (io.Reader, func(), error) {
	if !IsCompressed(name) {
		return r, func() {}, nil
	}
	window = cmp.Or(window, MaxWindow)
	from := &packed{r: r, window: window}
	in := bufio.NewReader(from) // has all of a small file
	head, err := in.Peek(in.Size())
	switch {
	case err == nil:
		in = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(head), from), sourceBuffer)
	case err != io.EOF:
		return nil, nil, err
	case len(head) == 0:
		return nil, nil, fmt.Errorf("%w: %w: it has 0 bytes, and a compressed file has more", ErrCompressed, io.ErrUnexpectedEOF)
	}
	if grow != nil {
		may := grow
		grow = func(window int64) error {
			err := may(window)
			from.failed = from.failed || err != nil // the data is not damaged
			return err
		}
	}
	out, free, err := decompressor(in, name, window, grow)
	if err != nil {
		return nil, nil, from.explain(err)
	}
	return &decompressed{out, from}, free, nil
}

// A packed reader remembers whether reading the compressed bytes failed.
type packed struct {
	r      io.Reader
	window int64
	failed bool
}

// Read implements io.Reader.
func (s *packed) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	s.failed = s.failed || err != nil && err != io.EOF
	return n, err
}

// explain returns an error of the decompressor with its cause: the compressed data or the memory, unless reading
// failed.
func (s *packed) explain(err error) error {
	switch {
	case s.failed:
		return err
	case s.window < MaxWindow && errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fmt.Errorf("%w: %w: at most %s fit", ErrWindow, err, humanize.IBytes(uint64(s.window)))
	}
	return fmt.Errorf("%w: %w", ErrCompressed, err)
}

// decompressed explains the errors of a decompressor.
type decompressed struct {
	r    io.Reader
	from *packed
}

// Read implements io.Reader.
func (d *decompressed) Read(b []byte) (int, error) {
	n, err := d.r.Read(b)
	if err != nil && err != io.EOF {
		err = d.from.explain(err)
	}
	return n, err
}

// decompressor returns the decompressor of a file by its name, and a function that frees it. grow may be nil.
func decompressor(in *bufio.Reader, name string, window int64, grow Grow) (io.Reader, func(), error) {
	free := func() {}
	switch compression(name) {
	case ".gz":
		z, err := gzip.NewReader(in)
		return z, free, cutShort(err)
	case ".zst":
		head, _ := in.Peek(headBytes) // the decoder returns the error
		if n, known := windowOf(head); known && n > window {
			return nil, nil, fmt.Errorf("%s: %w", humanize.IBytes(uint64(n)), zstd.ErrWindowSizeExceeded)
		}
		var packed io.Reader = in
		if grow != nil {
			packed = &frames{in: in, grow: grow}
		}
		z, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(uint64(window)))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	default:
		return bzip2.NewReader(in), free, nil
	}
}

// compression returns the ending of name, which may name a compression.
func compression(name string) string { return strings.ToLower(path.Ext(name)) }

// IsCompressed reports whether a file of this name is decompressed when it is read.
func IsCompressed(name string) bool {
	switch compression(name) {
	case ".gz", ".zst", ".bz2":
		return true
	}
	return false
}

// cutShort returns io.ErrUnexpectedEOF for the end of a file at a place where no compressed
// file ends. No compressed file is empty.
func cutShort(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// CheckEncoding returns an error if no encoding has this name.
func CheckEncoding(name string) error {
	_, err := lookup(name)
	return err
}

// lookup finds an encoding by its name in the WHATWG or IANA list; nil is UTF-8. UTF-16 and
// UTF-32 without a byte order in the name follow the byte order mark. Without a mark they are
// little endian.
func lookup(name string) (encoding.Encoding, error) {
	switch strings.ToLower(strings.ReplaceAll(name, "_", "-")) {
	case "", "utf-8", "utf8", "us-ascii", "ascii":
		return nil, nil
	case "utf-16", "utf16", "utf-16le":
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), nil
	case "utf-16be":
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM), nil
	case "utf-32", "utf32", "utf-32le":
		return utf32.UTF32(utf32.LittleEndian, utf32.UseBOM), nil
	case "utf-32be":
		return utf32.UTF32(utf32.BigEndian, utf32.UseBOM), nil
	}
	e, err := htmlindex.Get(name)
	if err != nil || e == encoding.Replacement {
		e, err = ianaindex.IANA.Encoding(name)
	}
	switch {
	case err == nil && e == unicode.UTF8:
		return nil, nil
	case err == nil && e != nil:
		return e, nil
	}
	return nil, fmt.Errorf("unknown encoding %q", name)
}

// Decode returns r's text in UTF-8. name is the encoding of r. A byte that is not valid in its encoding becomes U+FFFD.
func Decode(r io.Reader, name string) (io.Reader, error) {
	e, err := lookup(name)
	if err != nil || e == nil {
		return r, err
	}
	return e.NewDecoder().Reader(r), nil
}

// WideMark returns the encoding whose byte order mark begins an undecoded text, or "". No
// UTF-8 text begins with such a mark, and a text in another encoding is unlikely to.
func WideMark(text []byte) string {
	switch {
	case bytes.HasPrefix(text, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(text, []byte("\x00\x00\xfe\xff")):
		return "utf-32"
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		return "utf-16"
	}
	return ""
}

// replaced reports whether text holds the replacement character of an undecodable byte.
func replaced(text []byte) bool { return bytes.Contains(text, []byte("\uFFFD")) }
