// Package rowkey encodes a user, a date and a behaviour ID as a row:
//
//	reverse(user) , date , behaviour ID
//
//	"u42"  2014-09-01  play (3)   ->   24u,20140901,00003
//
// The user ID is reversed by Unicode code point, so that consecutive IDs spread
// over the regions; reversing twice returns the ID. The parts of a row cannot contain
// the separator: in a reversed user ID, a comma is written \c and a
// backslash \\. The date has eight digits, the behaviour ID five.
//
// The order of the bytes has these guarantees, which are tested:
//
//   - the rows of one user are adjacent; no row of another user is between them,
//     even if one ID is a prefix or a suffix of the other ("u1", "u10") or
//     contains the separator;
//   - among a user's rows, an earlier date comes first, and on one date the
//     smaller behaviour ID;
//   - users are sorted by their prefixes, see AppendPrefix.
//
// Escaped IDs may sort differently from unescaped IDs.
package rowkey

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"usertrail/internal/behaviour"
)

// Separator separates the parts of a row.
const Separator = ','

// tail is the length of ,YYYYMMDD,NNNNN.
const tail = 1 + 8 + 1 + 5

// A Key names one user's row for one day and behaviour.
type Key struct {
	User      string
	Date      behaviour.Date
	Behaviour uint16
}

// ErrNotRow is returned by Parse for bytes that Append cannot have written.
var ErrNotRow = errors.New("not a row of the reversed layout")

// Append appends the row of k to dst.
func (k Key) Append(dst []byte) []byte {
	return AppendRest(AppendPrefix(dst, k.User), k.Date, k.Behaviour)
}

// AppendPrefix appends the prefix of all rows of a user: the reversed, escaped ID and a
// separator. No row of another user has this prefix. The ID must be valid UTF-8.
func AppendPrefix[S ~string | ~[]byte](dst []byte, user S) []byte {
	for i := len(user); i > 0; {
		j := i - 1
		for j > 0 && !utf8.RuneStart(user[j]) {
			j--
		}
		switch user[j] {
		case Separator:
			dst = append(dst, '\\', 'c')
		case '\\':
			dst = append(dst, '\\', '\\')
		default:
			dst = append(dst, user[j:i]...)
		}
		i = j
	}
	return append(dst, Separator)
}

// AppendRest appends the part of a row after the prefix.
func AppendRest(dst []byte, d behaviour.Date, id uint16) []byte {
	return appendDigits(append(AppendDate(dst, d), Separator), int(id), 5)
}

// AppendDate appends the eight digits of a date. A user's prefix and these digits are the
// start of the user's rows of the date, and the end of the rows of the day before.
func AppendDate(dst []byte, d behaviour.Date) []byte {
	return appendDigits(dst, ymd(d), 8)
}

func appendDigits(dst []byte, v, n int) []byte {
	dst = append(dst, "00000000"[:n]...)
	for i := len(dst) - 1; v > 0; i-- {
		dst[i] = byte('0' + v%10)
		v /= 10
	}
	return dst
}

// PrefixLen returns the length of row's prefix, or 0 if row has none.
func PrefixLen(row []byte) int {
	n := len(row) - tail + 1
	if n < 2 || row[n-1] != Separator {
		return 0
	}
	return n
}

// Parse is the inverse of Append. For a row that Append cannot have written, it returns
// an error that wraps ErrNotRow. It keeps no reference to row.
func Parse(row []byte) (Key, error) {
	n := PrefixLen(row)
	if n == 0 {
		return Key{}, fmt.Errorf("%w: %q", ErrNotRow, row)
	}
	user, err := ParsePrefix(row[:n])
	if err != nil {
		return Key{}, err
	}
	d, id, err := ParseRest(row[n:])
	if err != nil {
		return Key{}, err
	}
	return Key{User: string(user), Date: d, Behaviour: id}, nil
}

// ParseRest is the inverse of AppendRest.
func ParseRest(rest []byte) (behaviour.Date, uint16, error) {
	if len(rest) != tail-1 || rest[8] != Separator {
		return 0, 0, fmt.Errorf("%w: ends in %q", ErrNotRow, rest)
	}
	ymd, ok1 := digits(rest[:8])
	id, ok2 := digits(rest[9:])
	if !ok1 || !ok2 || id == 0 || id > behaviour.MaxID {
		return 0, 0, fmt.Errorf("%w: ends in %q", ErrNotRow, rest)
	}
	d, ok := civil(ymd)
	if !ok {
		return 0, 0, fmt.Errorf("%w: no such date: %q", ErrNotRow, rest[:8])
	}
	return d, uint16(id), nil
}

func digits(b []byte) (int, bool) {
	v := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int(c-'0')
	}
	return v, true
}

// ParsePrefix returns the user ID of a prefix that AppendPrefix made.
func ParsePrefix(prefix []byte) ([]byte, error) {
	return AppendUser(make([]byte, 0, len(prefix)), prefix)
}

// AppendUser appends the user ID of a prefix to dst. It returns an error for a prefix
// that AppendPrefix cannot have written.
func AppendUser(dst, prefix []byte) ([]byte, error) {
	n := len(prefix) - 1
	if n < 1 || bytes.IndexByte(prefix, Separator) != n {
		return nil, fmt.Errorf("%w: prefix %q", ErrNotRow, prefix)
	}
	user := prefix[:n]
	if bytes.IndexByte(user, '\\') >= 0 {
		var ok bool
		if user, ok = unescape(user); !ok {
			return nil, fmt.Errorf("%w: escape in %q", ErrNotRow, prefix)
		}
	}
	if len(user) > behaviour.MaxUserLen {
		return nil, fmt.Errorf("%w: a user ID of %d bytes", ErrNotRow, len(user))
	}
	if ascii(user) {
		for i := len(user) - 1; i >= 0; i-- {
			dst = append(dst, user[i])
		}
		return dst, nil
	}
	if !utf8.Valid(user) {
		return nil, fmt.Errorf("%w: prefix %q is not UTF-8", ErrNotRow, prefix)
	}
	for len(user) > 0 {
		_, size := utf8.DecodeLastRune(user)
		dst = append(dst, user[len(user)-size:]...)
		user = user[:len(user)-size]
	}
	return dst, nil
}

// unescape returns the ID that was escaped as esc, in a new slice. It returns false if
// escaping cannot return esc.
func unescape(esc []byte) ([]byte, bool) {
	plain := make([]byte, 0, len(esc))
	for i := 0; i < len(esc); i++ {
		c := esc[i]
		if c == '\\' {
			i++
			switch {
			case i < len(esc) && esc[i] == 'c':
				c = Separator
			case i < len(esc) && esc[i] == '\\':
			default:
				return nil, false
			}
		}
		plain = append(plain, c)
	}
	return plain, true
}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
