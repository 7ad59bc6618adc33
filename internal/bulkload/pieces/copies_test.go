package pieces_test

import (
	"strings"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"
)

// TestSeveralCopiesOfAFile plans two copies of a file whose path has no date. The file was loaded for other dates, or it is in the
// same plan. The ledger shows that the file has no records of the dates of the plan, and the lines of the plan do not.
func TestSeveralCopiesOfAFile(t *testing.T) {
	job := strings.ReplaceAll(bulkloadtest.TwoKinds, "logs/{date}/{behaviour}.*", "logs/{behaviour}.*.csv")
	for _, loaded := range []bool{true, false} {
		y := bulkloadtest.New(t, job)
		const text = "user,time,title,seconds\na,2014-09-01 08:00:00,x,1\n"
		y.Write("play.1.csv", text)
		if loaded {
			y.Load(nil, "2014-09-01", "2014-09-01")
		}
		y.Write("play.2.csv", text)
		y.Write("play.3.csv", text)
		y.Write("play.4.csv", "user,time,title,seconds\nb,2014-09-02 09:00:00,y,2\n")
		parts := y.Plan(nil, 1, "2014-09-01", "2014-09-02")
		y.DoAll(parts)
		y.Commit(nil, parts)
		y.Write("play.5.csv", "user,time,title,seconds\nc,2014-09-03 09:00:00,z,3\n")
		parts = y.Plan(nil, 1, "2014-09-02", "2014-09-03")
		y.DoAll(parts)
		if r := y.Commit(nil, parts); r.Loaded != 1 {
			t.Errorf("loaded %t: %+v; want one record", loaded, r)
		}
		y.WantTrails("a 2014-09-01 2014-09-01T08:00:00Z play title=x seconds=1", "b 2014-09-02 2014-09-02T09:00:00Z play title=y seconds=2",
			"c 2014-09-03 2014-09-03T09:00:00Z play title=z seconds=3")
	}
}
