package layout

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"usertrail/internal/behaviour"
)

// A user key is the user ID, escaped so that it holds no separator, and a separator:
//
//	u42   ->  u42_          a_b  ->  a\ub_          a\  ->  a\\_
//
// It holds one separator only, at its end, so no user's key is the beginning of another key.
// Rows that begin with user keys are in the order of the keys: all rows of "u1" are before the
// first row of "u10" or after its last row.

// sep separates the parts of a row of text. Inside a part it is written \u, and a backslash
// \\.
const sep = '_'

// appendUserKey appends the key of a user ID, which is valid UTF-8.
func appendUserKey(dst, user []byte) []byte {
	return append(appendEscaped(dst, user), sep)
}

// parseUserKey appends the user ID of a key to dst. It refuses every key that
// appendUserKey did not make of a user ID.
func parseUserKey(dst, key []byte) ([]byte, error) {
	n := len(key) - 1
	if n < 1 || userKeyLen(key) != n+1 {
		return nil, fmt.Errorf("layout: %q is not a user key: a user ID that ends in %c", key, sep)
	}
	at := len(dst)
	dst, ok := appendUnescaped(dst, key[:n])
	if !ok {
		return nil, fmt.Errorf("layout: user key %q: a backslash is neither \\u nor \\\\", key)
	}
	if user := dst[at:]; len(user) > behaviour.MaxUserLen {
		return nil, fmt.Errorf("layout: user key %q: a user ID of %d bytes, at most %d", key, len(user), behaviour.MaxUserLen)
	} else if !utf8.Valid(user) {
		return nil, fmt.Errorf("layout: user key %q is not UTF-8", key)
	}
	return dst, nil
}

// userKeyLen returns the length of the user key that row begins with, or 0 if there is
// none. It does not look into it.
func userKeyLen(row []byte) int {
	if n := bytes.IndexByte(row, sep) + 1; n > 1 {
		return n
	}
	return 0
}

// appendEscaped appends s without separators.
func appendEscaped[S ~string | ~[]byte](dst []byte, s S) []byte {
	for i := range len(s) {
		switch c := s[i]; c {
		case sep:
			dst = append(dst, '\\', 'u')
		case '\\':
			dst = append(dst, '\\', '\\')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// appendUnescaped appends the text that was escaped as esc. It returns false if escaping
// cannot return esc.
func appendUnescaped(dst, esc []byte) ([]byte, bool) {
	for {
		n := bytes.IndexByte(esc, '\\')
		if n < 0 {
			return append(dst, esc...), bytes.IndexByte(esc, sep) < 0
		}
		if n+1 == len(esc) || bytes.IndexByte(esc[:n], sep) >= 0 {
			return dst, false
		}
		dst = append(dst, esc[:n]...)
		switch esc[n+1] {
		case 'u':
			dst = append(dst, sep)
		case '\\':
			dst = append(dst, '\\')
		default:
			return dst, false
		}
		esc = esc[n+2:]
	}
}
