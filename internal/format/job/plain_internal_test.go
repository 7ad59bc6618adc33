package job

import (
	"regexp"
	"testing"
)

// TestPlainTextsAgreeWithTheirPatterns compares isPlain and isPlainKey with regular expressions.
func TestPlainTextsAgreeWithTheirPatterns(t *testing.T) {
	text, key := regexp.MustCompile(`^[\p{L}_/.$][\p{L}\p{N}_/.$-]*$`), regexp.MustCompile(`^[\p{L}\p{N}_$-]+$`)
	parts := []string{"", "a", "节", "e\u0301", "7", "Ⅷ", "_", "/", ".", "$", "-", " ", ":", "\n", "\x80", "\ufffd", "😀"}
	for _, first := range parts {
		for _, second := range parts {
			for _, third := range parts {
				s := first + second + third
				if got, want := isPlain(s), text.MatchString(s); got != want {
					t.Errorf("isPlain(%q) is %v, want %v", s, got, want)
				}
				if got, want := isPlainKey(s), key.MatchString(s); got != want {
					t.Errorf("isPlainKey(%q) is %v, want %v", s, got, want)
				}
			}
		}
	}
}
