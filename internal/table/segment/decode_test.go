package segment_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/segment"
	"usertrail/internal/table/shuffle"
)

// TestDecodedRecordsOfLargeRowsAreTheSame decodes large and small rows in turn, with and without
// values. Large rows do not fit into memory. The records are equal to the encoded records.
func TestDecodedRecordsOfLargeRowsAreTheSame(t *testing.T) {
	s := &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{
		{ID: 1, Name: "play", Fields: []behaviour.Field{{Name: "title", Type: behaviour.String}, {Name: "seconds", Type: behaviour.Int64}}},
	}}
	all := behaviour.AllDays
	for _, name := range layout.Names() {
		l, err := layout.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		recs := sameSecond(rand.New(rand.NewPCG(1, 2)), 5000)
		if l.Fits(s, &recs[len(recs)-1]) != nil {
			continue
		}
		for _, want := range []layout.Want{layout.Everything(s, all), layout.Everyone(s, all)} {
			dir := t.TempDir()
			rows := segment.NewRowDecoder(t.Context(), l, s, want, shuffle.Config{FS: local.New(), Dir: dir, Memory: 64 << 10})
			for from, n := range []int{5000, 3, 4000, 1} {
				some := recs[from:min(from+n, len(recs))]
				got := recordsOf(t, l, s, some, rows)
				if want := textsOf(some, want.Fields == nil); !slices.Equal(got, want) {
					t.Fatalf("%s: %d records were decoded as %d: %.300q, want %.300q", name, len(want), len(got), got, want)
				}
			}
			if err := rows.Close(); err != nil {
				t.Error(err)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("%s: %d files remain, %v", name, len(left), err)
			}
		}
	}
}

// TestDecodedRecordsOfManyBehavioursAreSeparate decodes a large row in which records of the kinds 0
// and 256 have equal dates and column IDs.
func TestDecodedRecordsOfManyBehavioursAreSeparate(t *testing.T) {
	s := &behaviour.Schema{Zone: "UTC"}
	for i := range 257 {
		s.Kinds = append(s.Kinds, behaviour.Kind{ID: uint16(i + 1), Name: fmt.Sprint("kind", i), Fields: []behaviour.Field{
			{Name: "title", Type: behaviour.String}, {Name: "seconds", Type: behaviour.Int64},
		}})
	}
	recs := sameSecond(rand.New(rand.NewPCG(3, 4)), 4000)
	for i := 1; i < len(recs); i += 2 {
		recs[i].ID, recs[i].Kind = recs[i-1].ID, 256
	}
	l := layout.Wide{}
	rows := segment.NewRowDecoder(t.Context(), l, s, layout.Everything(s, behaviour.AllDays), shuffle.Config{FS: local.New(), Dir: t.TempDir(), Memory: 64 << 10})
	if got, want := recordsOf(t, l, s, recs, rows), textsOf(recs, true); !slices.Equal(got, want) {
		t.Errorf("%d records were decoded as %d: %.300q, want %.300q", len(want), len(got), got, want)
	}
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
}

// recordsOf encodes records by a layout and decodes the cells by rows. It returns the decoded
// records as texts, in order of column ID.
func recordsOf(t *testing.T, l layout.Layout, s *behaviour.Schema, recs []behaviour.Record, rows *segment.RowDecoder) []string {
	t.Helper()
	var out []behaviour.Record
	take := func(r *behaviour.Record) error {
		c := *r
		c.Values = nil
		for _, v := range r.Values {
			c.Values = append(c.Values, bytes.Clone(v))
		}
		out = append(out, c)
		return nil
	}
	enc := l.Encoder(s, "d")
	var row []byte
	for i := range recs {
		row = l.AppendRow(row[:0], s, &recs[i])
		enc.Add(&recs[i])
		if i+1 < len(recs) && bytes.Equal(row, l.AppendRow(nil, s, &recs[i+1])) {
			continue
		}
		if err := enc.Cells(row, rows.Add); err != nil {
			t.Fatal(err)
		}
		if err := rows.End(take); err != nil {
			t.Fatal(err)
		}
	}
	return textsOf(out, true)
}

// textsOf returns records as texts in order of column ID and kind, with their values or with nulls.
func textsOf(recs []behaviour.Record, values bool) []string {
	slices.SortFunc(recs, func(a, b behaviour.Record) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Kind, b.Kind)) })
	var out []string
	for _, r := range recs {
		text := fmt.Sprintf("%d %d %d %s", r.ID, r.Kind, r.Time, r.Date)
		for _, v := range r.Values {
			if !values {
				v = nil
			}
			text += fmt.Sprintf(" %v %q", v == nil, v)
		}
		out = append(out, text)
	}
	return out
}

// TestCountsAreMerged counts records of dates and behaviours in turn. The list stays short, and
// its sums are right.
func TestCountsAreMerged(t *testing.T) {
	var c segment.Counts
	for range 2 {
		for i := range 100_000 {
			c.Add(behaviour.Date(i%100), i%3)
		}
		if n := len(c.List()); n > 10_000 {
			t.Errorf("the list has %d counts", n)
		}
		sum := map[segment.Count]int64{}
		for _, x := range c.List() {
			n := x.Records
			x.Records = 0
			sum[x] += n
		}
		for x, n := range sum {
			if n < 333 || n > 334 || len(sum) != 300 {
				t.Fatalf("%d counts; %+v: %d records", len(sum), x, n)
			}
		}
		c.Reset()
	}
}
