package record

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

// ErrEncoding is wrapped if a file is evidently not in the encoding of the format.
var ErrEncoding = errors.New("the encoding does not fit the job")

const (
	// charmapEvidence is the evidence of UTF-8 for which a text in an encoding with one byte for each character is refused. A letter
	// beyond ASCII begins a character of UTF-8 only if some sign or a rare letter is next.
	charmapEvidence = 2
	// pairsEvidence is charmapEvidence for encodings in which more than a tenth of the pairs of letters are characters of UTF-8.
	pairsEvidence = 8
	// enoughCharacters is the number of characters beyond ASCII after which the rest of a text is not examined.
	enoughCharacters = 100
)

// notUTF8 returns a reader of the same bytes, which the caller decodes from the encoding of this name. notUTF8 or the reader returns an
// error that wraps ErrEncoding if the bytes are UTF-8. Every byte has a meaning in most other encodings, so the texts would be wrong
// without an error. For UTF-16 and UTF-32, only the byte order mark of UTF-8 is an error: a text in UTF-8 has no columns there.
func notUTF8(in io.Reader, name string) (io.Reader, error) {
	e, err := lookup(name)
	if err != nil || e == nil {
		return in, err
	}
	b := bufio.NewReader(in)
	if first, _ := b.Peek(len(mark)); string(first) == mark { // the decoder meets the error
		return nil, isUTF8("the file begins with the byte order mark of utf-8", name)
	}
	if strings.HasPrefix(strings.ToLower(name), "utf") {
		return b, nil
	}
	return &utf8Detector{in: b, name: name, enough: evidenceIn(e)}, nil
}

// evidenceIn returns the evidence of UTF-8 for which a text is not in e.
func evidenceIn(e encoding.Encoding) int {
	if e == charmap.Windows874 { // Thai letters are from 0xA1 to 0xFB
		return pairsEvidence
	}
	if _, ok := e.(*charmap.Charmap); ok {
		return charmapEvidence
	}
	return pairsEvidence
}

// isUTF8 returns the error of a file that is in UTF-8. name is the encoding of the job.
func isUTF8(why, name string) error {
	return fmt.Errorf("%w: %s, and the job says %s: remove encoding under logs, or load the file with another job", ErrEncoding, why, name)
}

// A utf8Detector reads bytes and looks for UTF-8. A text is in UTF-8 if all its characters beyond ASCII are, or the first ones of many,
// and if there is enough evidence: each different character counts its bytes after the first one.
type utf8Detector struct {
	in     io.Reader
	name   string // of the encoding of the job
	enough int    // evidence

	begun      []byte // a character that is not complete
	characters int    // beyond ASCII
	seen       []rune // the first different characters
	evidence   int
	other      bool // some bytes are not UTF-8
	err        error
}

// Read implements io.Reader.
func (d *utf8Detector) Read(b []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	n, err := d.in.Read(b)
	for text := b[:n]; d.undecided() && len(text) > 0; {
		text = d.take(text)
	}
	if !d.other && d.evidence >= d.enough && (err == io.EOF || !d.undecided()) {
		d.err = isUTF8("the text is in utf-8", d.name)
		return 0, d.err
	}
	return n, err
}

// undecided reports whether more bytes are to be examined.
func (d *utf8Detector) undecided() bool {
	return !d.other && (d.characters < enoughCharacters || d.evidence < d.enough)
}

// take examines the beginning of text, and returns the rest.
func (d *utf8Detector) take(text []byte) []byte {
	if len(d.begun) == 0 {
		if text = text[asciiBytes(text):]; len(text) == 0 {
			return nil
		}
	}
	d.begun = append(d.begun, text[0])
	text = text[1:]
	if !utf8.FullRune(d.begun) {
		return text
	}
	c, size := utf8.DecodeRune(d.begun)
	d.begun = d.begun[:0]
	if size == 1 {
		d.other = true
		return text
	}
	d.characters++
	if d.evidence < d.enough && !slices.Contains(d.seen, c) {
		d.seen = append(d.seen, c)
		d.evidence += size - 1
	}
	return text
}

// asciiBytes returns the number of bytes with which text begins that are ASCII.
func asciiBytes(text []byte) int {
	for i, c := range text {
		if c >= utf8.RuneSelf {
			return i
		}
	}
	return len(text)
}
