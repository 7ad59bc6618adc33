package batch_test

import (
	"errors"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
)

// TestALoadOfPutsRefusesTimesBefore1970 loads a record whose time HBase accepts only in HFiles. Nothing of
// the load is put.
func TestALoadOfPutsRefusesTimesBefore1970(t *testing.T) {
	p := bulkloadtest.NewHBase(t)
	p.SetJob(strings.Replace(bulkloadtest.TwoKinds, "{date}/", "", 1))
	p.Write("play.csv", "user,time,title,seconds\na,2014-09-01 10:00:00,one,1\nb,1969-12-31 23:59:59,two,2\n")
	const why = "record at byte 52: its time, 1969-12-31 23:59:59, is before 1970"
	if _, err := p.Puts(t.Context(), "1969-12-31", "2014-09-01", 1); !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), why) {
		t.Errorf("the load: %v, want %v, and %q", err, bulkload.ErrRequest, why)
	}
	if cells := p.Cells(); len(cells) > 0 {
		t.Errorf("%d cells were put, want none", len(cells))
	}
}
