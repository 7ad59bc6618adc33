package behaviour_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"usertrail/internal/behaviour"
)

// TestEveryDayAgreesWithPackageTime tries all days that a row can hold.
func TestEveryDayAgreesWithPackageTime(t *testing.T) {
	day := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	for d := behaviour.MinDate; d <= behaviour.MaxDate; d++ {
		y, m, dd := day.Date()
		if got := behaviour.DateOf(y, m, dd); got != d {
			t.Fatalf("DateOf %s is %d, want %d", day, got, d)
		}
		if gy, gm, gd := d.Civil(); gy != y || gm != m || gd != dd {
			t.Fatalf("%d is the day %d-%d-%d, want %s", d, gy, gm, gd, day)
		}
		day = day.Add(24 * time.Hour)
	}
	if y, m, d := day.Date(); y != 10000 || m != 1 || d != 1 {
		t.Errorf("after the last day comes %s", day)
	}
}

func TestDatesAsText(t *testing.T) {
	for d := behaviour.MinDate; d <= behaviour.MaxDate; d += 97 {
		text := d.String()
		got, err := behaviour.ParseDate(text)
		if err != nil || got != d || len(text) != 10 {
			t.Fatalf("%d is written %q and read as %d, %v", d, text, got, err)
		}
	}
	for _, s := range []string{"0001-01-01", "1969-12-31", "1970-01-01", "2000-02-29", "9999-12-31"} {
		var d behaviour.Date
		if err := json.Unmarshal([]byte(`"`+s+`"`), &d); err != nil || d.String() != s {
			t.Errorf("%s is read as %s, %v", s, d, err)
		}
		if b, err := json.Marshal(d); err != nil || string(b) != `"`+s+`"` {
			t.Errorf("%s is written %s, %v", s, b, err)
		}
	}
}

func TestTextsThatAreNoDates(t *testing.T) {
	for _, s := range []string{"", "yesterday", "2014-9-1", "20140901", "2014/09/01", "2014-09-31", "2013-02-29", "1900-02-29",
		"2014-13-01", "2014-00-01", "2014-01-00", "0000-12-31", "10000-01-01", "-001-01-01", "2014-09-01 ", " 2014-09-01", "2014-09-01T00:00:00"} {
		if d, err := behaviour.ParseDate(s); err == nil {
			t.Errorf("%q is read as %s", s, d)
		}
		var d behaviour.Date
		if err := d.UnmarshalText([]byte(s)); err == nil {
			t.Errorf("%q is taken as %s", s, d)
		}
	}
}

func FuzzParseDate(f *testing.F) {
	for _, s := range []string{"2014-09-01", "0001-01-01", "9999-12-31", "0000-01-01", "2014-09-31"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := behaviour.ParseDate(s)
		if err != nil {
			return
		}
		if d < behaviour.MinDate || d > behaviour.MaxDate || d.String() != s {
			t.Fatalf("%q is read as %s, day %d", s, d, d)
		}
	})
}

func zones(t *testing.T) []*time.Location {
	t.Helper()
	var out []*time.Location
	// Half hours, both sides of the date line, a skipped day (Apia, 2011-12-30), midnights
	// that do not exist (São Paulo) and changes of the clock.
	for _, name := range []string{"UTC", "Asia/Shanghai", "America/Sao_Paulo", "Pacific/Apia", "Asia/Kathmandu", "America/New_York", "Pacific/Kiritimati"} {
		z, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, z)
	}
	return out
}

func TestDateAtIsTheLocalDate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, z := range zones(t) {
		for range 3000 {
			micros := rng.Int64N(200*365*86400e6) - 100*365*86400e6
			at := time.UnixMicro(micros).In(z)
			if got, want := behaviour.DateAt(micros, z).String(), at.Format(time.DateOnly); got != want {
				t.Fatalf("the date of %s is %s", at, got)
			}
		}
	}
	shanghai := zones(t)[1]
	for _, c := range []struct{ at, want string }{
		{"2014-08-31T15:59:59.999999Z", "2014-08-31"},
		{"2014-08-31T16:00:00Z", "2014-09-01"},
		{"1969-12-31T15:59:59.999999Z", "1969-12-31"},
		{"1969-12-31T16:00:00Z", "1970-01-01"},
	} {
		at, err := time.Parse(time.RFC3339Nano, c.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := behaviour.DateAt(at.UnixMicro(), shanghai).String(); got != c.want {
			t.Errorf("%s is on %s in Shanghai, want %s", c.at, got, c.want)
		}
	}
}

// TestStartIsTheFirstMoment uses zones that skip midnights and days.
func TestStartIsTheFirstMoment(t *testing.T) {
	first, last := behaviour.DateOf(1960, 1, 1), behaviour.DateOf(2030, 1, 1)
	for _, z := range zones(t) {
		leftOut := 0
		for d := first; d < last; d++ {
			start := d.Start(z)
			on := behaviour.DateAt(start.UnixMicro(), z)
			if on == d+1 && start.Equal((d + 1).Start(z)) {
				leftOut++
				continue
			}
			if on != d || behaviour.DateAt(start.UnixMicro()-1, z) >= d {
				t.Fatalf("%s in %s starts at %s, which is on %s", d, z, start, on)
			}
		}
		if crossed := z.String() == "Pacific/Apia" || z.String() == "Pacific/Kiritimati"; crossed != (leftOut == 1) {
			t.Errorf("%s has left out %d days", z, leftOut)
		}
	}
}

