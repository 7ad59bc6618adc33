package record

import (
	"bytes"
	"math"
	"math/big"
	"strconv"

	"usertrail/internal/behaviour"
)

// parseInt64 reads a decimal integer with or without a sign, and nothing else.
func parseInt64(t []byte) (v int64, ok bool) {
	digits, negative := t, false
	if len(t) > 0 && (t[0] == '-' || t[0] == '+') {
		digits, negative = t[1:], t[0] == '-'
	}
	if len(digits) == 0 {
		return 0, false
	}
	most := uint64(math.MaxInt64)
	if negative {
		most++
	}
	var n uint64
	for _, c := range digits {
		d := uint64(c - '0')
		if d > 9 || n > (most-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	if negative {
		return -int64(n), true
	}
	return int64(n), true
}

// parseScientific reads the form that spreadsheets and R use for a large integer, such as
// 4.0128e+10. The text's value must be exactly an integer.
func parseScientific(t []byte) (int64, bool) {
	if len(t) > 40 || !bytes.ContainsAny(t, "eE.") || bytes.ContainsAny(t, "/_xXpP") {
		return 0, false
	}
	if v, err := strconv.ParseFloat(string(t), 64); err != nil || math.Abs(v) > 1<<63 || v != 0 && math.Abs(v) < 0.5 {
		return 0, false // an exponent must not produce a number of a million digits
	}
	if i := bytes.IndexAny(t, "eE"); i >= 0 && len(t)-i > len("e+99") {
		return 0, false
	}
	r, ok := new(big.Rat).SetString(string(t))
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return 0, false
	}
	return r.Num().Int64(), true
}

// pow10 holds the powers of ten that a double represents exactly and parseDouble needs.
var pow10 = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// parseDouble reads a decimal number with or without an exponent, NaN, Inf or Infinity, in
// any case. A number beyond the range of finite doubles is not valid.
func parseDouble(t []byte) (float64, bool) {
	if v, ok := parseShort(t); ok {
		return v, true
	}
	for _, c := range t {
		if c == 'x' || c == 'X' || c == '_' {
			return 0, false // strconv would accept hexadecimal numbers
		}
	}
	v, err := strconv.ParseFloat(string(t), 64)
	return v, err == nil
}

// parseShort reads at most 15 digits, which may include a dot. Both the digits and the power
// of ten are then exact, so one division rounds once.
func parseShort(t []byte) (float64, bool) {
	if len(t) > 0 && t[0] == '-' {
		v, ok := parseShort(t[1:])
		return -v, ok && t[1] != '-'
	}
	if len(t) == 0 || len(t) > 16 {
		return 0, false
	}
	n, dot := uint64(0), -1
	for i, c := range t {
		switch d := uint64(c - '0'); {
		case d <= 9:
			n = n*10 + d
		case c == '.' && dot < 0:
			dot = i
		default:
			return 0, false
		}
	}
	switch {
	case dot < 0 && len(t) <= 15:
		return float64(n), true
	case dot > 0 && dot < len(t)-1:
		return float64(n) / pow10[len(t)-1-dot], true
	}
	return 0, false
}

// parseBool reads true, t, yes and 1, false, f, no and 0, in any case.
func parseBool(t []byte) (v, ok bool) {
	if len(t) == 0 || len(t) > 5 {
		return false, false
	}
	var lower [5]byte
	for i, c := range t {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	switch string(lower[:len(t)]) {
	case "true", "t", "yes", "1":
		return true, true
	case "false", "f", "no", "0":
		return false, true
	}
	return false, false
}

// A code is a behaviour.Type as a number, for fast comparison.
type code uint8

const (
	asString code = iota
	asInt64
	asDouble
	asBool
	asTimestamp
	asDate
)

var codes = map[behaviour.Type]code{
	behaviour.String: asString, behaviour.Int64: asInt64, behaviour.Double: asDouble,
	behaviour.Bool: asBool, behaviour.Timestamp: asTimestamp, behaviour.Day: asDate,
}

// value returns the cell's value of a field whose text is t, which is not null. A string is t
// itself. Other values are appended to the parser's arena.
func (p *Parser) value(f *fieldPlan, t []byte) (v []byte, ok bool) {
	if f.code == asString {
		return t, true
	}
	at := len(p.arena)
	switch f.code {
	case asInt64:
		var n int64
		n, ok = parseInt64(t)
		if !ok {
			n, ok = parseScientific(t)
		}
		p.arena = behaviour.AppendInt64(p.arena, n)
	case asDouble:
		var n float64
		n, ok = parseDouble(t)
		p.arena = behaviour.AppendDouble(p.arena, n)
	case asBool:
		var b bool
		b, ok = parseBool(t)
		p.arena = behaviour.AppendBool(p.arena, b)
	case asTimestamp:
		var micros int64
		micros, ok = f.time.micros(t)
		p.arena = behaviour.AppendInt64(p.arena, micros)
	case asDate:
		var d behaviour.Date
		d, ok = f.time.date(t)
		p.arena = behaviour.AppendDate(p.arena, d)
	}
	return p.arena[at:len(p.arena):len(p.arena)], ok
}
