package record_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/record"
)

// TestTimesOutsideOfTheirBoundsAreBad reads times at the edges of bounds.
func TestTimesOutsideOfTheirBoundsAreBad(t *testing.T) {
	day := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		time record.Time
		text string
		want string // a part of the message of a bad record
	}{
		{record.Time{Format: "epoch_s"}, "631152000", ""},
		{record.Time{Format: "epoch_s"}, "631151999.999999", `"631151999.999999" is 1989-12-31T23:59:59Z, and the earliest time is 1990-01-01T00:00:00Z (time.earliest)`},
		{record.Time{Format: "epoch_s"}, "0", "is 1970-01-01T00:00:00Z"},
		{record.Time{Format: "epoch_ms"}, "1409536800", "is 1970-01-17T07:32:16Z"},
		{record.Time{Format: "epoch_us"}, "1409536800000", "is 1970-01-17"},
		{record.Time{Format: "epoch_s", Earliest: day(1960)}, "-1", ""},
		{record.Time{}, "1970-01-01 00:00:00", ""},
		{record.Time{Latest: day(2020)}, "2020-01-01 00:00:00", ""},
		{record.Time{Latest: day(2020)}, "2020-01-01 00:00:00.000001", `and the latest time is 2020-01-01T00:00:00Z (time.latest)`},
		{record.Time{Earliest: day(2020), Latest: day(2021)}, "2019-12-31 23:59:59", "the earliest time is 2020-01-01"},
		{record.Time{Earliest: day(2020), Latest: day(2021)}, "2020-06-01 00:00:00", ""},
	} {
		f := record.Format{
			Schema: &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "play"}}},
			Syntax: record.CSV, Names: []string{"user", "time"},
			Kinds: []record.Kind{{User: record.Column{Name: "user"}, Time: c.time}},
		}
		f.Kinds[0].Time.Name = "time"
		p, err := record.NewParser(&f, record.File{Path: "play.csv"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := &boundsSink{}
		if err := p.Parse(record.Chunk{Data: fmt.Appendf(nil, "u1,%s\n", c.text), Line: 1}, s); err != nil {
			t.Fatal(err)
		}
		switch {
		case c.want == "" && s.good == 1 && s.bad == nil:
		case c.want != "" && s.good == 0 && s.bad != nil && s.bad.Reason == record.Implausible && strings.Contains(s.bad.Err.Error(), c.want):
		default:
			t.Errorf("%q with %+v: %d good, bad %v; want %q", c.text, c.time, s.good, s.bad, c.want)
		}
	}
}

// A boundsSink counts good records and keeps the last bad one.
type boundsSink struct {
	good int
	bad  *record.Reject
}

func (s *boundsSink) Keep(*behaviour.Record) error { s.good++; return nil }

func (s *boundsSink) Skip(*record.Skipped) error { return nil }

func (s *boundsSink) Reject(r *record.Reject) error { s.bad = r; return nil }
