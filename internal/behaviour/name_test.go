package behaviour_test

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
)

// hostile are names that a comma, an expression, a path or a folder could misread.
var hostile = []string{
	"Course viewed", "cowrie.login.failed", "0", "a,b", `say "hi"`, "a/b", "..", ".", "100%", "%20", "k=v", "' or 1", `a\b`, `["x"]`, "$env", "a_b_", "播放 视频",
	"__HIVE_DEFAULT_PARTITION__", "a->b", "#", strings.Repeat("x", behaviour.MaxNameLen),
}

func TestNamesAreAnyText(t *testing.T) {
	for _, name := range hostile {
		if err := behaviour.CheckName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for name, want := range map[string]string{
		"":                      "a name has at least one character",
		strings.Repeat("界", 86): "a name has at most 255 bytes, and this one has 258",
		"a\xff":                 "a name is UTF-8, and this one is not",
		"a\x00b":                "a name has no control characters, and this one has U+0000",
		" a":                    "a name does not begin or end with a blank: flags take such blanks away",
		"a\u3000":               "a name does not begin or end with a blank: flags take such blanks away",
		"a\tb":                  "a name has no control characters, and this one has U+0009",
		"\u0085":                "a name has no control characters, and this one has U+0085",
	} {
		if err := behaviour.CheckName(name); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}

func TestFlagsListNames(t *testing.T) {
	r := csv.NewReader(strings.NewReader(behaviour.Flag(hostile)))
	if got, err := r.Read(); err != nil || !slices.Equal(got, hostile) {
		t.Errorf("%s is read as %q, %v", behaviour.Flag(hostile), got, err)
	}
	if got := behaviour.List([]string{"play", "a,b", "Course viewed"}); got != `play, "a,b", Course viewed` {
		t.Errorf("the list is %s", got)
	}
}
