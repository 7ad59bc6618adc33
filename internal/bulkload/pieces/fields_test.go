package pieces_test

import (
	"fmt"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/format/layout"
	"usertrail/internal/run/piece"
)

// TestPiecesFollowTheTablesFields runs a load between the pieces and their commit. The load
// adds a field to the table at the place where the pieces have another field.
func TestPiecesFollowTheTablesFields(t *testing.T) {
	for _, name := range layout.Names() {
		t.Run(name, func(t *testing.T) {
			y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
			var want []string
			for i, fields := range [][]string{{"a"}, {"a", "c"}, {"a", "b"}} {
				text, trails, _ := bulkloadtest.ListLog("csv", i+1, fields)
				y.Write(fmt.Sprintf("2014-09-%02d/play.log", i+1), text)
				want = append(want, trails...)
			}
			y.SetJob(bulkloadtest.ListJob("csv", name, []string{"a"}))
			y.Load(nil, "2014-09-01", "2014-09-01")
			y.SetJob(bulkloadtest.ListJob("csv", name, []string{"a", "b"}))
			parts := y.Plan(nil, 1<<20, "2014-09-03", "2014-09-03")
			y.DoAll(parts)
			y.SetJob(bulkloadtest.ListJob("csv", name, []string{"a", "c"}))
			y.Load(nil, "2014-09-02", "2014-09-02")
			y.Commit(piece.ErrMissing, parts)
			y.DoAll(parts)
			y.Commit(nil, parts)
			y.WantTrails(want...)
		})
	}
}
