package importer_test

import (
	"errors"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/reread"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/store/dfs/local"
)

// fillInTwoSteps loads the logs without a field of plays into the fixture's table of files.
func fillInTwoSteps(t *testing.T, layout string) *bulkloadtest.HBase {
	t.Helper()
	p := bulkloadtest.NewHBase(t)
	p.SetJob(strings.Replace(bulkloadtest.LaidOut(layout), ", seconds: int64", "", 1))
	fill(p)
	p.SetJob(bulkloadtest.LaidOut(layout))
	return p
}

// readAgain adds the field.
func readAgain(t *testing.T, p *bulkloadtest.HBase) {
	t.Helper()
	c := p.Config("2014-09-01", "2014-09-02")
	r, err := reread.Run(t.Context(), reread.Config{Resources: c.Resources, Job: c.Job, Span: c.Span})
	if err != nil || r.Reread.Records != 3 {
		t.Fatalf("%+v, %v; want values of 3 records", r, err)
	}
}

// TestRereadsAreImportedWithTheirRecords imports loads and a reread, also of merged files. The table is the table of a load
// of the logs, also in a layout whose cells the reread replaced.
func TestRereadsAreImportedWithTheirRecords(t *testing.T) {
	for _, layout := range []string{"reversed", "wide"} {
		whole := bulkloadtest.NewHBase(t)
		whole.SetJob(bulkloadtest.LaidOut(layout))
		fill(whole)
		if _, err := imports(whole, local.New()); err != nil {
			t.Fatal(err)
		}
		want := whole.Cells()
		for _, compacted := range []bool{false, true} {
			p := fillInTwoSteps(t, layout)
			readAgain(t, p)
			if compacted {
				if _, err := upkeep.Compact(t.Context(), p.Upkeep(true)); err != nil {
					t.Fatal(err)
				}
			}
			r, err := imports(p, local.New())
			if err != nil || r.Loaded != 5 || r.Loads != 1 || r.Check() != nil {
				t.Fatalf("%+v, %v; want 5 records", r, err)
			}
			if r, err = imports(p, local.New()); !errors.Is(err, bulkload.ErrNothing) {
				t.Errorf("a second import: %+v, %v; want ErrNothing", r, err)
			}
			p.Ends(want)
		}
	}
}

// TestARereadOfImportedRecordsIsRefused imports a reread whose records were imported before.
func TestARereadOfImportedRecordsIsRefused(t *testing.T) {
	p := fillInTwoSteps(t, "reversed")
	if _, err := imports(p, local.New()); err != nil {
		t.Fatal(err)
	}
	readAgain(t, p)
	if r, err := imports(p, local.New()); !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), "added fields to records of its load 1") {
		t.Errorf("%+v, %v; want ErrRequest", r, err)
	}
}
