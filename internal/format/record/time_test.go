package record

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"usertrail/internal/behaviour"
)

// zones have daylight saving time of one hour, of half an hour, at midnight, a skipped day,
// offsets of quarters of an hour, and none.
var zones = []string{
	"UTC", "Asia/Shanghai", "America/New_York", "Europe/London", "Australia/Lord_Howe", "America/Havana", "America/Sao_Paulo",
	"Pacific/Apia", "Asia/Kathmandu", "Africa/Casablanca", "Asia/Beirut", "Europe/Dublin",
}

// slowInstant tries every offset that the zone had within two days of a local time, and
// returns the first instant that shows it. If no instant shows it, it uses the offset from
// before the gap.
func slowInstant(wall int64, z *time.Location) int64 {
	best, before := int64(1<<62), 0
	for at := wall - 2*86400; at <= wall+2*86400; at += 900 {
		_, offset := time.Unix(at, 0).In(z).Zone()
		instant := wall - int64(offset)
		if _, there := time.Unix(instant, 0).In(z).Zone(); there == offset {
			best = min(best, instant)
		}
	}
	if best < 1<<62 {
		return best
	}
	// The gap ends at the first instant whose local time is after wall.
	for at := wall - 2*86400; ; at += 60 {
		_, offset := time.Unix(at, 0).In(z).Zone()
		if at+int64(offset) > wall {
			return wall - int64(before)
		}
		before = offset
	}
}

// TestClock compares local times around every change of offset, in old and recent years, with
// slowInstant. It compares both with package time where package time defines the result.
func TestClock(t *testing.T) {
	for _, name := range zones {
		z := zone(t, name)
		c := behaviour.NewClock(z)
		rng := rand.New(rand.NewPCG(1, 2))
		for _, near := range changes(z) {
			for range 6 {
				wall := near + rng.Int64N(8*3600) - 4*3600
				got, want := c.Instant(wall), slowInstant(wall, z)
				if got != want {
					t.Fatalf("%s: %s is instant %d, want %d", name, time.Unix(wall, 0).UTC(), got, want)
				}
				// package time must agree on a local time that occurs exactly once.
				shown := c.Wall(got)
				if shown == wall && c.Instant(wall+8*86400)-got == 8*86400 && c.Instant(wall-8*86400)-got == -8*86400 {
					u := time.Unix(wall, 0).UTC()
					std := time.Date(u.Year(), u.Month(), u.Day(), u.Hour(), u.Minute(), u.Second(), 0, z).Unix()
					if std != got {
						t.Fatalf("%s: %s is instant %d, package time says %d", name, u, got, std)
					}
				}
			}
		}
	}
}

// changes returns the local times at which a zone's offset changes, from 1930 on.
func changes(z *time.Location) []int64 {
	out := []int64{0, 1 << 31, -1 << 34}
	t := time.Date(1930, 1, 1, 0, 0, 0, 0, z)
	for {
		_, end := t.ZoneBounds()
		if end.IsZero() || end.Year() > 2045 {
			return out
		}
		if !end.After(t) {
			end = t.AddDate(0, 0, 1) // 31 December of a leap year, see clock.lastDay
		}
		_, offset := end.Zone()
		out = append(out, end.Unix()+int64(offset))
		t = end
	}
}

// formats maps layouts to the sample texts that they are tested with.
var formats = []string{
	"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006/01/02 15:04:05.000", "20060102150405", "2006-01-02 15:04:05.999999", "02.01.2006 15:04",
	"2006年01月02日 15:04:05", "2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05.000000-07:00", "2006-01-02", "20060102",
	time.RFC1123Z, time.ANSIC, "Jan _2 2006 3:04:05 PM", "2006-01-02 15:04:05,000", "06-1-2 15h04", "02/Jan/2006:15:04:05 -0700", "2006 002 15:04",
	"2006-01-02T15:04:05Z0700",
}

// TestFormats writes random times in each layout and zone, and compares the result of reading
// them with time.ParseInLocation.
func TestFormats(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, layout := range formats {
		for _, name := range zones {
			r := timesOf(t, layout, zone(t, name))
			for range 40 {
				at := time.UnixMicro(rng.Int64N(3e15) - 5e14).In(r.zone)
				checkTime(t, r, layout, at.Format(layout))
			}
		}
	}
}

