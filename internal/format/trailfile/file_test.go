package trailfile_test

import (
	"bytes"
	"slices"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/trailfile"
)

func TestFileShowsWhatWasWritten(t *testing.T) {
	s := trailfile.Long([]string{"login", "play"}, 0, []behaviour.Field{
		{Name: "programme", Type: behaviour.String}, {Name: "price", Type: behaviour.Double}, {Name: "hd", Type: behaviour.Bool},
		{Name: "until", Type: behaviour.Timestamp}, {Name: "born", Type: behaviour.Day}, {Name: "amount", Type: behaviour.Int64},
	})
	rows := []row{
		{"alice", 16314, 1409529600000001, 1, 42, []any{"节目", 1.5, true, int64(1409529600000000), int32(0), int64(-7)}},
		{"bob", 16315, 1409616000000000, 0, 43, []any{nil, nil, nil, nil, nil, nil}},
		{"carol", 16315, 1409616000000000, 0, 43, []any{"x", nil, false, nil, nil, nil}},
	}
	data, _ := write(t, s, trailfile.Options{GroupRows: 2}, rows, 3)
	f, err := trailfile.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	head, err := f.Head(2)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"alice", "2014-09-01", "2014-09-01T00:00:00.000001Z", "play", "42", "节目", "1.5", "true", "2014-09-01T00:00:00Z", "1970-01-01", "-7"},
		{"bob", "2014-09-02", "2014-09-02T00:00:00Z", "login", "43", "", "", "", "", "", ""},
	}
	if !slices.EqualFunc(head, want, slices.Equal) {
		t.Errorf("first rows are\n%q, want\n%q", head, want)
	}
	info, err := f.Info()
	if err != nil {
		t.Fatal(err)
	}
	if info.Rows != 3 || len(info.Groups) != 2 || info.Groups[0].Rows != 2 || info.Groups[1].First != "carol" || info.Groups[0].Last != "bob" {
		t.Errorf("row groups are %+v", info.Groups)
	}
	if got := info.Metadata["trail.version"]; got != trailfile.SchemaVersion {
		t.Errorf("trail.version is %q, want %q", got, trailfile.SchemaVersion)
	}
	if len(info.Columns) != 11 {
		t.Fatalf("%d columns, want 11: %+v", len(info.Columns), info.Columns)
	}
	for i, nulls := range []int64{0, 0, 0, 0, 0, 1, 2, 1, 2, 2, 2} {
		if c := info.Columns[i]; c.Nulls != nulls || c.Nullable != (i >= 5) {
			t.Errorf("column %s: %d nulls, nullable %v; want %d, %v", c.Name, c.Nulls, c.Nullable, nulls, i >= 5)
		}
	}
}
