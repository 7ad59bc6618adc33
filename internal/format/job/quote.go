package job

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// isPlain reports whether YAML reads a text unchanged without quotes, in brackets or not.
func isPlain(text string) bool {
	for i, r := range text {
		if !unicode.IsLetter(r) && !strings.ContainsRune("_/.$", r) && (i == 0 || !unicode.IsNumber(r) && r != '-') {
			return false
		}
	}
	return text != ""
}

// notTexts lists words that YAML does not read as text.
var notTexts = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n", ".nan", ".inf"}

// Quote returns a text in the notation of a job file. It adds quotes if YAML would read the
// text as something else.
func Quote(text string) string {
	if isPlain(text) && !slices.Contains(notTexts, strings.ToLower(text)) && strings.ContainsFunc(text, unicode.IsLetter) {
		return text
	}
	var b strings.Builder
	e := json.NewEncoder(&b) // a JSON string is also a YAML string
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic("job: a text that is not JSON: " + err.Error()) // every string has a JSON form
	}
	return strings.TrimSuffix(b.String(), "\n")
}
