// Package rowkey lays out who, when and what as bytes:
//
//	reverse(user) , date , behaviour ID
//
//	"u42"  2014-09-01  play (3)   ->   24u,20140901,00003
//
// The user ID is reversed by Unicode code point, so that consecutive IDs spread
// over the regions; reversing twice gives it back. The separator may not occur
// in what it separates: in a reversed user ID, a comma is written \c and a
// backslash \\. The date is eight digits, the behaviour ID five.
//
// Promised, and tested, is the order of the bytes:
//
//   - rows of one user lie side by side; no row of another user is among them,
//     also where one ID is the beginning or the end of another ("u1", "u10") or
//     holds the separator;
//   - among a user's rows, an earlier date comes first, and on one date the
//     smaller behaviour ID;
//   - users come in the order of their Prefix.
//
// Not promised is that escaped IDs come in the order of the unescaped ones.
package rowkey

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"usertrail/internal/behaviour"
)

// Separator stands between the parts of a row.
const Separator = ','

// tail is the length of ,YYYYMMDD,NNNNN.
const tail = 1 + 8 + 1 + 5

// A Key names one user's row for one day and behaviour.
type Key struct {
	User      string
	Date      behaviour.Date
	Behaviour uint16
}

// ErrNotRow is returned by Parse for what Append cannot have made.
var ErrNotRow = errors.New("not a row of the reversed layout")

// Append appends the row of k to dst.
func (k Key) Append(dst []byte) []byte {
	return AppendRest(AppendPrefix(dst, k.User), k.Date, k.Behaviour)
}

// AppendPrefix appends what all rows of a user, and no others, begin with: the
// reversed, escaped ID and a separator. The ID is valid UTF-8.
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

// AppendRest appends what follows the prefix of a row.
func AppendRest(dst []byte, d behaviour.Date, id uint16) []byte {
	return appendDigits(append(AppendDate(dst, d), Separator), int(id), 5)
}

// AppendDate appends a date's eight digits. After a user's prefix they are
// where that user's rows of the date begin, and where those of the day before end.
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

// PrefixLen returns the length of row's prefix, or 0 if it is no row.
func PrefixLen(row []byte) int {
	n := len(row) - tail + 1
	if n < 2 || row[n-1] != Separator {
		return 0
	}
	return n
}

// Parse is the inverse of Append and refuses every row that Append did not
// make. It keeps no reference to row.
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

// ParseRest reads what AppendRest wrote.
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

// AppendUser appends the user ID of a prefix to dst. It refuses every prefix
// that AppendPrefix did not make of a user ID.
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

// unescape returns what was escaped as esc, in bytes of its own, or false if
// nothing was.
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
