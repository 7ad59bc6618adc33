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
func sealed(b []byte) (with []byte, sum string, err error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, b); err != nil {
		return nil, "", err
	}
	sum = digest(compact.Bytes())
	return fmt.Appendf(nil, "{\n \"sha256\": %q,%s", sum, bytes.TrimPrefix(b, []byte("{"))), sum, nil
}

// unsealed returns the digest of a JSON object without its checksum. It returns an error if the
// checksum does not match.
func unsealed(b []byte) (sum string, err error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, b); err != nil {
		return "", err
	}
	content := compact.Bytes()
	has, rest, ok := bytes.Cut(bytes.TrimPrefix(content, []byte(seal)), []byte(`",`))
	if !bytes.HasPrefix(content, []byte(seal)) || !ok {
		return digest(content), nil
	}
	sum = digest(append([]byte("{"), rest...))
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
	err := json.Unmarshal(b, v)
	if err == nil {
		_, err = unsealed(b)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", damage{"file"}, err)
	}
	if !hasSeal(b) {
		return fmt.Errorf("%w: it has no checksum", damage{"file"})
	}
	return nil
}

// hasSeal reports whether JSON begins with a checksum.
func hasSeal(b []byte) bool {
	var compact bytes.Buffer
	return json.Compact(&compact, b) == nil && bytes.HasPrefix(compact.Bytes(), []byte(seal))
}

func digest(compact []byte) string { return fmt.Sprintf("%x", sha256.Sum256(compact)) }
