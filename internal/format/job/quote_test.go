package job_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"usertrail/internal/format/job"
)

// checkQuote reads a quoted text where a job has texts, both in brackets and without.
func checkQuote(t *testing.T, text string) {
	t.Helper()
	q := job.Quote(text)
	for _, form := range []string{"user: %s", "user: {column: %s, pattern: x}", "logs:\n  path: x\n  nulls: [x, %s]"} {
		rest := "\nbehaviours: {a: {id: 1}}\n"
		if !strings.HasPrefix(form, "logs") {
			rest += "logs: {path: x}\n"
		}
		j, err := job.Parse("job.yaml", []byte(fmt.Sprintf(form, q)+rest))
		if err != nil {
			t.Errorf("%q as %s: %v", text, q, err)
			return
		}
		got := j.Format.Kinds[0].User.Name
		if len(j.Format.Nulls) == 2 {
			got = j.Format.Nulls[1]
		}
		if strings.HasPrefix(form, "logs") != (len(j.Format.Nulls) == 2) || got != text {
			t.Errorf("%q is read as %q, quoted as %s", text, got, q)
		}
	}
}

func TestQuotedTextsAreReadAsTheyWere(t *testing.T) {
	for _, text := range []string{"user_id", "用户", "a b", "$1", "$line", "{date}", "*", "&x", "!y", "a: b", "a #b", "true", "Null", "~", "no", "1.5", "0x1f", `\N`,
		"\t", "\x01", `"`, "'", "||", "-", "- a", "a,b", "[a]", "?", "a\nb", "\u2028", "<&>", "é", ".", "...", "2014-09-01", "a.b", "1e3", ".5", "_", "%", "@", "`"} {
		checkQuote(t, text)
	}
	if got := job.Quote("user_id"); got != "user_id" {
		t.Errorf("user_id is quoted as %s", got)
	}
}

func FuzzQuote(f *testing.F) {
	f.Add("a: b")
	f.Add("\x7f\u0085\ufeff")
	f.Fuzz(func(t *testing.T, text string) {
		if text != "" && utf8.ValidString(text) {
			checkQuote(t, text)
		}
	})
}
