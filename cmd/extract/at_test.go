package main

import (
	"testing"
	"time"
)

// TestAtIsReadAsLoadsReadTimes checks times on days on which clocks are set. A time that occurs
// twice is the first one. A time that does not occur is read with the offset before the change.
func TestAtIsReadAsLoadsReadTimes(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"2024-10-27 02:30:00":       "2024-10-27T00:30:00Z",
		"2024-10-27T02:30:00+01:00": "2024-10-27T01:30:00Z",
		"2024-03-31 02:30":          "2024-03-31T01:30:00Z",
	} {
		at, err := parseAt(text, zone)
		if err != nil {
			t.Fatal(err)
		}
		if got := time.UnixMicro(at).UTC().Format(time.RFC3339); got != want {
			t.Errorf("--at %q is %s, want %s", text, got, want)
		}
	}
}
