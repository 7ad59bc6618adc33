package job

import (
	"errors"
	"strings"
	"testing"
)

// TestMinRecords checks that a behaviour's own minimum replaces the minimum of the logs.
func TestMinRecords(t *testing.T) {
	j, err := Parse("job.yaml", []byte("logs: {path: \"{date}/{behaviour}\", min_records: 1}\nbehaviours: {play: {id: 1, min_records: 7}, order: {id: 2}, visit: {id: 3, min_records: 0}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[int]int64{-1: 1, 0: 7, 1: 1, 2: 0} {
		if got := j.MinRecordsOf(kind); got != want {
			t.Errorf("files of behaviour %d have %d records at least, want %d", kind, got, want)
		}
	}
}

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
