package importer_test

import (
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"

	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/store/dfs/local"
)

// TestAnImportOfMergedFilesGoesOn imports a night, and then a table that has this night and
// later nights in one merged file. The second import brings only the missing records of the
// file.
func TestAnImportOfMergedFilesGoesOn(t *testing.T) {
	want := bulkloadtest.Undisturbed(t)
	p := bulkloadtest.NewHBase(t)
	p.Load(nil, "2014-09-01", "2014-09-01")
	if r, err := imports(p, local.New()); err != nil || r.Loaded != 3 {
		t.Fatalf("%+v, %v; want 3 records", r, err)
	}
	p.Load(nil, "2014-09-02", "2014-09-02")
	if r, err := upkeep.Compact(t.Context(), p.Upkeep(false)); err != nil || r.After >= r.Before {
		t.Fatalf("%+v, %v; want fewer files", r, err)
	}
	if r, err := imports(p, local.New()); err != nil || r.Loaded != 2 || r.Already != 1 {
		t.Fatalf("%+v, %v; want 2 records more", r, err)
	}
	p.Ends(want)
}

// TestAnImportWithoutDroppedDays imports a table from which a day was dropped. The imported
// ledger does not list this day.
func TestAnImportWithoutDroppedDays(t *testing.T) {
	p := bulkloadtest.NewHBase(t)
	fill(p)
	first := bulkloadtest.Date(t, "2014-09-02")
	gone, err := upkeep.Drop(t.Context(), p.Upkeep(false), first)
	if err != nil || gone.Behaviours == 0 {
		t.Fatalf("%+v, %v; want some to go", gone, err)
	}
	if _, err := imports(p, local.New()); err != nil {
		t.Fatal(err)
	}
	var records int64
	for _, l := range p.Ledgers() {
		for _, d := range l.Days {
			records += d.Records
			if d.Date < first {
				t.Errorf("the ledger tells of %s", d.Date)
			}
		}
	}
	if records != 5-gone.Behaviours {
		t.Errorf("%d records came, want %d", records, 5-gone.Behaviours)
	}
}
