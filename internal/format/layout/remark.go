package layout

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/valyala/fastjson"

	"usertrail/internal/behaviour"
)

// A remark holds the fields of a record that have no columns of their own, as one JSON
// object without blanks:
//
//	{"_":123,"device":"tv","price":9.5,"paid":true,"until":"2014-09-01"}
//
//	_          microseconds within the millisecond, first of all, if they are not 0
//	string     a string
//	int64      a number, all digits of it
//	timestamp  a number, microseconds since 1970-01-01 UTC
//	double     a number; "NaN", "Inf", "-Inf" and "-0" as strings
//	bool       true or false
//	date       a string, YYYY-MM-DD
//
// Fields are in the order of the schema; null fields are left out. A value that these forms
// cannot hold (a string that is not UTF-8, another NaN, a year of five digits) is
// {"base64":"…"} of the bytes that its cell would hold. Every value is decoded to the same
// bytes.

// microsMember is the member of the microseconds. No field can be called so.
const microsMember = "_"

// A member is a field in a remark.
type member struct {
	slot int // index in Kind.Fields
	name string
	key  []byte // the name as JSON, with its colon
	typ  behaviour.Type
}

func memberOf(slot int, f behaviour.Field) member {
	return member{slot, f.Name, []byte(`"` + f.Name + `":`), f.Type} // a name has nothing to escape
}

// appendRemark appends the remark of a record with values, of all its fields.
func appendRemark(dst []byte, members []member, micros int64, values [][]byte) []byte {
	dst = append(dst, '{')
	first := len(dst)
	if micros != 0 {
		dst = strconv.AppendInt(append(dst, `"`+microsMember+`":`...), micros, 10)
	}
	for i := range members {
		m := &members[i]
		v := values[m.slot]
		if v == nil {
			continue
		}
		if len(dst) > first {
			dst = append(dst, ',')
		}
		dst = appendJSON(append(dst, m.key...), m.typ, v)
	}
	return append(dst, '}')
}

// appendJSON appends a value as a remark has it.
func appendJSON(dst []byte, t behaviour.Type, v []byte) []byte {
	if t.Check(v) != nil {
		return appendBase64(dst, v)
	}
	switch t {
	case behaviour.Int64, behaviour.Timestamp:
		return strconv.AppendInt(dst, behaviour.ToInt64(v), 10)
	case behaviour.Double:
		return appendDouble(dst, v)
	case behaviour.Bool:
		if v[0] == 0 || v[0] == 0xff {
			return strconv.AppendBool(dst, v[0] != 0)
		}
	case behaviour.Day:
		if d := behaviour.ToDate(v); d >= behaviour.MinDate && d <= behaviour.MaxDate {
			at := time.Unix(int64(d)*86400, 0).UTC()
			return append(at.AppendFormat(append(dst, '"'), time.DateOnly), '"')
		}
	case behaviour.String:
		if utf8.Valid(v) {
			return appendString(dst, v)
		}
	}
	return appendBase64(dst, v)
}

// A named is a double that JSON has no number for.
type named struct {
	name string
	bits uint64
}

var doubles = []named{
	{"NaN", math.Float64bits(math.NaN())},
	{"Inf", math.Float64bits(math.Inf(1))},
	{"-Inf", math.Float64bits(math.Inf(-1))},
	{"-0", math.Float64bits(math.Copysign(0, -1))},
}

func appendDouble(dst, v []byte) []byte {
	f := behaviour.ToDouble(v)
	bits := math.Float64bits(f)
	for _, d := range doubles {
		if bits == d.bits {
			return append(append(append(dst, '"'), d.name...), '"')
		}
	}
	if math.IsNaN(f) {
		return appendBase64(dst, v)
	}
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e' // as ECMAScript does: no long rows of zeros
	}
	return strconv.AppendFloat(dst, f, format, -1, 64)
}

