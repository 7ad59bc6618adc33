package layout_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
)

func TestFixedCellsAreAsDrawn(t *testing.T) {
	r := played("42")
	r.Time += 234_500 // a quarter of a second past 08:00 in Shanghai
	at := int64(1_409_529_600_234)
	for name, user := range map[string]string{"fixed": "000042", "fixed/8": "00000042", "fixed/2": "42"} {
		row := []byte(user + "20140901288002_00003_0000000274877907004")
		l := named(t, name)
		checkCells(t, inCells(t, l, september, r),
			cell.Cell{Row: row, Qualifier: []byte("_"), Time: at, Value: []byte("542")},
			cell.Cell{Row: row, Qualifier: []byte("seconds"), Time: at, Value: behaviour.AppendInt64(nil, 7)},
			cell.Cell{Row: row, Qualifier: []byte("title"), Time: at, Value: []byte("ab")})
		if err := l.Fits(september, r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFixedStopTakesInTheLastDay checks that ranges include the last day. The published stop
// row excludes it.
func TestFixedStopTakesInTheLastDay(t *testing.T) {
	day := behaviour.DateOf(2014, 9, 1)
	q := layout.Want{Kinds: []int{0}, Span: behaviour.Span{From: day, To: day + 1}}
	fixed := named(t, "fixed")
	checkTexts(t, "ranges of two days", rangesAsText(t, fixed, september, "42", q),
		"00004220140901 .. 00004220140902863999`")

	q.Times = &layout.Times{First: 1_409_529_600_000_042, Last: 1_409_529_660_000_000}
	checkTexts(t, "ranges of a minute", rangesAsText(t, fixed, september, "42", q),
		"00004220140901288000 .. 00004220140901288600`")

	q.Times = &layout.Times{First: 0, Last: 1}
	checkTexts(t, "ranges of times out of the span", rangesAsText(t, fixed, september, "42", q))
}

// TestFixedHasNoRowsOfForeignUsers checks users that do not fit. They have keys of their own,
// and ranges without rows.
func TestFixedHasNoRowsOfForeignUsers(t *testing.T) {
	fixed := named(t, "fixed")
	q := layout.Want{Kinds: []int{0}, Span: behaviour.Span{From: 0, To: 20_000}}
	for user, key := range map[string]string{"042": "~042_", "1234567": "~1234567_", "a_b": `~a\ub_`, "~": "~~_"} {
		if got := fixed.AppendUserKey(nil, []byte(user)); string(got) != key {
			t.Errorf("the key of %q is %q, want %q", user, got, key)
		}
		if back, err := fixed.AppendUser(nil, []byte(key)); err != nil || string(back) != user {
			t.Errorf("%q is the key of %q, %v; want %q", key, back, err, user)
		}
		checkTexts(t, "ranges of "+user, rangesAsText(t, fixed, september, user, q), key+" .. "+key+"\x00")
	}
	for _, key := range []string{"", "~", "~42_", "42", "0000042", "00004x", "~a"} {
		if user, err := fixed.AppendUser(nil, []byte(key)); err == nil {
			t.Errorf("%q is taken for the key of %q", key, user)
		}
	}
}

func TestWhatDoesNotFitFixed(t *testing.T) {
	juneau := &behaviour.Schema{Zone: "America/Juneau", Kinds: september.Kinds}
	nowhere := &behaviour.Schema{Zone: "Middle/Earth", Kinds: september.Kinds}
	long := time.Date(1867, 10, 19, 12, 0, 0, 0, time.UTC).UnixMicro() // Juneau had this date twice
	for _, c := range []struct {
		name   string
		schema *behaviour.Schema
		spoil  func(r *behaviour.Record)
		want   []string
	}{
		{"fixed", september, func(r *behaviour.Record) { r.User = []byte("u1") }, []string{`"u1" is not a number`, "6 digits", "pattern"}},
		{"fixed", september, func(r *behaviour.Record) { r.User = []byte("-1") }, []string{`"-1" is not a number`}},
		{"fixed", september, func(r *behaviour.Record) { r.User = []byte("007") }, []string{`"007" begins with a zero`, "pattern"}},
		{"fixed", september, func(r *behaviour.Record) { r.User = []byte("00") }, []string{`"00" begins with a zero`}},
		{"fixed", september, func(r *behaviour.Record) { r.User = []byte("1234567") }, []string{"has 7 digits", "room for 6", "write fixed/7"}},
		{"fixed/18", september, func(r *behaviour.Record) { r.User = []byte("1234567890123456789") }, []string{"has 19 digits", "room for 18", "another layout"}},
		{"fixed", september, func(r *behaviour.Record) { r.Date = behaviour.MaxDate + 1 }, []string{"1 to 9999"}},
		{"fixed", september, func(r *behaviour.Record) { r.Date++ }, []string{"2014-09-01T00:00:00.000042Z", "2014-09-02 began in Asia/Shanghai"}},
		{"fixed", nowhere, func(*behaviour.Record) {}, []string{"Middle/Earth"}},
		{"fixed", juneau, func(r *behaviour.Record) { r.Time, r.Date = long, behaviour.DateOf(1867, 10, 18) }, []string{"1867-10-18 began in America/Juneau", "0 to 999999"}},
	} {
		r := played("42")
		c.spoil(r)
		err := named(t, c.name).Fits(c.schema, r)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, user %s on %s: %v; want an error that says %q", c.name, r.User, r.Date, err, want)
			}
		}
	}
}

func TestFixedSizes(t *testing.T) {
	for _, name := range []string{"fixed", "fixed/1", "fixed/8", "fixed/18"} {
		if got := named(t, name).Name(); got != name {
			t.Errorf("%s is called %s", name, got)
		}
	}
	if got := named(t, "fixed/6").Name(); got != "fixed" {
		t.Errorf("fixed/6 is called %s, want fixed, which is the same", got)
	}
	for _, name := range []string{"fixed/0", "fixed/19", "fixed/08", "fixed/+8", "fixed/8/1", "fixed/eight"} {
		if l, err := layout.ByName(name); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "1 to 18") {
			t.Errorf("%s is %v, %v; want an error that names it and gives the allowed values", name, l, err)
		}
	}
}

