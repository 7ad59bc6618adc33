package manifest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
)

// seal is the beginning of a compact object with a checksum. The checksum follows.
const seal = `{"sha256":"`

var errSum = errors.New("its checksum is wrong: the file was changed after it was written")

// sealed returns a JSON object, indented by one space, with a checksum as its first field. sum
// is the digest of the object, which is the checksum.
func sealed(b []byte) (with []byte, sum string) {
	sum = digest(compact(b))
	return fmt.Appendf(nil, "{\n \"sha256\": %q,%s", sum, bytes.TrimPrefix(b, []byte("{"))), sum
}

// unsealed returns the digest of a valid JSON object without its checksum. It returns an error if
// the checksum does not match.
func unsealed(b []byte) (sum string, err error) { return checked(compact(b)) }

// checked is like unsealed, for compact JSON. It changes the bytes of content.
func checked(content []byte) (sum string, err error) {
	has, rest, ok := bytes.Cut(bytes.TrimPrefix(content, []byte(seal)), []byte(`",`))
	if !bytes.HasPrefix(content, []byte(seal)) || !ok {
		return digest(content), nil
	}
	start := len(content) - len(rest) - 1
	content[start] = '{'
	sum = digest(content[start:])
	if string(has) != sum {
		return "", errSum
	}
	return sum, nil
}

// Seal returns the struct v as JSON with a checksum, for files that are not described here.
func Seal(v any) ([]byte, error) {
	b, _, err := encode(v)
	return b, err
}

// Unseal reads JSON that Seal returned into v. If b is not as it was written, or has no checksum,
// the error wraps ErrDamaged.
func Unseal(b []byte, v any) error {
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%w: %w", damage{"file"}, err)
	}
	content := compact(b)
	if !bytes.HasPrefix(content, []byte(seal)) {
		return fmt.Errorf("%w: it has no checksum", damage{"file"})
	}
	if _, err := checked(content); err != nil {
		return fmt.Errorf("%w: %w", damage{"file"}, err)
	}
	return nil
}

// compact returns valid JSON without the white space between tokens. For valid JSON it returns
// what json.Compact returns, and it needs much less time, because it does not parse.
func compact(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		switch b[0] {
		case ' ', '\t', '\n', '\r':
			b = b[1:]
		case '"':
			n := stringEnd(b)
			out, b = append(out, b[:n]...), b[n:]
		default:
			out, b = append(out, b[0]), b[1:]
		}
	}
	return out
}

// stringEnd returns the length of the JSON string at the beginning of b.
func stringEnd(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

func digest(compact []byte) string { return fmt.Sprintf("%x", sha256.Sum256(compact)) }
