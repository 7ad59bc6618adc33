package query

import (
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
)

// TestHoursAreBoundedClosely compares the first and the last moment of hours with those
// found by looking at every minute, on days of clocks that are changed, or that are no
// whole hours from UTC, or on which a day is left out.
func TestHoursAreBoundedClosely(t *testing.T) {
	none := 0
	for _, day := range []struct {
		zone string
		from behaviour.Date
		days int
	}{
		{"UTC", behaviour.DateOf(2014, 9, 1), 2},
		{"Asia/Kathmandu", behaviour.DateOf(2014, 12, 31), 2},
		{"America/New_York", behaviour.DateOf(2014, 3, 9), 1},
		{"America/New_York", behaviour.DateOf(2014, 11, 2), 1},
		{"America/St_Johns", behaviour.DateOf(2010, 11, 7), 1},
		{"America/St_Johns", behaviour.DateOf(2010, 11, 6), 2},
		{"Australia/Lord_Howe", behaviour.DateOf(2014, 4, 6), 1},
		{"Pacific/Apia", behaviour.DateOf(2011, 12, 29), 3},
		{"Europe/Amsterdam", behaviour.DateOf(1937, 7, 1), 1},
	} {
		zone, err := time.LoadLocation(day.zone)
		if err != nil {
			t.Fatal(err)
		}
		all := layout.Times{First: day.from.Start(zone).UnixMicro(), Last: (day.from + behaviour.Date(day.days) - 1).End(zone).UnixMicro() - 1}
		for _, text := range []string{"0-1", "1-2", "2-3", "20-21", "23-24", "18-24", "22-6", "1-24"} {
			h, err := parseHours(text, day.zone)
			if err != nil {
				t.Fatal(err)
			}
			got := h.within(all)
			if got.First > got.Last {
				none++
			} else if !h.Has(got.First) || !h.Has(got.Last) || got.First < all.First || got.Last > all.Last {
				t.Errorf("%s on %d days from %s in %s: %d..%d are not of them", text, day.days, day.from, day.zone, got.First, got.Last)
			}
			for at := all.First; at <= all.Last; at += time.Minute.Microseconds() / 2 {
				if h.Has(at) && (at < got.First || at > got.Last) {
					t.Fatalf("%s on %d days from %s in %s: %s is left out", text, day.days, day.from, day.zone, time.UnixMicro(at).In(zone))
				}
			}
		}
	}
	if none != 1 {
		t.Errorf("%d of the days have no such hour, want the one without 2 o'clock", none)
	}
}
