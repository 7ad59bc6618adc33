package behaviour

import "golang.org/x/text/unicode/norm"

// Composed reports whether text is in Unicode's composed form, NFC, as almost all texts are. macOS writes some names in the
// decomposed form: ü is u and a diaeresis there. The two look equal, and their bytes differ.
func Composed(text []byte) bool { return norm.NFC.IsNormal(text) }

// otherForm returns a hint with the word that has the same characters as s in another form, or "".
func otherForm(s string, words []string) string {
	for _, w := range words {
		if w == s || norm.NFC.String(w) != norm.NFC.String(s) {
			continue
		}
		has, write := "another", "the characters as they are there"
		switch {
		case norm.NFC.IsNormalString(w):
			has, write = "the decomposed", "the composed form"
		case norm.NFC.IsNormalString(s):
			has, write = "the composed", "the decomposed form"
		}
		return "did you mean " + w + "? this name has the same characters in " + has + " form: write " + write
	}
	return ""
}
