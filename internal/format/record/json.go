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
//	object, array    its JSON, without blanks, and with characters in place of escapes
//	null             null, also for a missing member
//
// It copies only the requested columns, so its memory depends on the length of the line and not
// on the number of values in the line.
type jsonReader struct {
	names  []string // names of the columns: a.b is member b of member a, or member "a.b"
	spans  []span   // the columns, as spans of text
	had    []bool   // by column: whether a line had it
	text   []byte
	most   int             // bytes of text
	full   bool            // the columns have more than most bytes
	parser fastjson.Parser // of strings with escapes
}

// newJSONReader returns a reader whose columns have at most most bytes together.
func newJSONReader(most int) *jsonReader {
	return &jsonReader{text: make([]byte, 0, 512), most: most}
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
	j.had = append(j.had, false)
	return len(j.names) - 1
}

// split cuts rec. Text and spans are valid until the next call.
func (j *jsonReader) split(rec []byte) error {
	for i := range j.spans {
		j.spans[i].from = -1
	}
	j.text, j.full = j.text[:0], false
	// The validator calls itself for a value in a value.
	if deeper(rec, fastjson.MaxDepth) {
		return fmt.Errorf("values are nested more than %d deep", fastjson.MaxDepth)
	}
	if err := fastjson.ValidateBytes(rec); err != nil {
		return err
	}
	v := rec[skipBlanks(rec, 0):]
	if v[0] != '{' {
		return fmt.Errorf("%s in place of an object", jsonType(v[0]))
	}
	j.object(v, "")
	return nil
}

// object handles the members of the object at the beginning of v. within is the names of the objects
// that it is in, each with a dot after it.
func (j *jsonReader) object(v []byte, within string) {
	for at := skipBlanks(v, 1); v[at] != '}'; at = skipBlanks(v, at) {
		if v[at] == ',' {
			at++
			continue
		}
		end := stringEnd(v, at)
		key := v[at+1 : end-1]
		if bytes.IndexByte(key, '\\') >= 0 {
			key = bytes.Clone(j.unescape(v[at:end]))
		}
		at = skipBlanks(v, skipBlanks(v, end)+len(":"))
		end = valueEnd(v, at)
		j.member(key, v[at:end], within)
		at = end
	}
}

// member handles one member of an object. It serves the columns that name the member or a
// member inside it.
func (j *jsonReader) member(key, v []byte, within string) {
	inside := false
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
		case rest[len(key)] == '.' && !inside && v[0] == '{':
			inside = true
			j.object(v, name[:len(within)+len(key)+1])
		}
	}
}

// take sets a column to the text of a value.
func (j *jsonReader) take(column int, v []byte) {
	j.had[column] = true
	from := len(j.text)
	if len(v) > j.most-from {
		j.full = true
		return
	}
	switch v[0] {
	case 'n':
		j.spans[column] = span{from: -1}
		return
	case '"':
		if text := v[1 : len(v)-1]; bytes.IndexByte(text, '\\') < 0 {
			j.text = append(j.text, text...)
		} else {
			j.text = append(j.text, j.unescape(v)...)
		}
	case '{', '[':
		j.text = appendCompact(j.text, v)
	case 't', 'f':
		j.text = append(j.text, v...)
	default:
		j.text = append(j.text, plainNumber(v)...)
	}
	j.spans[column] = span{from, len(j.text)}
}

// unescape returns the characters of a valid string of JSON. They are valid until the next call.
func (j *jsonReader) unescape(v []byte) []byte {
	s, err := j.parser.ParseBytes(v)
	if err != nil {
		return nil // the line is valid
	}
	text, _ := s.StringBytes()
	return text
}
