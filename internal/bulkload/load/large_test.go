package load_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/verify"
	"usertrail/internal/format/layout"
)

// TestLargeRecordsAreLoadedOnce loads records that are larger than the memory in which the records of a row are held, in each
// layout. The table has the cells of a load with much memory.
func TestLargeRecordsAreLoadedOnce(t *testing.T) {
	text := "user,time,title,seconds\n"
	for i := range 4 {
		text += fmt.Sprintf("%d,2014-09-01 10:00:00,%s,%d\n", 10+i, strings.Repeat(fmt.Sprint(i), 300_000), i)
	}
	for _, name := range layout.Names() {
		var want []string
		for _, memory := range []int64{4 << 30, 16 << 20} {
			y := bulkloadtest.New(t, bulkloadtest.LaidOut(name))
			y.Write("2014-09-01/play.csv", text)
			cfg := y.Config("2014-09-01", "2014-09-01")
			cfg.Memory, cfg.Workers = memory, 2
			if r, err := load.Run(context.WithoutCancel(t.Context()), cfg); err != nil || r.Loaded != 4 {
				t.Fatalf("%s: %+v, %v", name, r, err)
			}
			if r, err := verify.Run(t.Context(), verify.Config{Store: y.Store}); err != nil {
				t.Errorf("%s: verify: %v: %+v", name, err, r)
			}
			got := y.Cells()
			if want == nil {
				want = got
			} else if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s: with little memory there are %d cells, with much %d", name, len(got), len(want))
			}
			if n := len(y.Trails(true)); n != 4 {
				t.Errorf("%s: %d events, want 4", name, n)
			}
		}
	}
}