// TestDaysOfClocksPutBack checks that all instants of a day are between Start and End if the
// clock is put back at midnight. This includes times that the clock shows twice, and times to
// which it returns from the next day.
func TestWallMicros(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		zone   *time.Location
		at     time.Time
		wall   string
		offset int64
	}{
		{berlin, time.Date(2014, 10, 26, 0, 59, 59, 999999000, time.UTC), "2014-10-26T02:59:59.999999", 7200},
		{berlin, time.Date(2014, 10, 26, 1, 0, 0, 0, time.UTC), "2014-10-26T02:00:00", 3600}, // the same hour again
		{berlin, time.Date(1969, 12, 31, 22, 59, 59, 500000000, time.UTC), "1969-12-31T23:59:59.5", 3600},
		{shanghai, time.Date(1900, 1, 1, 0, 0, 0, 1000, time.UTC), "1900-01-01T08:05:43.000001", 29143},
	} {
		wall, offset := behaviour.NewClock(c.zone).WallMicros(c.at.UnixMicro())
		if got := behaviour.LocalText(wall); got != c.wall || offset != c.offset {
			t.Errorf("%s in %s: %s, offset %d; want %s, %d", c.at, c.zone, got, offset, c.wall, c.offset)
		}
	}
}

func TestDaysOfClocksPutBack(t *testing.T) {
	for _, c := range []struct {
		zone, day        string
		start, end, want string // want is the length of the day before
	}{
		{"Asia/Amman", "2014-10-31", "2014-10-31T00:00:00+03:00", "2014-11-01T00:00:00+02:00", "24h0m0s"},
		{"Europe/Lisbon", "1980-09-28", "1980-09-28T00:00:00+01:00", "1980-09-29T00:00:00Z", "24h0m0s"},
		{"America/Havana", "2014-11-02", "2014-11-02T00:00:00-04:00", "2014-11-03T00:00:00-05:00", "24h0m0s"},
		{"America/St_Johns", "2005-10-30", "2005-10-30T00:00:00-02:30", "2005-10-31T00:00:00-03:30", "25h0m0s"},
		{"Africa/Cairo", "2014-09-26", "2014-09-26T00:00:00+02:00", "2014-09-27T00:00:00+02:00", "25h0m0s"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		d, err := behaviour.ParseDate(c.day)
		if err != nil {
			t.Fatal(err)
		}
		start, end := d.Start(zone).Format(time.RFC3339), d.End(zone).Format(time.RFC3339)
		if start != c.start || end != c.end {
			t.Errorf("%s in %s is from %s to %s, want %s to %s", d, zone, start, end, c.start, c.end)
		}
		if got := (d - 1).End(zone).Sub((d - 1).Start(zone)).String(); got != c.want {
			t.Errorf("%s in %s: the day before has %s, want %s", d, zone, got, c.want)
		}
		for at := d.Start(zone).Add(-3 * time.Hour); at.Before(d.Start(zone).Add(3 * time.Hour)); at = at.Add(30 * time.Second) {
			for _, day := range []behaviour.Date{d - 1, d} {
				if day == behaviour.DateAt(at.UnixMicro(), zone) && (at.Before(day.Start(zone)) || !at.Before(day.End(zone))) {
					t.Fatalf("%s is on %s, which is from %s to %s", at, day, day.Start(zone), day.End(zone))
				}
			}
		}
	}
}

func TestSpans(t *testing.T) {
	d := func(s string) behaviour.Date {
		v, err := behaviour.ParseDate(s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	week := behaviour.Span{From: d("2014-09-01"), To: d("2014-09-07")}
	if week.Days() != 7 || week.String() != "2014-09-01..2014-09-07" {
		t.Errorf("%s has %d days", week, week.Days())
	}
	day := behaviour.Span{From: week.To, To: week.To}
	if day.Days() != 1 || day.String() != "2014-09-07" {
		t.Errorf("%s has %d days", day, day.Days())
	}
	for s, want := range map[string]bool{"2014-08-31": false, "2014-09-01": true, "2014-09-07": true, "2014-09-08": false} {
		if week.Has(d(s)) != want {
			t.Errorf("%s has %s: %v", week, s, !want)
		}
	}
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"2014-09-07", "2014-09-09", true}, {"2014-08-01", "2014-09-01", true}, {"2014-08-01", "2014-10-01", true},
		{"2014-09-03", "2014-09-03", true}, {"2014-09-08", "2014-09-09", false}, {"2014-08-01", "2014-08-31", false},
	} {
		o := behaviour.Span{From: d(c.from), To: d(c.to)}
		if week.Overlaps(o) != c.want || o.Overlaps(week) != c.want {
			t.Errorf("%s and %s overlap: want %v", week, o, c.want)
		}
		for d := o.From - 10; d <= o.To+10; d++ {
			if both := week.Common(o); both.Has(d) != (week.Has(d) && o.Has(d)) || both != o.Common(week) {
				t.Errorf("%s are the days of %s and %s, has %s: %v", both, week, o, d, both.Has(d))
			}
		}
	}
	b, err := json.Marshal(week)
	if err != nil || string(b) != `{"from":"2014-09-01","to":"2014-09-07"}` {
		t.Errorf("written as %s, %v", b, err)
	}
}

func BenchmarkDateAt(b *testing.B) {
	z, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if behaviour.DateAt(1409529600000000, z) != 16314 {
			b.Fatal("another day")
		}
	}
}

