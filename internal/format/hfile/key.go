package hfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"usertrail/internal/cell"
)

// Limits of a cell's parts.
const (
	maxRow    = math.MaxInt16
	maxFamily = math.MaxInt8
	maxTags   = math.MaxInt16
	maxValue  = 64 << 20 // HBase's own default limit is 10 MiB

	keyOverhead = 2 + 1 + 8 + 1 // of a key, in addition to row, family and qualifier

	typeMaximum cell.Type = 255 // of synthetic keys only: sorts before all real types
)

// keyLen returns the length of c's key.
func keyLen(c *cell.Cell) int {
	return keyOverhead + len(c.Row) + len(c.Family) + len(c.Qualifier)
}

// appendKey appends c's key.
func appendKey(dst []byte, c *cell.Cell) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(c.Row)))
	dst = append(dst, c.Row...)
	dst = append(dst, byte(len(c.Family)))
	dst = append(dst, c.Family...)
	dst = append(dst, c.Qualifier...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(c.Time))
	return append(dst, byte(c.Type))
}

var errKey = errors.New("not a key")

// parseKey sets the key's parts of c to slices of key.
func parseKey(c *cell.Cell, key []byte) error {
	if len(key) < keyOverhead {
		return fmt.Errorf("%w: %d bytes", errKey, len(key))
	}
	row := int(binary.BigEndian.Uint16(key))
	if row > maxRow || keyOverhead+row > len(key) {
		return fmt.Errorf("%w: a row of %d in %d bytes", errKey, row, len(key))
	}
	fam := int(key[2+row])
	if fam > maxFamily || keyOverhead+row+fam > len(key) {
		return fmt.Errorf("%w: a family of %d in %d bytes", errKey, fam, len(key))
	}
	at := 2 + row + 1 + fam
	end := len(key) - 9
	c.Row = key[2 : 2+row : 2+row]
	c.Family = key[at-fam : at : at]
	c.Qualifier = key[at:end:end]
	c.Time = int64(binary.BigEndian.Uint64(key[end:]))
	c.Type = cell.Type(key[end+8])
	return nil
}

// keyRow returns the row of a checked key.
func keyRow(key []byte) []byte {
	return key[2 : 2+int(binary.BigEndian.Uint16(key))]
}

// compareKeys orders checked keys, including synthetic ones.
func compareKeys(a, b []byte) int {
	var x, y cell.Cell
	if err := errors.Join(parseKey(&x, a), parseKey(&y, b)); err != nil {
		return bytes.Compare(a, b)
	}
	return cell.Compare(&x, &y)
}

// appendShortKey appends a key K with left < K <= right, shortened as HBase does. If the rows
// differ, K has a row between them. Otherwise, if the qualifiers differ, K has a qualifier
// between them. Otherwise K is right itself.
func appendShortKey(dst []byte, left, right *cell.Cell) []byte {
	between := cell.Cell{Time: math.MaxInt64, Type: typeMaximum}
	switch {
	case !bytes.Equal(left.Row, right.Row):
		between.Row = separator(left.Row, right.Row)
	case !bytes.Equal(left.Qualifier, right.Qualifier):
		between.Row = right.Row
		between.Family = right.Family
		between.Qualifier = separator(left.Qualifier, right.Qualifier)
	default:
		return appendKey(dst, right)
	}
	return appendKey(dst, &between)
}

// separator returns the shortest s with left < s <= right that HBase would choose.
func separator(left, right []byte) []byte {
	i := commonPrefix(left, right)
	s := append([]byte(nil), left[:i]...)
	if i == len(left) {
		return append(s, 0)
	}
	return append(s, left[i]+1)
}

// commonPrefix returns the number of leading bytes that are equal in a and b.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + trailingZeroBytes(x)
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
