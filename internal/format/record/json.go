package record

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/valyala/fastjson"
)

// A jsonReader cuts a line of JSON into the requested columns. If a member appears twice, the
// last one is used, as in encoding/json. The texts are
//
//	string           its characters
//	number           its digits, with the exponent written out and without a fraction of zeros
//	true, false      the word
//	object, array    its JSON, without blanks
//	null             null, also for a missing member
type jsonReader struct {
	names  []string // names of the columns: a.b is member b of member a, or member "a.b"
	spans  []span   // the columns, as spans of text
	text   []byte
	parser fastjson.Parser
	within string // the names of the objects that visit is in, each with a dot after it
	visit  func(key []byte, v *fastjson.Value)
}

func newJSONReader() *jsonReader {
	j := &jsonReader{text: make([]byte, 0, 512)}
	j.visit = j.member
	return j
}

// column returns the number of the column called name.
func (j *jsonReader) column(name string) int {
	for i, n := range j.names {
		if n == name {
			return i
		}
	}
	j.names = append(j.names, name)
	j.spans = append(j.spans, span{from: -1})
	return len(j.names) - 1
}

// split cuts rec. Text and spans are valid until the next call.
func (j *jsonReader) split(rec []byte) error {
	for i := range j.spans {
		j.spans[i].from = -1
	}
	j.text = j.text[:0]
	v, err := j.parser.ParseBytes(rec)
	if err != nil {
		return err
	}
	// The parser accepts more than JSON, but it limits the depth.
	if err := fastjson.ValidateBytes(rec); err != nil {
		return err
	}
	o, err := v.Object()
	if err != nil {
		return fmt.Errorf("%s in place of an object", v.Type())
	}
	j.within = ""
	o.Visit(j.visit)
	return nil
}

// member handles one member of an object. It serves the columns that name the member or a
// member inside it.
func (j *jsonReader) member(key []byte, v *fastjson.Value) {
	within, inside := j.within, false
	for i, name := range j.names {
		if !strings.HasPrefix(name, within) {
			continue
		}
		rest := name[len(within):]
		if len(rest) < len(key) || rest[:len(key)] != string(key) {
			continue
		}
		switch {
		case len(rest) == len(key):
			j.take(i, v)
		case rest[len(key)] == '.' && !inside && v.Type() == fastjson.TypeObject:
			inside = true
			j.within = name[:len(within)+len(key)+1]
			o, _ := v.Object()
			o.Visit(j.visit)
			j.within = within
		}
	}
}

func (j *jsonReader) take(column int, v *fastjson.Value) {
	from := len(j.text)
	switch v.Type() {
	case fastjson.TypeNull:
		j.spans[column] = span{from: -1}
		return
	case fastjson.TypeString:
		s, _ := v.StringBytes()
		j.text = append(j.text, s...)
	case fastjson.TypeNumber:
		j.text = v.MarshalTo(j.text)
		j.text = append(j.text[:from], plainNumber(j.text[from:])...)
	default:
		j.text = v.MarshalTo(j.text)
	}
	j.spans[column] = span{from, len(j.text)}
}

// maxExponent is the largest exponent that is written out. It is beyond the range of int64
// and of every time.
const maxExponent = 40

// plainNumber writes out a JSON number's exponent and removes a fraction of zeros. The result
// may share memory with n.
func plainNumber(n []byte) []byte {
	if e := bytes.IndexAny(n, "eE"); e >= 0 {
		return withoutExponent(n, e)
	}
	dot := bytes.IndexByte(n, '.')
	if dot < 0 {
		return n
	}
	if len(bytes.TrimRight(n[dot+1:], "0")) == 0 {
		return n[:dot]
	}
	return n
}

// withoutExponent moves the dot of n, whose exponent begins at e.
func withoutExponent(n []byte, e int) []byte {
	exponent, negative := 0, false
	for _, c := range n[e+1:] {
		switch {
		case c == '-':
			negative = true
		case c != '+':
			exponent = min(exponent*10+int(c-'0'), maxExponent+1)
		}
	}
	if exponent > maxExponent {
		return n
	}
	if negative {
		exponent = -exponent
	}
	var sign []byte
	digits := n[:e]
	if digits[0] == '-' {
		sign, digits = []byte("-"), digits[1:]
	}
	whole, fraction, _ := bytes.Cut(digits, []byte("."))
	all := bytes.Join([][]byte{whole, fraction}, nil)
	point := len(whole) + exponent
	if point < 1 {
		all = append(bytes.Repeat([]byte("0"), 1-point), all...)
		point = 1
	}
	if point > len(all) {
		all = append(all, bytes.Repeat([]byte("0"), point-len(all))...)
	}
	whole = bytes.TrimLeft(all[:point], "0")
	if len(whole) == 0 {
		whole = []byte("0")
	}
	fraction = bytes.TrimRight(all[point:], "0")
	out := append(bytes.Clone(sign), whole...)
	if len(fraction) > 0 {
		out = append(append(out, '.'), fraction...)
	}
	return out
}
