package record

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/valyala/fastjson"
)

// jsonObject returns the object of a line, which may end in blanks.
func jsonObject(line []byte) ([]byte, error) {
	// The validator calls itself for a value in a value.
	if deeper(line, fastjson.MaxDepth) {
		return nil, fmt.Errorf("values are nested more than %d deep", fastjson.MaxDepth)
	}
	if err := fastjson.ValidateBytes(line); err != nil {
		return nil, err
	}
	// The validator misses control characters before an escape.
	if b, found := controlInString(line); found {
		return nil, fmt.Errorf("a string has the control character 0x%02x: JSON writes it as \\u%04x", b, b)
	}
	v := line[skipBlanks(line, 0):]
	if v[0] != '{' {
		return nil, fmt.Errorf("%s in place of an object", jsonType(v[0]))
	}
	return v, nil
}

// The functions below scan JSON. Except for deeper, they are for text that is known to be valid.

// deeper reports whether JSON has more than most objects and arrays in each other. The text may be
// invalid.
func deeper(text []byte, most int) bool {
	if bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("[")) <= most {
		return false
	}
	depth := 0
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '"':
			at = stringEnd(text, at) - 1
		case '{', '[':
			if depth++; depth > most {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}

// controlInString returns the first control character in a string of JSON.
func controlInString(text []byte) (byte, bool) {
	at := 0
	for at < len(text) && text[at] >= ' ' {
		at++
	}
	if at == len(text) {
		return 0, false // nearly every line
	}
	end := 0 // of the last string
	for at, b := range text {
		switch {
		case b < ' ' && at < end:
			return b, true
		case b == '"' && at >= end:
			end = stringEnd(text, at)
		}
	}
	return 0, false
}

// skipBlanks returns the first place at or after at that is not blank, as JSON defines it.
func skipBlanks(text []byte, at int) int {
	for at < len(text) && jsonBlank(text[at]) {
		at++
	}
	return at
}

func jsonBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// stringEnd returns the place after the string that begins at at. If no quote closes the string,
// it is the end of the text.
func stringEnd(text []byte, at int) int {
	for at++; at < len(text); {
		quote := bytes.IndexByte(text[at:], '"')
		if quote < 0 {
			break
		}
		for quote += at; at <= quote; {
			escape := bytes.IndexByte(text[at:quote], '\\')
			if escape < 0 {
				return quote + 1
			}
			at += escape + len(`\x`)
		}
	}
	return len(text)
}

// valueEnd returns the place after the value that begins at at.
func valueEnd(text []byte, at int) int {
	switch text[at] {
	case '"':
		return stringEnd(text, at)
	case '{', '[':
		return nestEnd(text, at)
	}
	for at < len(text) && !jsonBlank(text[at]) && text[at] != ',' && text[at] != '}' && text[at] != ']' {
		at++
	}
	return at
}

// nestEnd returns the place after the object or array that begins at at.
func nestEnd(text []byte, at int) int {
	for depth := 0; ; at++ {
		switch text[at] {
		case '"':
			at = stringEnd(text, at) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1
			}
		}
	}
}

// firstMember returns the place of the first member of an object, or of its end.
func firstMember(object []byte) int { return skipBlanks(object, len("{")) }

// nextMember returns the place of the member after the member that ends at end, or of the end of the object.
func nextMember(object []byte, end int) int {
	at := skipBlanks(object, end)
	if object[at] == ',' {
		at = skipBlanks(object, at+1)
	}
	return at
}

// memberAt returns the name and value of the member that begins at at, and the place after it.
func memberAt(object []byte, at int) (key, value []byte, end int) {
	end = stringEnd(object, at)
	if key = object[at+1 : end-1]; bytes.IndexByte(key, '\\') >= 0 {
		key = appendUnescaped(nil, key)
	}
	at = skipBlanks(object, skipBlanks(object, end)+len(":"))
	end = valueEnd(object, at)
	return key, object[at:end], end
}

// appendUnescaped appends the characters of a string, which is without its quotes. As in encoding/json, half of a surrogate pair becomes
// U+FFFD. It appends at most len(v) bytes.
func appendUnescaped(dst, v []byte) []byte {
	for {
		at := bytes.IndexByte(v, '\\')
		if at < 0 {
			return append(dst, v...)
		}
		r, size := escaped(v[at:])
		dst = utf8.AppendRune(append(dst, v[:at]...), r)
		v = v[at+size:]
	}
}

// halved reports whether v has an escape of half of a surrogate pair.
func halved(v []byte) bool {
	for {
		at := bytes.IndexByte(v, '\\')
		if at < 0 {
			return false
		}
		r, size := escaped(v[at:])
		if utf16.IsSurrogate(r) {
			return true
		}
		v = v[at+size:]
	}
}

// appendCompact appends an object or array without the blanks between its values, and with the characters of its strings in place of
// their escapes. It appends at most len(v) bytes.
func appendCompact(dst, v []byte) []byte {
	for at := 0; at < len(v); at++ {
		switch c := v[at]; {
		case c == '"':
			end := stringEnd(v, at)
			dst = appendString(dst, v[at:end])
			at = end - 1
		case !jsonBlank(c):
			dst = append(dst, c)
		}
	}
	return dst
}

// appendString appends a string. Equal strings get the same text: only quotes, backslashes, control characters and halves of
// surrogate pairs stay escaped.
func appendString(dst, v []byte) []byte {
	for {
		at := bytes.IndexByte(v, '\\')
		if at < 0 {
			return append(dst, v...)
		}
		r, size := escaped(v[at:])
		dst = appendEscaped(append(dst, v[:at]...), r)
		v = v[at+size:]
	}
}

// Characters with an escape of two bytes, and the second byte of each. JSON also has an escape of the slash.
const (
	escapes = "\b\f\n\r\t\"\\"
	letters = `bfnrt"\`
)

// escaped returns the character of the escape at the beginning of v, and the size of the escape. Half of a surrogate pair
// counts as a character.
func escaped(v []byte) (r rune, size int) {
	if v[1] == 'u' {
		if r = hexRune(v); utf16.IsSurrogate(r) {
			if pair := utf16.DecodeRune(r, hexRune(v[6:])); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return r, 6
	}
	if i := strings.IndexByte(letters, v[1]); i >= 0 {
		return rune(escapes[i]), 2
	}
	return rune(v[1]), 2
}

// hexRune returns the number of the escape \uXXXX at the beginning of v. It returns -1 if v does not begin with one.
func hexRune(v []byte) rune {
	if len(v) < 6 || v[0] != '\\' || v[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range v[2:6] {
		digit := strings.IndexByte("0123456789abcdef", c|' ')
		if digit < 0 {
			return -1
		}
		r = r<<4 | rune(digit)
	}
	return r
}

// appendEscaped appends a character, as an escape if a string of JSON needs it.
func appendEscaped(dst []byte, r rune) []byte {
	if i := strings.IndexRune(escapes, r); i >= 0 {
		return append(dst, '\\', letters[i])
	}
	if r < ' ' || utf16.IsSurrogate(r) {
		return fmt.Appendf(dst, `\u%04x`, r)
	}
	return utf8.AppendRune(dst, r)
}

// jsonType names the type of the value whose first byte is c.
func jsonType(c byte) string {
	switch c {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't':
		return "true"
	case 'f':
		return "false"
	case 'n':
		return "null"
	}
	return "number"
}