func timesOf(t testing.TB, format string, z *time.Location) timeReader {
	t.Helper()
	m := newPlanner(&Format{Zone: z}, playFile("a"), nil)
	r, err := m.time(format, z, 0)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// checkTime compares one text with package time. Only near a change of offset may package
// time choose the other of two instants.
func checkTime(t *testing.T, r timeReader, layout, text string) {
	t.Helper()
	got, ok := r.micros([]byte(text))
	want, err := time.ParseInLocation(layout, text, r.zone)
	wantOK := err == nil && want.Unix() >= minSecond && want.Unix() <= maxSecond
	if ok != wantOK {
		t.Fatalf("%s as %q in %s: read %v, package time says %v", text, layout, r.zone, ok, err)
	}
	if !ok || got == want.UnixMicro() {
		return
	}
	_, offset := want.Zone()
	if !r.hasZone && got == slowInstant(want.Unix()+int64(offset), r.zone)*1_000_000+int64(want.Nanosecond()/1000) {
		return
	}
	t.Fatalf("%s as %q in %s: got %d, want %d", text, layout, r.zone, got, want.UnixMicro())
}

// FuzzFormat checks that any text is read in each layout as package time reads it.
func FuzzFormat(f *testing.F) {
	for i, layout := range formats {
		f.Add(uint8(i), time.Date(2014, 9, 1, 10, 20, 30, 123456000, time.UTC).Format(layout))
	}
	for _, text := range []string{"2014-02-29 10:00:00", "2014-09-01 24:00:00", "2014-09-01 1:00:00", "2014-09-01 10:00:00.", "2014-09-01 10:00:00.5x", "0000-01-01 00:00:00", "2014-09-01 10:00:00,5", "", "2014-13-01 00:00:60"} {
		f.Add(uint8(0), text)
	}
	f.Fuzz(func(t *testing.T, i uint8, text string) {
		layout := formats[int(i)%len(formats)]
		checkTime(t, timesOf(t, layout, time.UTC), layout, text)
	})
}

// TestTimes reads times that occur in logs, in New York.
func TestTimes(t *testing.T) {
	ny := zone(t, "America/New_York")
	for _, c := range []struct{ format, text, want string }{
		{"", "2017-01-01 10:46:03", "2017-01-01T15:46:03Z"},
		{"", "2017-07-01T10:46:03.000001", "2017-07-01T14:46:03.000001Z"},
		{"", "2017-07-01 10:46:03.1234569", "2017-07-01T14:46:03.123456Z"},
		{"", "2017-07-01 10:46:03 +0800", "2017-07-01T02:46:03Z"},
		{"", "2017-07-01T10:46:03-03:30", "2017-07-01T14:16:03Z"},
		{"", "2017-07-01T10:46:03.5Z", "2017-07-01T10:46:03.5Z"},
		{"", "2017-07-01", "2017-07-01T04:00:00Z"},
		{"", "2017-03-12 02:30:00", "2017-03-12T07:30:00Z"}, // skipped
		{"", "2017-11-05 01:30:00", "2017-11-05T05:30:00Z"}, // the first
		{"", "2017-11-05 00:59:59", "2017-11-05T04:59:59Z"},
		{"", "2017-11-05 02:00:00", "2017-11-05T07:00:00Z"},
		{"", "2040-12-31 10:00:00", "2040-12-31T15:00:00Z"}, // see clock.lastDay
		{"", "2017-07-01 10:46", ""}, {"", "2017-07-01 ", ""}, {"", "2017-07-01 10:46:03x", ""}, {"", "2017-02-29", ""}, {"", "1.5e9", ""},
		{"", "2017-07-01 10:46:03.", ""}, {"", "2017-07-01 10:46:03 ", ""}, {"", "0000-12-31", ""}, {"", "9999-12-31 23:00:00", ""},
		{"rfc3339", "2017-07-01T10:46:03.25+08:00", "2017-07-01T02:46:03.25Z"},
		{"rfc3339", "2017-07-01t10:46:03z", "2017-07-01T10:46:03Z"},
		{"rfc3339", "2017-07-01 10:46:03Z", ""}, {"rfc3339", "2017-07-01T10:46:03", ""}, {"rfc3339", "2017-07-01T10:46:03+0800", ""},
		{"rfc3339", "2017-07-01T10:46:03 +08:00", ""}, {"rfc3339", "2017-07-01", ""}, {"rfc3339", "2017-07-01T10:46:03 Z", ""},
		{"epoch_s", "1409531400", "2014-09-01T00:30:00Z"},
		{"epoch_s", "1409531400.123456", "2014-09-01T00:30:00.123456Z"},
		{"epoch_s", "1409531400.9999999", "2014-09-01T00:30:00.999999Z"},
		{"epoch_s", "-1.5", "1969-12-31T23:59:58.5Z"},
		{"%s", "0", "1970-01-01T00:00:00Z"},
		{"epoch_ms", "1409531400123", "2014-09-01T00:30:00.123Z"},
		{"epoch_ms", "1409531400123.4567", "2014-09-01T00:30:00.123456Z"},
		{"epoch_us", "1409531400123456", "2014-09-01T00:30:00.123456Z"},
		{"epoch_us", "1409531400123456.7", "2014-09-01T00:30:00.123456Z"},
		{"epoch_s", "", ""}, {"epoch_s", "-", ""}, {"epoch_s", "1409531400123", ""}, {"epoch_s", "1e9", ""}, {"epoch_s", "99999999999999999999999", ""},
		{"epoch_s", "1.", ""}, {"epoch_ms", "-62135596800001", ""},
		{"%Y-%m-%d %H:%M:%S", "2017-07-01 10:46:03", "2017-07-01T14:46:03Z"},
		{"%d/%b/%Y:%H:%M:%S %z", "01/Jul/2017:10:46:03 -0700", "2017-07-01T17:46:03Z"},
		{"2006-01-02 15:04:05 MST", "2017-07-01 10:46:03 EDT", "2017-07-01T14:46:03Z"},
		{"2006-01-02 15:04:05 MST", "2017-07-01 10:46:03 GMT", "2017-07-01T10:46:03Z"},
		{"2006-01-02 15:04:05 MST", "2017-07-01 10:46:03 UTC", "2017-07-01T10:46:03Z"},
		{"2006-01-02 15:04:05 MST", "2017-07-01 10:46:03 GMT+0", "2017-07-01T10:46:03Z"},
		{"2006-01-02 15:04:05 MST", "2017-07-01 10:46:03 GMT+3", "2017-07-01T07:46:03Z"},
		{"2006-01-02 15:04:05 MST", "2017-07-01 22:46:03 GMT-5", "2017-07-02T03:46:03Z"},
		{"2006-01-02 15:04:05 MST", "2017-07-01 10:46:03 CEST", ""},                    // unknown in New York
		{"2006-01-02 15:04:05 MST", "2017-11-05 01:30:00 EDT", "2017-11-05T05:30:00Z"}, // the hour occurs twice
		{"2006-01-02 15:04:05 MST", "2017-11-05 01:30:00 EST", "2017-11-05T06:30:00Z"},
		{"2006-01-02 15:04:05 MST", "2017-07-01 10:46:03 UTC+3", ""},
	} {
		r := timesOf(t, c.format, ny)
		micros, ok := r.micros([]byte(c.text))
		got := ""
		if ok {
			got = time.UnixMicro(micros).UTC().Format("2006-01-02T15:04:05.999999Z")
		}
		if got != c.want {
			t.Errorf("%q as %q: got %q, want %q", c.text, c.format, got, c.want)
		}
	}
}

// TestMissingYear uses the job's year or, if the job has none, the year nearest to the path's
// date.
func TestMissingYear(t *testing.T) {
	for _, c := range []struct{ day, format, text, want string }{
		{"2014-09-01", "01-02 15:04:05", "09-01 10:00:00", "2014-09-01T10:00:00Z"},
		{"2015-01-01", "01-02 15:04:05", "12-31 23:59:59", "2014-12-31T23:59:59Z"},
		{"2014-12-31", "01-02 15:04:05", "01-01 00:00:01", "2015-01-01T00:00:01Z"},
		{"2015-01-01", "Jan _2 15:04:05", "Dec 31 23:59:59", "2014-12-31T23:59:59Z"},
		{"2014-12-31", "Jan _2 15:04:05", "Jan  1 00:00:01", "2015-01-01T00:00:01Z"},
		{"2016-02-29", "01-02", "02-29", "2016-02-29T00:00:00Z"},
		{"2014-12-31", "%b %d %H:%M:%S", "Jan 01 00:00:01", "2015-01-01T00:00:01Z"},
		{"2014-02-28", "01-02", "02-29", ""},
		{"2014-02-28", "Jan 2", "Feb 29", ""},
		{"2014-12-31", "01-02T15:04:05Z07:00", "01-01T00:00:01+08:00", "2014-12-31T16:00:01Z"},
		{"2014-12-31", "Jan 2 15:04:05 -0700", "Jan 1 00:00:01 +0800", "2014-12-31T16:00:01Z"},
	} {
		day, err := behaviour.ParseDate(c.day)
		if err != nil {
			t.Fatal(err)
		}
		m := newPlanner(&Format{}, File{Path: "a", Date: &day}, nil)
		for _, year := range []int{0, 1999} {
			r, err := m.time(c.format, nil, year)
			if err != nil {
				t.Fatal(err)
			}
			micros, ok := r.micros([]byte(c.text))
			got := time.UnixMicro(micros).UTC().Format("2006-01-02T15:04:05Z")
			want := c.want
			if year != 0 && want != "" {
				want = fmt.Sprint(year) + c.want[4:]
			}
			if year != 0 && c.text == "02-29" || year != 0 && r.hasZone {
				continue
			}
			if ok != (want != "") || ok && got != want {
				t.Errorf("%q near %s, year %d: got %q %v, want %q", c.text, c.day, year, got, ok, want)
			}
		}
	}
}

func TestCheckTimeFormat(t *testing.T) {
	for format, good := range map[string]bool{
		"": true, "epoch_s": true, "epoch_ms": true, "epoch_us": true, "rfc3339": true, "%s": true, "2006-01-02": true, "%Y%m%d": true,
		"02-Jan-2006 03:04 PM": true, "02 January 2006": true, "20060102150405": true, "02012006 1504": true, "2006T002": true, "01-02": true,
		"31-Dec-2014 11:59 PM": false, "2014-12-31 23:59:59": false, "2 September 2006": false, "12/31/1999": false, "May 2 2006": false,
		"Jan _2 15:04": true, "2006 002": true, "15:04:05": false, "YYYY-MM-DD": false, "%Q": false, "Mon 15:04": false, "2006-01": false,
	} {
		if err := CheckTimeFormat(format); (err == nil) != good {
			t.Errorf("%q: got %v, want good %v", format, err, good)
		}
	}
	if err := CheckTimeFormat("%Q"); err.Error() != `time format "%Q": strftime: unsupported directive: %Q` {
		t.Errorf("%q", err)
	}
	if err := CheckTimeFormat("31-Dec-2014 11:59 PM"); err.Error() != `time format "31-Dec-2014 11:59 PM": it is an example of a time, and a format has the year 2006 in the place of 2014` {
		t.Errorf("%q", err)
	}
	for format, want := range map[string]bool{"": true, "epoch_s": true, "01-02 15:04": false, "%m-%d": false, "%y-%m-%d": true} {
		if got := FormatHasYear(format); got != want {
			t.Errorf("%q: names a year %v, want %v", format, got, want)
		}
	}
}

// TestDates reads days. A day is the written day, whatever the zone.
func TestDates(t *testing.T) {
	for _, c := range []struct{ format, text, want string }{
		{"", "2014-09-01", "2014-09-01"},
		{"", "2014-09-01 23:59:59", "2014-09-01"},
		{"", "2014-09-01T23:59:59-10:00", "2014-09-01"},
		{"20060102", "20140901", "2014-09-01"},
		{"epoch_s", "1409565599", "2014-08-31"}, // one second before midnight in Honolulu
		{"epoch_s", "1409565600", "2014-09-01"},
		{"", "0001-01-01", "0001-01-01"}, {"", "9999-12-31", "9999-12-31"}, {"", "1969-12-31", "1969-12-31"},
		{"", "2014-9-1", ""}, {"", "", ""},
	} {
		r := timesOf(t, c.format, zone(t, "Pacific/Honolulu"))
		d, ok := r.date([]byte(c.text))
		if ok != (c.want != "") || ok && d.String() != c.want {
			t.Errorf("%q as %q: got %s %v, want %q", c.text, c.format, d, ok, c.want)
		}
	}
}
