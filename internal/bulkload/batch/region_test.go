package batch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"

	"usertrail/internal/format/manifest"
	"usertrail/internal/table"
	"usertrail/internal/tally"
)

// TestLedgersTellWhatEachRegionGot compares a ledger's regions with the table's regions. It
// also compares their tallies with the tallies of the files. Each region has at most one file.
func TestLedgersTellWhatEachRegionGot(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Job.Table.Regions = 4
	var rows strings.Builder
	for i := range 300 {
		fmt.Fprintf(&rows, "user%d,2014-09-01 10:00:00,title,%d\n", i, i)
	}
	y.Write("2014-09-01/play.csv", "user,time,title,seconds\n"+rows.String())
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.Write("2014-09-02/order.csv", "user,time,price\nuser7,2014-09-02 12:00:00,1.5\n")
	y.Load(nil, "2014-09-02", "2014-09-02")

	target, err := y.Store.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	regions, err := target.Regions(t.Context())
	if err != nil || len(regions) != 4 {
		t.Fatalf("%d regions, %v; want 4", len(regions), err)
	}
	listed := target.(table.Filed).Files()
	for _, l := range y.Ledgers() {
		if len(l.Regions) != len(regions) {
			t.Fatalf("load %d tells %d regions, want %d", l.Number, len(l.Regions), len(regions))
		}
		var sum, days tally.Tally
		for i, r := range l.Regions {
			sum.Add(r.Tally)
			var want tally.Tally
			at := slices.IndexFunc(listed, func(f manifest.File) bool { return f.Load == l.Number && regions[i].Has(f.First) })
			if at >= 0 {
				want = listed[at].Tally
			}
			if r.Tally != want || string(r.First) != string(regions[i].Start) {
				t.Errorf("load %d: region from %q has %s; its file has %s", l.Number, r.First, r.Tally, want)
			}
		}
		for _, d := range l.Days {
			days.Add(d.Tally)
		}
		if sum != days || sum.Cells == 0 {
			t.Errorf("load %d: all regions have %s, all days %s", l.Number, sum, days)
		}
	}
}
