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

func digest(compact []byte) string { return fmt.Sprintf("%x", sha256.Sum256(compact)) }
