package record

import "bytes"

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

// appendCompact appends an object or array without the blanks between its values.
func appendCompact(dst, v []byte) []byte {
	for at := 0; at < len(v); at++ {
		switch c := v[at]; {
		case c == '"':
			end := stringEnd(v, at)
			dst = append(dst, v[at:end]...)
			at = end - 1
		case !jsonBlank(c):
			dst = append(dst, c)
		}
	}
	return dst
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
