package behaviour_test

import (
	"regexp"
	"testing"

	"usertrail/internal/behaviour"
)

// TestWordsAgreeWithTheirPattern compares IsWord with a regular expression.
func TestWordsAgreeWithTheirPattern(t *testing.T) {
	pattern := regexp.MustCompile(`^\p{L}[\p{L}\p{N}_]*$`)
	parts := []string{"", "a", "Z", "节", "é", "e\u0301", "7", "٣", "Ⅷ", "½", "_", "-", " ", ".", "\n", "\x80", "\ufffd", "😀"}
	for _, first := range parts {
		for _, second := range parts {
			for _, third := range parts {
				s := first + second + third
				if got, want := behaviour.IsWord(s), pattern.MatchString(s); got != want {
					t.Errorf("IsWord(%q) is %v, want %v", s, got, want)
				}
			}
		}
	}
}
