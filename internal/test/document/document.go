// Package document reads the repository's documents for tests.
package document

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"usertrail/internal/test/testkit"
)

// Read returns the text of a file of the repository.
func Read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testkit.Repository(t), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Blocks returns the fenced blocks of a language in a document.
func Blocks(t testing.TB, text, language string) []string {
	t.Helper()
	out := groups(text, "(?ms)^```"+language+"\n(.*?)^```")
	if len(out) == 0 {
		t.Fatalf("no block of %s in the document", language)
	}
	return out
}

// groups returns the first group of each match.
func groups(text, expr string) []string {
	var out []string
	for _, m := range regexp.MustCompile(expr).FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}
