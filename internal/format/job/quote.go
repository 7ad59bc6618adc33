package job

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// plain is a text that YAML reads as it stands, in brackets or not.
var plain = regexp.MustCompile(`^[\p{L}_/.$][\p{L}\p{N}_/.$-]*$`)

// notTexts are words that YAML reads as something else than texts.
var notTexts = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n", ".nan", ".inf"}

// Quote writes a text as a job file has it: in quotes where YAML would read
// something else.
func Quote(text string) string {
	if plain.MatchString(text) && !slices.Contains(notTexts, strings.ToLower(text)) && strings.ContainsFunc(text, unicode.IsLetter) {
		return text
	}
	var b strings.Builder
	e := json.NewEncoder(&b) // a text of JSON is one of YAML
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic("job: a text that is not JSON: " + err.Error()) // there is none
	}
	return strings.TrimSuffix(b.String(), "\n")
}
