package replay_test

import (
	"errors"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
)

// wantOther replays a quarantine file with one record, which the table has with another text. Its line stays.
func wantOther(y *bulkloadtest.Fixture, name string) {
	y.T.Helper()
	before := y.Quarantined(name)
	r, err := replayed(y, name)
	if want := "1 of 1 records are in the table with another text"; !errors.Is(err, bulkload.ErrLeft) || !strings.Contains(err.Error(), want) {
		y.T.Errorf("%v, want an error with %q", err, want)
	}
	if r.Loaded != 0 || r.Duplicate != 1 || r.Removed != 0 || y.Quarantined(name) != before {
		y.T.Errorf("%+v, and the quarantine file has\n%s\nwant a duplicate whose line stays", r.Counts, y.Quarantined(name))
	}
}

// loadCorrected loads a file with two bad records, and corrects both.
func loadCorrected(t *testing.T, name string) *bulkloadtest.Fixture {
	t.Helper()
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write(name, bulkloadtest.WithBad)
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.Correct(name, ",many", ",8")
	y.Correct(name, `"raw":",2014`, `"raw":"d,2014`)
	return y
}

// TestASecondCorrectionIsNotLost corrects a record again after it was loaded.
func TestASecondCorrectionIsNotLost(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := loadCorrected(t, name)
	y.WantCounts(y.Replay(nil, name), 2, 2, 0, 0, 0)
	y.Correct(name, ",8", ",9")
	before := y.Trails(true)
	r, err := replayed(y, name)
	if !errors.Is(err, bulkload.ErrLeft) || r.Duplicate != 2 || r.Removed != 1 {
		t.Errorf("%+v, %v; want two duplicates, and the line of one of them removed", r, err)
	}
	for range 2 {
		wantOther(y, name)
	}
	if got := y.Trails(true); strings.Join(got, "\n") != strings.Join(before, "\n") {
		t.Errorf("the table has %q, want %q", got, before)
	}
	y.Correct(name, ",9", ",8")
	if r, err := replayed(y, name); err != nil || r.Duplicate != 1 || r.Removed != 1 {
		t.Errorf("%+v, %v; want a duplicate, whose line is removed", r, err)
	}
}

// TestASecondCorrectionStaysIfTheLogHasChanged corrects a record again. The log has other bytes, so the replay cannot read the
// header, and reads no line.
func TestASecondCorrectionStaysIfTheLogHasChanged(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := loadCorrected(t, name)
	y.WantCounts(y.Replay(nil, name), 2, 2, 0, 0, 0)
	y.Correct(name, ",8", ",9")
	before := y.Quarantined(name)
	y.Write(name, "user,time,title,seconds\n")
	if r, err := replayed(y, name); !errors.Is(err, bulkload.ErrChanged) || r.Removed != 0 || y.Quarantined(name) != before {
		t.Errorf("%+v, %v; want an error, and the same file\n%s", r, err, y.Quarantined(name))
	}
	y.Write(name, bulkloadtest.WithBad)
	if r, err := replayed(y, name); !errors.Is(err, bulkload.ErrLeft) || r.Duplicate != 2 || r.Removed != 1 {
		t.Errorf("%+v, %v; want two duplicates, and the line of one of them removed", r, err)
	}
}

// TestLedgersWithoutTextsAreRead reads ledgers of older versions, which do not show the text that a
// replay added.
func TestLedgersWithoutTextsAreRead(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := loadCorrected(t, name)
	y.WantCounts(y.Replay(nil, name), 2, 2, 0, 0, 0)
	forget(y, `,\s*"texts": "[^"]*"`)
	y.Correct(name, ",8", ",9")
	y.WantCounts(y.Replay(nil, name), 2, 0, 0, 2, 0)
}
