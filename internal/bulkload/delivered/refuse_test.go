package delivered_test

import (
	"errors"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
)

// TestAFileWithoutABehaviourIsNotToBeSkipped checks the next step if some records of a file name no behaviour, and if all do. To
// skip all records would load nothing, with status 0.
func TestAFileWithoutABehaviourIsNotToBeSkipped(t *testing.T) {
	j, err := job.Parse("job.yaml", []byte("logs: {path: \"logs/*.csv\", behaviour: kind}\nbehaviours: {play: {id: 1}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for unknown, skips := range map[int64]bool{50: true, 100: false} {
		var others manifest.Unmapped
		others.Add([]byte("shop"), unknown)
		c := &manifest.Counts{Read: 100, Skips: manifest.Skips{Unknown: unknown}}
		err := delivered.TooManyOthers(j, "a.csv", c, &others, delivered.NotLoaded)
		if !errors.Is(err, bulkload.ErrTooBad) || strings.Contains(err.Error(), "others: skip") != skips || strings.Contains(err.Error(), "the wrong column") == skips {
			t.Errorf("%d of 100 records: %v", unknown, err)
		}
	}
}
