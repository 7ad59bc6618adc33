package manifest

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
)

// seal is the beginning of a compact object with a checksum. The checksum follows.
const seal = `{"sha256":"`

// sealed is the length of the beginning of a compact object with a checksum, up to the comma after the checksum.
const sealed = len(seal) + 2*sha256.Size + len(`",`)

var errSum = errors.New("its checksum is wrong: the file was changed after it was written")

// bufferSize is the number of bytes of a file that are read or written at once.
const bufferSize = 64 << 10

// A document is a struct that is written as JSON with a checksum.
type document struct {
	v   any
	sum string // the checksum
}

// newDocument computes the checksum of the struct v.
func newDocument(v any) (*document, error) {
	if f, ok := v.(referrer); ok {
		v = referring(f)
	}
	h := sha256.New()
	w := bufio.NewWriter(h)
	if err := errors.Join(writeObject(w, v, "", ""), w.Flush()); err != nil {
		return nil, err
	}
	return &document{v, hexOf(h)}, nil
}

// write writes the document, indented by one space.
func (d *document) write(to io.Writer) error {
	w := bufio.NewWriter(to)
	err := writeObject(w, d.v, d.sum, " ")
	if err == nil {
		err = w.WriteByte('\n')
	}
	if err != nil {
		return err
	}
	return w.Flush()
}

// Seal returns the struct v as JSON with a checksum, for files that are not described here.
func Seal(v any) ([]byte, error) {
	d, err := newDocument(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = d.write(&b)
	return b.Bytes(), err
}

// Unseal reads JSON that Seal returned into the struct that v points to. If b is not as it was written, or has no checksum,
// the error wraps ErrDamaged.
func Unseal(b []byte, v any) error {
	_, sum, err := unseal(bytes.NewReader(b), v, "")
	if err == nil && !sum.has {
		err = errors.New("it has no checksum")
	}
	if err != nil {
		return fmt.Errorf("%w: %w", damage{"file"}, err)
	}
	return nil
}

// A checksum is the SHA-256 of a JSON object without its checksum and without white space between tokens.
type checksum struct {
	sum string // in hex
	has bool   // the object has it
}

// unseal reads a JSON object up to its end into the struct that v points to. It returns an error if the object has another
// checksum. raw is as for readObject.
func unseal(from io.Reader, v any, raw string) (json.RawMessage, checksum, error) {
	c := &compacted{sha: sha256.New()}
	text, err := readObject(io.TeeReader(from, c), v, raw)
	if err != nil {
		return nil, checksum{}, err
	}
	sum, err := c.sum()
	return text, sum, err
}

// A compacted computes the checksum of the JSON object that is written to it.
type compacted struct {
	sha     hash.Hash
	quoted  bool   // in a string
	escaped bool   // after a backslash
	head    []byte // the first bytes without white space, at most sealed
	text    []byte // memory of Write
}

// Write implements io.Writer.
func (c *compacted) Write(b []byte) (int, error) {
	text := c.text[:0]
	for _, char := range b {
		switch {
		case c.escaped:
			c.escaped = false
		case c.quoted:
			c.quoted, c.escaped = char != '"', char == '\\'
		case char == ' ' || char == '\t' || char == '\n' || char == '\r':
			continue
		default:
			c.quoted = char == '"'
		}
		text = append(text, char)
	}
	c.text = text
	if missing := sealed - len(c.head); missing > 0 {
		n := min(missing, len(text))
		c.head, text = append(c.head, text[:n]...), text[n:]
		if n == missing {
			c.sha.Write(c.content())
		}
	}
	c.sha.Write(text)
	return len(b), nil
}

// has reports whether the object has a checksum.
func (c *compacted) has() bool { return len(c.head) == sealed && bytes.HasPrefix(c.head, []byte(seal)) }

// content returns the part of head that is not the checksum.
func (c *compacted) content() []byte {
	if c.has() {
		return []byte("{")
	}
	return c.head
}

// sum returns the checksum of the object. It returns an error if the object has another one.
func (c *compacted) sum() (checksum, error) {
	if len(c.head) < sealed {
		c.sha.Write(c.head)
	}
	sum := checksum{hexOf(c.sha), c.has()}
	if sum.has && string(c.head) != seal+sum.sum+`",` {
		return checksum{}, errSum
	}
	return sum, nil
}

func hexOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }
