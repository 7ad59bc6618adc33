package behaviour

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"time"
)

// A Type is the type of a field. A cell stores it as HBase's Bytes class does:
//
//	string     UTF-8
//	int64      8 bytes, big endian, two's complement
//	double     8 bytes, big endian, IEEE 754
//	bool       1 byte, ff true, 00 false
//	timestamp  int64, microseconds since 1970-01-01 UTC
//	date       4 bytes, big endian, days since 1970-01-01
type Type string

// The types of a field.
const (
	String    Type = "string"
	Int64     Type = "int64"
	Double    Type = "double"
	Bool      Type = "bool"
	Timestamp Type = "timestamp"
	Day       Type = "date"
)

// Types lists all types, in the order in which documents list them.
var Types = []Type{String, Int64, Double, Bool, Timestamp, Day}

// Valid reports whether t is one of Types.
func (t Type) Valid() bool {
	switch t {
	case String, Int64, Double, Bool, Timestamp, Day:
		return true
	}
	return false
}

// Size returns the number of bytes of a value of t, 0 for a string.
func (t Type) Size() int {
	switch t {
	case Int64, Double, Timestamp:
		return 8
	case Day:
		return 4
	case Bool:
		return 1
	}
	return 0
}

// Check returns an error if v cannot be a value of t.
func (t Type) Check(v []byte) error {
	if n := t.Size(); n != 0 && len(v) != n {
		return fmt.Errorf("%d bytes for %s, want %d", len(v), t, n)
	}
	return nil
}

// AppendInt64 appends an int64 or timestamp in the form of its cell.
func AppendInt64(dst []byte, v int64) []byte { return binary.BigEndian.AppendUint64(dst, uint64(v)) }

// AppendDouble appends a double in the form of its cell.
func AppendDouble(dst []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(dst, math.Float64bits(v))
}

// AppendBool appends a bool in the form of its cell.
func AppendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 0xff)
	}
	return append(dst, 0)
}

// AppendDate appends a date in the form of its cell.
func AppendDate(dst []byte, d Date) []byte { return binary.BigEndian.AppendUint32(dst, uint32(d)) }

// ToInt64 reads what AppendInt64 wrote.
func ToInt64(v []byte) int64 { return int64(binary.BigEndian.Uint64(v)) }

// ToDouble reads what AppendDouble wrote.
func ToDouble(v []byte) float64 { return math.Float64frombits(binary.BigEndian.Uint64(v)) }

// ToBool reads what AppendBool wrote.
func ToBool(v []byte) bool { return v[0] != 0 }

// ToDate reads what AppendDate wrote.
func ToDate(v []byte) Date { return Date(int32(binary.BigEndian.Uint32(v))) }

// LocalText returns a local time in microseconds as readable text.
func LocalText(wall int64) string {
	return time.UnixMicro(wall).UTC().Format("2006-01-02T15:04:05.999999")
}

// Text returns a value of t as readable text. Times are in UTC.
func (t Type) Text(v []byte) string {
	if t.Check(v) != nil {
		return fmt.Sprintf("%x", v)
	}
	switch t {
	case Int64:
		return strconv.FormatInt(ToInt64(v), 10)
	case Double:
		return strconv.FormatFloat(ToDouble(v), 'g', -1, 64)
	case Bool:
		return strconv.FormatBool(ToBool(v))
	case Timestamp:
		return LocalText(ToInt64(v)) + "Z"
	case Day:
		return ToDate(v).String()
	}
	return string(v)
}