// TestFixedSkipsToADay checks that servers can skip rows of other days by the bytes of the
// date.
func TestFixedSkipsToADay(t *testing.T) {
	day := behaviour.DateOf(2014, 9, 1)
	for _, c := range []struct {
		days int
		want []string
	}{
		{1, []string{"??????20140901"}},
		{2, []string{"??????20140901", "??????20140902"}},
		{1001, nil},
	} {
		reads, err := named(t, "fixed").Reads(september, layout.Want{Kinds: []int{0}, Span: behaviour.Span{From: day, To: day + behaviour.Date(c.days-1)}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range reads.Fuzzy {
			row := []byte(f.Row)
			for i, free := range f.Any {
				if free {
					row[i] = '?'
				}
			}
			got = append(got, string(row))
		}
		checkTexts(t, fmt.Sprintf("rows of %d days", c.days), got, c.want...)
	}
}

// TestDaysOfClocksPutBackAreReadWhole reads days on which the clock is put back at midnight.
// Each hour is in the ranges of its date, and in no others.
func TestDaysOfClocksPutBackAreReadWhole(t *testing.T) {
	for zone, first := range map[string]behaviour.Date{
		"Asia/Amman": behaviour.DateOf(2014, 10, 30), "America/St_Johns": behaviour.DateOf(2005, 10, 29), "America/Sao_Paulo": behaviour.DateOf(2014, 2, 15),
		"Africa/Cairo": behaviour.DateOf(2014, 9, 25), "Pacific/Apia": behaviour.DateOf(2011, 12, 29),
	} {
		s := &behaviour.Schema{Zone: zone, Kinds: september.Kinds}
		in := zoneOf(t, s)
		for _, name := range names() {
			l := named(t, name)
			for at := first.Start(in).Add(-time.Hour); at.Before((first + 2).End(in)); at = at.Add(7 * time.Minute) {
				r := played("42")
				r.Time, r.Date = at.UnixMicro(), behaviour.DateAt(at.UnixMicro(), in)
				for _, times := range []*layout.Times{nil, {First: r.Time, Last: r.Time}} {
					q := layout.Want{Kinds: []int{0}, Span: behaviour.Span{From: r.Date, To: r.Date}, Times: times}
					if !inRanges(t, l, s, q, r) {
						t.Fatalf("%s, %s: %s of %s is not read, by itself: %v", name, zone, at, r.Date, times != nil)
					}
				}
			}
		}
	}
}

// inRanges reports whether r's row is in the ranges of a query.
func inRanges(t *testing.T, l layout.Layout, s *behaviour.Schema, q layout.Want, r *behaviour.Record) bool {
	t.Helper()
	if err := l.Fits(s, r); err != nil {
		t.Fatal(err)
	}
	reads, err := l.Reads(s, q)
	if err != nil {
		t.Fatal(err)
	}
	row, in := string(l.AppendRow(nil, s, r)), false
	reads.Ranges(l.AppendUserKey(nil, r.User), func(start, stop []byte) bool {
		in = in || string(start) <= row && row < string(stop)
		return true
	})
	return in
}
