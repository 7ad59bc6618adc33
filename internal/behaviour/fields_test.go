package behaviour_test

import (
	"slices"
	"strings"
	"testing"
)

func TestSelectFindsKindsByTheirNames(t *testing.T) {
	s := journey()
	for names, want := range map[string][]int{"": {0, 1, 2}, "order": {2}, "order login order": {0, 2}} {
		got, err := s.Select(strings.Fields(names))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q are %v, %v, want %v", names, got, err, want)
		}
	}
	_, err := s.Select([]string{"login", "Play"})
	if want := `no behaviour "Play" (did you mean play?); it has login, play, order`; err == nil || err.Error() != want {
		t.Errorf("a name that is none: %v, want %s", err, want)
	}
}
