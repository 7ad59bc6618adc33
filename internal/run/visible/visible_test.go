package visible_test

import (
	"testing"

	"usertrail/internal/run/visible"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain": "plain", "新闻 联播 \"x\" \\n": "新闻 联播 \"x\" \\n", "\uFFFD": "\uFFFD",
		"a\nb\r\tc": `a\nb\r\tc`, "\x1b[31mred": `\x1b[31mred`, "u\u202e1\u2066": `u\u202e1\u2066`, "a\u2028b\u0085": `a\u2028b\u0085`,
		"\xff1": `\xff1`, "a\u00a0b": `a\u00a0b`, "\uFEFFid": `\ufeffid`,
	} {
		if got := visible.Text(text); got != want {
			t.Errorf("%q is shown as %s, want %s", text, got, want)
		}
	}
}

func TestList(t *testing.T) {
	got := visible.List([]string{"id", "a b", "a,b", "", " x", "e\nf", "Größe", `"q"`})
	if want := `id, a b, "a,b", "", " x", "e\nf", Größe, "\"q\""`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := visible.List(nil); got != "" {
		t.Errorf("no names are %q", got)
	}
}
