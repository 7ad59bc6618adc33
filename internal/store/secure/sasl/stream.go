package sasl

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// A stream of bytes travels in tokens of a layer, each behind its length:
//
//	int32 length | token
//
// lengthLen is the number of bytes of a length.
const lengthLen = 4

// A Reader reads the bytes in the tokens of a server. Only one goroutine may use it.
type Reader struct {
	in    io.Reader
	layer Layer
	limit int
	short func(length int) error

	token  []byte // has room for the last token
	unread []byte // of what was unwrapped
	err    error  // nothing after it can be trusted
}

// NewReader returns a Reader of the tokens that come from in. No token may be longer than limit bytes.
// If a length is less than the length of the shortest token, the Reader calls short, unless short is nil.
// A server that does not use the layer yet may refuse with such a length. short may read on from in.
func NewReader(in io.Reader, l Layer, limit int, short func(length int) error) *Reader {
	return &Reader{in: in, layer: l, limit: limit, short: short}
}

// Read implements io.Reader. After an error it returns the same error again.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(r.unread) == 0 {
		if r.err == nil {
			r.unread, r.err = r.next()
		}
		if r.err != nil {
			return 0, r.err
		}
	}
	n := copy(p, r.unread)
	r.unread = r.unread[n:]
	return n, nil
}

// next reads and unwraps one token. At the end of the stream it returns io.EOF.
func (r *Reader) next() ([]byte, error) {
	var length [lengthLen]byte
	if _, err := io.ReadFull(r.in, length[:]); err != nil {
		return nil, err
	}
	n := int(int32(binary.BigEndian.Uint32(length[:])))
	if n < r.layer.Least() || n > r.limit {
		if n >= 0 && n < r.layer.Least() && r.short != nil {
			if err := r.short(n); err != nil {
				return nil, err
			}
		}
		return nil, fmt.Errorf("%w: token of %d bytes, which must be %d to %d", ErrProtocol, n, r.layer.Least(), r.limit)
	}
	if cap(r.token) > keepMost {
		r.token = nil
	}
	var err error
	if r.token, err = readGrowing(r.in, r.token[:0], n); err != nil {
		return nil, err
	}
	return r.layer.Unwrap(r.token)
}

// keepMost is the room that is kept for the next token.
const keepMost = 8 << 20

// readGrowing reads n bytes. It takes memory as the bytes arrive, because a length may be a lie.
func readGrowing(in io.Reader, b []byte, n int) ([]byte, error) {
	const piece = 1 << 20
	for len(b) < n {
		have := len(b)
		more := min(n-have, max(piece, have))
		b = slices.Grow(b, more)[:have+more]
		if _, err := io.ReadFull(in, b[have:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return b, err
		}
	}
	return b, nil
}

// writeMost is the number of bytes of tokens that one write sends, unless one token is longer.
const writeMost = 256 << 10

// A Writer writes bytes in tokens. Only one goroutine may use it.
type Writer struct {
	out   io.Writer
	layer Layer
	buf   []byte
	parts [][]byte
	size  int // of parts
	err   error
}

// NewWriter returns a Writer whose tokens go to out.
func NewWriter(out io.Writer, l Layer) *Writer { return &Writer{out: out, layer: l} }

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	if err := w.WriteAll(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// WriteAll writes pieces of bytes, one after the other, in as few tokens as possible. After an
// error it returns the same error again, because the server expects the next token.
func (w *Writer) WriteAll(pieces ...[]byte) error {
	for _, p := range pieces {
		for len(p) > 0 && w.err == nil {
			n := min(len(p), w.layer.Most()-w.size)
			w.parts = append(w.parts, p[:n])
			w.size += n
			p = p[n:]
			if w.size == w.layer.Most() {
				w.wrap()
			}
		}
	}
	if w.size > 0 {
		w.wrap()
	}
	w.flush()
	return w.err
}

// wrap appends a token with the collected parts.
func (w *Writer) wrap() {
	at := len(w.buf)
	w.buf = append(w.buf, make([]byte, lengthLen)...)
	w.buf = w.layer.Wrap(w.buf, w.parts...)
	binary.BigEndian.PutUint32(w.buf[at:], uint32(len(w.buf)-at-lengthLen))
	clear(w.parts)
	w.parts, w.size = w.parts[:0], 0
	if len(w.buf) >= writeMost {
		w.flush()
	}
}

func (w *Writer) flush() {
	if len(w.buf) > 0 && w.err == nil {
		_, w.err = w.out.Write(w.buf)
	}
	w.buf = w.buf[:0]
}
