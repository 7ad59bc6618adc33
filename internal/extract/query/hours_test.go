package query

import (
	"strings"
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
			h, err := parseHours(text, &behaviour.Schema{Zone: day.zone})
			if err != nil {
				t.Fatal(err)
			}
			got := h.within(all)
			if got.First > got.Last {
				none++
			} else if !h.Has(0, got.First) || !h.Has(0, got.Last) || got.First < all.First || got.Last > all.Last {
				t.Errorf("%s on %d days from %s in %s: %d..%d are not of them", text, day.days, day.from, day.zone, got.First, got.Last)
			}
			for at := all.First; at <= all.Last; at += time.Minute.Microseconds() / 2 {
				if h.Has(0, at) && (at < got.First || at > got.Last) {
					t.Fatalf("%s on %d days from %s in %s: %s is left out", text, day.days, day.from, day.zone, time.UnixMicro(at).In(zone))
				}
			}
		}
	}
	if none != 1 {
		t.Errorf("%d of the days have no such hour, want the one without 2 o'clock", none)
	}
}

// TestHoursOfSingleBehaviours checks which events a list of hours keeps.
func TestHoursOfSingleBehaviours(t *testing.T) {
	s := &behaviour.Schema{Zone: "Asia/Shanghai"}
	for i, name := range []string{"play", "order", "a,b:c", "20-23"} {
		s.Kinds = append(s.Kinds, behaviour.Kind{ID: uint16(i + 1), Name: name})
	}
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		t.Fatal(err)
	}
	evening := func(hour int) bool { return hour >= 20 && hour < 23 }
	night := func(hour int) bool { return hour >= 22 || hour < 6 }
	all := func(int) bool { return true }
	for text, want := range map[string][]func(hour int) bool{
		"20-23":                    {evening, evening, evening, evening},
		"20-23:22-6":               {all, all, all, night},
		"play:20-23":               {evening, all, all, all},
		"play:20-23,order:22-6":    {evening, night, all, all},
		"22-6,play:20-23":          {evening, night, night, night},
		"order:0-24,20-23":         {evening, all, evening, evening},
		`"a,b:c:22-6",order:20-23`: {all, evening, night, all},
		"play:0-24":                {all, all, all, all},
	} {
		h, err := parseHours(text, s)
		if err != nil {
			t.Fatal(err)
		}
		for hour := range 24 {
			at := time.Date(2014, 9, 1, hour, 59, 59, 0, zone).UnixMicro()
			for kind := range s.Kinds {
				if got := h.Has(kind, at); got != want[kind](hour) {
					t.Errorf("%s keeps %d:59 of %s: %v", text, hour, s.Kinds[kind].Name, got)
				}
			}
		}
	}
	for text, want := range map[string]string{
		"pley:20-23":          `the table has no behaviour "pley" (did you mean play?); it has play, order, "a,b:c", 20-23`,
		"play:20-23,play:1-2": "each behaviour has its hours once",
		"20-23,1-2":           "each behaviour has its hours once",
		"20-23,play":          "the hours of play are missing: write play:FROM-TO",
		"play":                "the hours of play are missing: write play:FROM-TO",
		"18:00-20:30":         `"18:00-20:30": write FROM-TO in full hours`,
		"18:00-20":            `"18:00-20": write FROM-TO in full hours`,
		"18-20:30":            `"18-20:30": write FROM-TO in full hours`,
		"20:15":               `"20:15": write FROM-TO in full hours`,
		"play:18:00-20:00":    `"play:18:00-20:00": write FROM-TO in full hours`,
		"play:25-26":          `"25-26": write FROM-TO in full hours`,
		"play:":               `"": write FROM-TO in full hours`,
		"play:20-23,":         `"": write FROM-TO in full hours`,
		`"play:20`:            "separated by commas",
	} {
		if _, err := parseHours(text, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