// appendString appends valid UTF-8 as JSON; only what must be escaped is.
func appendString(dst, v []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, c := range v {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

const base64Member = "base64"

func appendBase64(dst, v []byte) []byte {
	dst = append(dst, `{"`+base64Member+`":"`...)
	return append(base64.StdEncoding.AppendEncode(dst, v), `"}`...)
}

// remarkMicros returns the microseconds of a remark, without reading its other members. It returns
// false if no remark begins like json.
func remarkMicros(json []byte) (int64, bool) {
	const begin = `{"` + microsMember + `":`
	if len(json) < 2 || json[0] != '{' || json[len(json)-1] != '}' {
		return 0, false
	}
	if len(json) < len(begin) || string(json[:len(begin)]) != begin {
		return 0, len(json) == 2 || json[1] == '"'
	}
	digits := json[len(begin) : len(json)-1]
	for i, c := range digits {
		if c == ',' {
			digits = digits[:i]
			break
		}
	}
	return parseMicros(digits)
}

// parseMicros reads the microseconds within a millisecond.
func parseMicros[S ~string | ~[]byte](digits S) (int64, bool) {
	n, err := strconv.ParseInt(string(digits), 10, 64)
	return n, err == nil && n >= 0 && n <= 999
}

// A remarkReader reads remarks.
type remarkReader struct {
	parser fastjson.Parser
	visit  func(name []byte, v *fastjson.Value)

	members []member // the requested ones
	take    func(slot int, value []byte) error
	micros  int64
	err     error
	text    []byte
	value   []byte
}

func newRemarkReader() *remarkReader {
	r := new(remarkReader)
	r.visit = r.member
	return r
}

// read calls take with the values of members, as their cells would hold them, and returns the
// microseconds. It skips other members: a later load may have added their fields. A value is valid until take returns.
func (r *remarkReader) read(json []byte, members []member, take func(slot int, value []byte) error) (micros int64, err error) {
	v, err := r.parser.ParseBytes(json)
	if err != nil {
		return 0, err
	}
	// The parser accepts more than JSON.
	if err := fastjson.ValidateBytes(json); err != nil {
		return 0, err
	}
	o, err := v.Object()
	if err != nil {
		return 0, fmt.Errorf("%s in place of an object", v.Type())
	}
	r.members, r.take, r.micros, r.err = members, take, 0, nil
	o.Visit(r.visit)
	return r.micros, r.err
}

func (r *remarkReader) member(name []byte, v *fastjson.Value) {
	if r.err != nil {
		return
	}
	if string(name) == microsMember {
		ok := v.Type() == fastjson.TypeNumber
		if ok {
			r.text = v.MarshalTo(r.text[:0])
			r.micros, ok = parseMicros(r.text)
		}
		if !ok {
			r.err = fmt.Errorf("%s: %s is not in 0..999", microsMember, v)
		}
		return
	}
	for i := range r.members {
		m := &r.members[i]
		if m.name != string(name) {
			continue
		}
		if !r.parse(m.typ, v) {
			r.err = fmt.Errorf("%s: %.100s for %s", m.name, v.String(), m.typ)
			return
		}
		r.err = r.take(m.slot, r.value)
		return
	}
}

// parse reads what appendJSON wrote into r.value.
func (r *remarkReader) parse(t behaviour.Type, v *fastjson.Value) bool {
	r.value = r.value[:0]
	switch v.Type() {
	case fastjson.TypeString:
		s, err := v.StringBytes()
		return err == nil && r.parseString(t, s)
	case fastjson.TypeNumber:
		r.text = v.MarshalTo(r.text[:0])
		return r.parseNumber(t, r.text)
	case fastjson.TypeTrue, fastjson.TypeFalse:
		r.value = behaviour.AppendBool(r.value, v.Type() == fastjson.TypeTrue)
		return t == behaviour.Bool
	case fastjson.TypeObject:
		if v.Get(base64Member) == nil {
			return false
		}
		var err error
		r.value, err = base64.StdEncoding.AppendDecode(r.value, v.GetStringBytes(base64Member))
		return err == nil
	}
	return false
}

func (r *remarkReader) parseString(t behaviour.Type, s []byte) bool {
	switch t {
	case behaviour.String:
		r.value = append(r.value, s...)
		return true
	case behaviour.Double:
		for _, d := range doubles {
			if d.name == string(s) {
				r.value = behaviour.AppendDouble(r.value, math.Float64frombits(d.bits))
				return true
			}
		}
	case behaviour.Day:
		d, ok := parseDate(s)
		r.value = behaviour.AppendDate(r.value, d)
		return ok
	}
	return false
}

// parseDate reads YYYY-MM-DD.
func parseDate(s []byte) (behaviour.Date, bool) {
	if len(s) != len(time.DateOnly) || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	year, ok1 := parseDigits(s[:4])
	month, ok2 := parseDigits(s[5:7])
	day, ok3 := parseDigits(s[8:])
	d, ok4 := dateOf(year, month, day)
	return d, ok1 && ok2 && ok3 && ok4
}

func (r *remarkReader) parseNumber(t behaviour.Type, s []byte) bool {
	switch t {
	case behaviour.Int64, behaviour.Timestamp:
		n, err := strconv.ParseInt(string(s), 10, 64)
		r.value = behaviour.AppendInt64(r.value, n)
		return err == nil
	case behaviour.Double:
		f, err := strconv.ParseFloat(string(s), 64)
		r.value = behaviour.AppendDouble(r.value, f)
		return err == nil
	}
	return false
}
