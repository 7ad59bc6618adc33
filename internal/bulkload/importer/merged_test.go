package importer_test

import (
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"

	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/store/dfs/local"
)

// TestAnImportOfMergedFilesContinues imports a night, and then a table that has this night and
// later nights in one merged file. The second import copies only the missing records of the
// file.
func TestAnImportOfMergedFilesContinues(t *testing.T) {
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
				t.Errorf("the ledger lists %s", d.Date)
			}
		}
	}
	if records != 5-gone.Behaviours {
		t.Errorf("%d records came, want %d", records, 5-gone.Behaviours)
	}
}

// TestAnImportOfMoreTexts imports a table before and after its job has more texts and its files
// were merged. The new records are in the files of one load, and the import copies only these.
func TestAnImportOfMoreTexts(t *testing.T) {
	job := func(texts string) string {
		return "logs: {path: \"logs/{date}/a.csv\", behaviour: {column: kind, others: skip, texts: {" + texts + "}}}\nuser: user\nbehaviours: {play: {id: 1}}\n"
	}
	night := func(p *bulkloadtest.HBase, day string) {
		p.Write(day+"/a.csv", "user,time,kind\nu1,"+day+" 10:00:00,play\nu1,"+day+" 10:00:01,resume\nu2,"+day+" 10:00:02,resume\n")
	}
	const more = "resume: play"
	want := bulkloadtest.NewHBase(t)
	want.SetJob(job(more))
	p := bulkloadtest.NewHBase(t)
	p.SetJob(job(""))
	for n, day := range []string{"2014-09-01", "2014-09-02", "2014-09-03"} {
		night(want, day)
		night(p, day)
		if n < 2 {
			p.Load(nil, day, day)
		}
	}
	want.Load(nil, "2014-09-01", "2014-09-03")
	if r, err := imports(p, local.New()); err != nil || r.Loaded != 2 {
		t.Fatalf("%+v, %v; want 2 records", r, err)
	}
	p.SetJob(job(more))
	p.WantCounts(p.Load(nil, "2014-09-01", "2014-09-02"), 6, 4, 0, 0, 2)
	p.Load(nil, "2014-09-03", "2014-09-03")
	if r, err := upkeep.Compact(t.Context(), p.Upkeep(false)); err != nil || r.After != 2 {
		t.Fatalf("%+v, %v; want one merged file, and the file of the new texts", r, err)
	}
	if r, err := imports(p, local.New()); err != nil || r.Loaded != 7 || r.Already != 2 {
		t.Fatalf("%+v, %v; want 7 records more", r, err)
	}
	if _, err := imports(want, local.New()); err != nil {
		t.Fatal(err)
	}
	if got := p.Cells(); !slices.Equal(got, want.Cells()) || len(got) == 0 {
		t.Errorf("the table holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want.Cells(), "\n"))
	}
}
