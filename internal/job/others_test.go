package job

import (
	"errors"
	"strings"
	"testing"
)

func TestOthersIsTrueOrFalse(t *testing.T) {
	parse := func(others string) (*Job, error) {
		return Parse("job.yaml", []byte("logs: \"{date}\"\nbehaviours: {play: {id: 1}}\ntable: {path: t"+others+"}"))
	}
	for text, want := range map[string]bool{"": false, ", others: false": false, ", others: true": true} {
		j, err := parse(text)
		if err != nil || j.Table.Others != want {
			t.Errorf("%q: %v, want %t", text, err, want)
		}
	}
	if _, err := parse(", others: perhaps"); !errors.Is(err, ErrJob) || !strings.Contains(err.Error(), "table.others: ") {
		t.Errorf("%v, want that the key is wrong", err)
	}
}