func TestASpanIsCoveredByOthers(t *testing.T) {
	week := behaviour.Span{From: 10, To: 16}
	for _, c := range []struct {
		spans []behaviour.Span
		want  bool
	}{
		{nil, false},
		{[]behaviour.Span{week}, true},
		{[]behaviour.Span{{From: 13, To: 20}, {From: 5, To: 12}}, true},
		{[]behaviour.Span{{From: 14, To: 20}, {From: 5, To: 12}}, false},
		{[]behaviour.Span{{From: 11, To: 16}}, false},
		{[]behaviour.Span{{From: 10, To: 15}}, false},
		{[]behaviour.Span{{From: 10, To: 11}, {From: 10, To: 16}, {From: 12, To: 12}}, true},
	} {
		if got := week.CoveredBy(c.spans); got != c.want {
			t.Errorf("%v is covered by %v: %v, want %v", week, c.spans, got, c.want)
		}
	}
}

func TestGapsOfASpan(t *testing.T) {
	week := behaviour.Span{From: 10, To: 16}
	for _, c := range []struct{ spans, want []behaviour.Span }{
		{nil, []behaviour.Span{week}},
		{[]behaviour.Span{{From: 14, To: 14}, {From: 3, To: 11}, {From: 14, To: 12}}, []behaviour.Span{{From: 12, To: 13}, {From: 15, To: 16}}},
		{[]behaviour.Span{{From: 17, To: 20}, {From: 12, To: 16}, {From: 13, To: 13}}, []behaviour.Span{{From: 10, To: 11}}},
		{[]behaviour.Span{{From: 9, To: 12}, {From: 12, To: 18}}, nil},
	} {
		if got := week.Gaps(c.spans); !slices.Equal(got, c.want) {
			t.Errorf("the gaps of %v in %v are %v, want %v", c.spans, week, got, c.want)
		}
	}
}

func TestSpansOfDays(t *testing.T) {
	for _, c := range []struct {
		days []behaviour.Date
		want []behaviour.Span
	}{
		{nil, []behaviour.Span{}},
		{[]behaviour.Date{7}, []behaviour.Span{{From: 7, To: 7}}},
		{[]behaviour.Date{9, 7, 8, 7, 11}, []behaviour.Span{{From: 7, To: 9}, {From: 11, To: 11}}},
	} {
		if got := behaviour.SpansOf(slices.Clone(c.days)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("the spans of %v are %v, want %v", c.days, got, c.want)
		}
	}
}

func TestASpanGrowsByDays(t *testing.T) {
	s := behaviour.NoDays
	if s.Has(0) || s.Overlaps(behaviour.AllDays) {
		t.Errorf("%+v has a day", s)
	}
	for _, d := range []behaviour.Date{14, 12, 13} {
		s.AddDay(d)
	}
	if want := (behaviour.Span{From: 12, To: 14}); s != want {
		t.Errorf("the span is %v, want %v", s, want)
	}
	s.Add(behaviour.NoDays)
	s.Add(behaviour.Span{From: 20, To: 21})
	if want := (behaviour.Span{From: 12, To: 21}); s != want {
		t.Errorf("the span is %v, want %v", s, want)
	}
}

// TestNoDateSaysWhy checks that the error of a day that its month does not have differs from
// the error of another form.
func TestNoDateSaysWhy(t *testing.T) {
	const form = "write YYYY-MM-DD, such as 2014-09-01"
	for text, want := range map[string]string{
		"2024-02-30": "February 2024 has 29 days, and no day 30", "2023-02-29": "February 2023 has 28 days, and no day 29",
		"2014-09-31": "September 2014 has 30 days, and no day 31", "2014-09-00": "September 2014 has 30 days, and no day 0", "2014-12-99": "December 2014 has 31 days, and no day 99",
		"2014-13-01": "there is no month 13: " + form, "2014-00-01": "there is no month 0: " + form, "2014-9-1": form, "": form, "2014-09-0x": form, "2014-09+31": form, "0000-01-32": form,
	} {
		_, err := behaviour.ParseDate(text)
		if want := strconv.Quote(text) + " is not a date: " + want; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
