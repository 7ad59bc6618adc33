package textfile

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mark is the byte order mark of UTF-8, with which a file of Excel begins.
const Mark = "\ufeff"

// maxFormula is the largest number of UTF-16 units of a text in a formula of Excel.
const maxFormula = 255

// exactInt is the first whole number that Excel does not keep exactly.
const exactInt = 1e15

// formulaStart has the characters with which a formula or an error value of Excel begins. Excel treats the
// wide forms of East Asian keyboards as the others.
const formulaStart = "=+-@#＝＋－＠"

// appendExcel appends a string that Excel shows as it is.
func appendExcel(dst, s []byte) []byte {
	if isPlain(s) {
		return appendGuarded(dst, s)
	}
	return appendFormula(dst, s)
}

// isPlain reports whether Excel reads s as text, in every language.
func isPlain(s []byte) bool {
	return !startsFormula(s) && bytes.IndexFunc(s, unicode.IsNumber) < 0 && !bytes.EqualFold(s, []byte("true")) && !bytes.EqualFold(s, []byte("false"))
}

// startsFormula reports whether s begins like a formula, after blanks and quotes.
func startsFormula(s []byte) bool {
	r, n := utf8.DecodeRune(bytes.TrimLeft(s, " \t\r\n\""))
	return n > 0 && strings.ContainsRune(formulaStart, r)
}

// appendFormula appends the formula whose result is s.
func appendFormula(dst, s []byte) []byte {
	within := guarded(s)
	if units(within) > maxFormula || bytes.ContainsAny(s, "\t\r\n") {
		return appendGuarded(dst, append([]byte("'"), s...))
	}
	text := append([]byte(`="`), bytes.ReplaceAll(within, []byte(`"`), []byte(`""`))...)
	return appendCSV(dst, append(text, '"'))
}

// units returns the number of UTF-16 units of s.
func units(s []byte) int {
	n := 0
	for _, r := range string(s) {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// appendGuarded appends s as a value of csv. A start of a formula has an apostrophe before it.
func appendGuarded(dst, s []byte) []byte {
	if startsFormula(s) {
		s = append([]byte("'"), s...)
	}
	return appendCSV(dst, guarded(s))
}

// guarded returns s with an apostrophe after each character that ends a cell in some country, if a formula
// could begin there.
func guarded(s []byte) []byte {
	var out []byte
	for {
		at := bytes.IndexAny(s, ";,\t\r\n")
		if at < 0 {
			if out == nil {
				return s
			}
			return append(out, s...)
		}
		out = append(out, s[:at+1]...)
		if s = s[at+1:]; startsFormula(s) {
			out = append(out, '\'')
		}
	}
}

// appendFormulaInt appends a number as text.
func appendFormulaInt(dst []byte, v int64) []byte { return appendFormula(dst, appendInt(nil, v)) }

// appendExcelInt appends a number, as text if Excel would lose digits.
func appendExcelInt(dst []byte, v int64) []byte {
	if v >= exactInt || v <= -exactInt {
		return appendFormulaInt(dst, v)
	}
	return appendInt(dst, v)
}

func appendStrangeExcel(dst []byte, v float64) []byte {
	return appendFormula(dst, appendStrangeCSV(nil, v))
}

// appendExcelTime appends a time to the second.
func (c *cell) appendExcelTime(dst []byte, v int64) []byte {
	dst, _ = c.clock.appendSeconds(dst, v, ' ')
	return dst
}
