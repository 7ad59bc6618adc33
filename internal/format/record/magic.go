package record

import (
	"bytes"
	"errors"
	"fmt"
	"path"
)

// ErrEnding is wrapped if a file is compressed and the ending of its name says that it is not.
var ErrEnding = errors.New("the ending of its name does not fit the file")

// mostMagic is the number of bytes that magic examines.
const mostMagic = 10

// magic returns the compression of a file that begins with these bytes, and the ending with which the file is decompressed. The ending
// is "" if no file of this compression is.
func magic(begin []byte) (name, ending string) {
	starts := func(s string) bool { return bytes.HasPrefix(begin, []byte(s)) }
	switch {
	case starts("\x1f\x8b\x08"):
		return "gzip", ".gz"
	case starts("\x28\xb5\x2f\xfd"):
		return "zstd", ".zst"
	case starts("BZh") && len(begin) >= mostMagic && string(begin[4:mostMagic]) == "1AY&SY":
		return "bzip2", ".bz2"
	case starts("\xfd7zXZ\x00"):
		return "xz", ""
	case starts("PK\x03\x04"):
		return "zip", ""
	}
	return "", ""
}

// checkEnding returns an error if the file at name begins as a compressed file, and its name is the name of an uncompressed one.
func checkEnding(begin []byte, name string) error {
	compression, ending := magic(begin)
	switch {
	case compression == "" || IsCompressed(name):
		return nil
	case ending == "":
		return fmt.Errorf("%w: the file is %s, which is not decompressed: unpack it, or compress it with gzip or zstd", ErrEnding, compression)
	}
	return fmt.Errorf("%w: the file is %s: call it %s%s, and let logs.path in the job match this name", ErrEnding, compression, path.Base(name), ending)
}
