package record

import (
	"os"
	"path/filepath"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/test/testkit"
)

// journey returns the format of a grocery's purchases.
func journey(t *testing.T) *Format {
	return &Format{
		Schema: &behaviour.Schema{Zone: "America/New_York", Kinds: []behaviour.Kind{{ID: 1, Name: "purchase", Fields: []behaviour.Field{
			{Name: "basket_id", Type: behaviour.Int64}, {Name: "product_id", Type: behaviour.String}, {Name: "quantity", Type: behaviour.Int64},
			{Name: "sales_value", Type: behaviour.Double}, {Name: "store_id", Type: behaviour.Int64},
		}}}},
		Zone:   zone(t, "America/New_York"),
		Syntax: CSV,
		Header: true,
		Kinds: []Kind{{
			User:   Column{Name: "household_id"},
			Time:   Time{Column: Column{Name: "time"}, Format: "2006-01-02 15:04:05"},
			Fields: []Column{{Name: "basket_id"}, {Name: "product_id"}, {Name: "quantity"}, {Name: "sales_value"}, {Name: "store_id"}},
		}},
	}
}

// TestRealLogs reads a year of real purchases. All 75,000 are good, although no slack is
// allowed.
func TestRealLogs(t *testing.T) {
	f := journey(t)
	paths, err := filepath.Glob(filepath.Join(testkit.Shared(t, "data/logs"), "journey", "*", "purchase.csv.gz"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	total := 0
	for _, path := range paths {
		day, err := behaviour.ParseDate(filepath.Base(filepath.Dir(path)))
		if err != nil {
			t.Fatal(err)
		}
		in, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(in, File{Path: path, Date: &day}, f, 1<<16)
		in.Close()
		if err != nil {
			t.Fatal(err)
		}
		for i, raw := range got.raw {
			if raw != "" {
				t.Fatalf("%s: %s", path, got.lines[i])
			}
		}
		total += len(got.lines)
	}
	if total != 75_000 {
		t.Errorf("%d purchases, want 75000", total)
	}
}
