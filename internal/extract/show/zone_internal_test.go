package show

import (
	"testing"
	"time"
)

// TestRepeatedTimesHaveTheirOffset checks that exactly the times of the hour that a clock repeats have their offset.
func TestRepeatedTimesHaveTheirOffset(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for utc, want := range map[string]string{
		"2025-10-25T23:59:59Z": "01:59:59", "2025-10-26T00:00:00Z": "02:00:00+02:00", "2025-10-26T00:59:59Z": "02:59:59+02:00",
		"2025-10-26T01:00:00Z": "02:00:00+01:00", "2025-10-26T01:59:59Z": "02:59:59+01:00", "2025-10-26T02:00:00Z": "03:00:00",
		"2026-03-29T00:59:59Z": "01:59:59", "2026-03-29T01:00:00Z": "03:00:00", "2026-03-29T01:30:00Z": "03:30:00",
	} {
		at, err := time.Parse(time.RFC3339, utc)
		if err != nil {
			t.Fatal(err)
		}
		if got := local(at.UnixMicro(), berlin, "15:04:05.999999"); got != want {
			t.Errorf("%s is %s, want %s", utc, got, want)
		}
	}
	if got := local(0, time.UTC, "15:04"); got != "00:00" {
		t.Errorf("in UTC: %s", got)
	}
}

// TestTheTitleHasTheOffsetOfARepeatedTime names a time of the hour that the clock repeats.
func TestTheTitleHasTheOffsetOfARepeatedTime(t *testing.T) {
	athens, err := time.LoadLocation("Europe/Athens")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC).UnixMicro()
	for want, c := range map[string]Asked{", around 2026-10-25 03:30:00+03:00": {Around: &at}, ", at 2026-10-25 03:30:00+03:00": {At: &at}} {
		c.Zone = athens
		if got := c.end(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
