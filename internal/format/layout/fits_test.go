package layout_test

import (
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
)

// TestWhatDoesNotFitSaysWhy checks the errors of values that a layout cannot hold: they have the
// reason and the next step. Values that a layout can hold cause no error.
func TestWhatDoesNotFitSaysWhy(t *testing.T) {
	const second, year = 1_000_000, 366 * 86400 * 1_000_000
	last := int64(behaviour.MaxDate+1)*86400*second - 1
	for _, c := range []struct {
		layout, zone, user string
		time               int64
		says               string // empty if it fits
	}{
		{"fixed", "UTC", "0", 0, ""},
		{"fixed", "UTC", "999999", 0, ""},
		{"fixed", "UTC", "042", 0, `"042" begins with a zero`},
		{"fixed", "UTC", "00", 0, `"00" begins with a zero`},
		{"fixed", "UTC", "1234567", 0, "fixed/7"},
		{"fixed/7", "UTC", "1234567", 0, ""},
		{"fixed/18", "UTC", "999999999999999999", 0, ""},
		{"fixed/18", "UTC", "9999999999999999999", 0, "another layout"},
		{"fixed", "UTC", "u1", 0, `"u1" is not a number`},
		{"fixed", "UTC", "-1", 0, `"-1" is not a number`},
		{"fixed", "UTC", "+1", 0, `"+1" is not a number`},
		{"fixed", "UTC", "4 2", 0, `"4 2" is not a number`},
		{"fixed", "UTC", "４２", 0, "is not a number"},
		{"fixed", "America/Sao_Paulo", "42", 1361066399*second + 999_999, ""}, // the last moment of a day of 25 hours
		{"fixed", "America/Juneau", "42", -3225223728 * second, ""},
		{"fixed", "America/Juneau", "42", -3225223728*second + 23*3600*second, "tenths of a second"}, // a date of 48 hours
		{"fixed", "Nowhere/Else", "42", 0, "Nowhere/Else"},
		{"fixed", "UTC", "42", last, ""},
		{"game", "UTC", "u", last, ""},
		{"game", "UTC", "u", last + 1, "years 1 to 9999"},
		{"game", "Asia/Shanghai", "u", int64(behaviour.MinDate)*86400*second - 1, "years 1 to 9999"}, // a day of the year 1 there
		{"game-time", "UTC", "u", last + 1, "years 1 to 9999"},
		{"tall", "UTC", "u_", -2500 * year, ""},
		{"wide", "UTC", "u_", last + 1, ""},
		{"hashed", "UTC", `\`, 0, ""},
		{"reversed", "UTC", ",", 0, ""},
	} {
		s := &behaviour.Schema{Zone: c.zone, Kinds: []behaviour.Kind{{ID: 1, Name: "login"}}}
		r := behaviour.Record{User: []byte(c.user), Time: c.time}
		if c.zone != "Nowhere/Else" {
			r.Date = behaviour.DateAt(c.time, zoneOf(t, s))
		}
		err := named(t, c.layout).Fits(s, &r)
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%s: user %s at %d in %s: %v", c.layout, c.user, c.time, c.zone, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: user %s at %d in %s: %v; want an error that says %s", c.layout, c.user, c.time, c.zone, err, c.says)
		}
	}
}

// TestWhatTheTableHasToKeep draws the traits. Tables are made by them, so a change must be
// intended.
func TestWhatTheTableHasToKeep(t *testing.T) {
	for name, want := range map[string]layout.Traits{
		"reversed":  {Together: true, DayRows: true},
		"tall":      {Together: true, DayRows: true, Newest: layout.NewestRows},
		"wide":      {Together: true, Newest: layout.NewestColumns},
		"game":      {Together: true, DayRows: true},
		"game-time": {Together: true},
		"hashed":    {Versions: 400, TTL: 365 * 24 * 60 * 60 * 1e9},
		"fixed":     {Together: true, DayRows: true},
		"fixed/9":   {Together: true, DayRows: true},
		"day":       {},
	} {
		got := named(t, name).Traits()
		if splits := got.Splits != nil; splits != (name == "hashed") {
			t.Errorf("%s has split points of its own: %t", name, splits)
		}
		if got.Splits = nil; got.Together != want.Together || got.DayRows != want.DayRows || got.Newest != want.Newest || got.Versions != want.Versions || got.TTL != want.TTL {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// TestFuzzyIsForDaysThatAreFew checks that a query of many days has no Fuzzy, because a server
// compares each of them with every row.
func TestFuzzyIsForDaysThatAreFew(t *testing.T) {
	l, s := named(t, "fixed"), fuzzSchema()
	for days, want := range map[int]int{1: 1, 2: 2, 1000: 1000, 1001: 0} {
		reads, err := l.Reads(s, layout.Want{Kinds: []int{0}, Span: behaviour.Span{From: 16000, To: 16000 + behaviour.Date(days) - 1}})
		if err != nil {
			t.Fatal(err)
		}
		if len(reads.Fuzzy) != want {
			t.Errorf("%d days are skipped to by %d, want %d", days, len(reads.Fuzzy), want)
		}
	}
}
