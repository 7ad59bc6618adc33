package behaviour_test

import (
	"encoding/csv"
	"reflect"
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

// course returns a schema with two short names.
func course() *behaviour.Schema {
	return &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{
		{ID: 1, Name: "Course viewed", As: "viewed", Fields: []behaviour.Field{{Name: "n", Type: behaviour.Int64}}},
		{ID: 2, Name: "Course left", As: "left"},
	}}
}

func TestShortNamesAreNames(t *testing.T) {
	s := course()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"Course viewed": 0, "viewed": 0, "left": 1} {
		if got, err := s.Select([]string{name}); err != nil || !slices.Equal(got, []int{want}) {
			t.Errorf("%s is %v, %v; want %d", name, got, err, want)
		}
	}
	if k, ok := s.Kind("viewed"); ok {
		t.Errorf("a short name is the name of kind %d", k)
	}
	if k, ok := s.Find(""); ok {
		t.Errorf("no name is kind %d", k)
	}
	if chosen, unknown, ok := s.Choose([]int{0, 1}, []string{"viewed.n"}); !ok || !chosen[0][0] {
		t.Errorf("viewed.n chooses %v, %s", chosen, unknown)
	}
}

func TestWrongShortNames(t *testing.T) {
	for as, want := range map[string]string{
		"a b":         `behaviour Course viewed: the short name "a b" is not a letter, then letters, digits and _`,
		"left":        "behaviour Course left: the short name left means Course viewed already: choose another name for as",
		"Course left": `behaviour Course viewed: the short name "Course left" is not a letter, then letters, digits and _`,
	} {
		s := course()
		s.Kinds[0].As = as
		if err := s.Validate(); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", as, err, want)
		}
	}
	s := course()
	s.Kinds[1].Name, s.Kinds[1].As = "viewed", ""
	if err := s.Validate(); err == nil || err.Error() != "behaviour Course viewed: the short name viewed means viewed already: choose another name for as" {
		t.Errorf("a short name that is a name: %v", err)
	}
}

// TestLaterShortNamesReplaceEarlierOnes merges jobs that add and remove short names, or move them to
// another behaviour.
func TestLaterShortNamesReplaceEarlierOnes(t *testing.T) {
	for want, change := range map[string]func(s *behaviour.Schema){
		"viewed left":    func(s *behaviour.Schema) { s.Kinds[0].As, s.Kinds[1].As = "", "" },
		"seen left":      func(s *behaviour.Schema) { s.Kinds[0].As = "seen" },
		"viewed left x2": func(s *behaviour.Schema) { s.Kinds = []behaviour.Kind{{ID: 3, Name: "x", As: "x2"}} },
		"behaviour Course left: the short name viewed means Course viewed in the table: choose another name for as":     func(s *behaviour.Schema) { s.Kinds = s.Kinds[1:]; s.Kinds[0].As = "viewed" },
		"behaviour viewed: this is the short name of Course viewed in the table: choose another name for the behaviour": func(s *behaviour.Schema) { s.Kinds = []behaviour.Kind{{ID: 3, Name: "viewed"}} },
		"behaviour x: the short name viewed means Course viewed in the table: choose another name for as":               func(s *behaviour.Schema) { s.Kinds = []behaviour.Kind{{ID: 3, Name: "x", As: "viewed"}} },
	} {
		next := course()
		change(next)
		merged, err := course().Merge(next)
		var got []string
		if err != nil {
			got = []string{err.Error()}
		} else {
			for _, k := range merged.Kinds {
				got = append(got, k.As)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("the short names are %q, want %s", got, want)
		}
	}
}

// TestASchemaLacksFieldsOfKindsThatBothHave compares schemas with more fields, more kinds and neither.
func TestASchemaLacksFieldsOfKindsThatBothHave(t *testing.T) {
	less := &behaviour.Schema{Kinds: []behaviour.Kind{{ID: 1, Name: "play", Fields: []behaviour.Field{{Name: "b"}}}, {ID: 2, Name: "order"}}}
	more := &behaviour.Schema{Kinds: []behaviour.Kind{
		{ID: 1, Name: "play", Fields: []behaviour.Field{{Name: "c"}, {Name: "b"}, {Name: "a"}}}, {ID: 2, Name: "order"},
		{ID: 3, Name: "visit", Fields: []behaviour.Field{{Name: "page"}}},
	}}
	if got, want := less.Lacks(more), (map[string][]string{"play": {"c", "a"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("the smaller schema lacks %v, want %v", got, want)
	}
	if got := more.Lacks(less); got != nil {
		t.Errorf("the larger schema lacks %v", got)
	}
}
