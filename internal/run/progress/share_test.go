package progress_test

import (
	"testing"
	"testing/synctest"
	"time"

	"usertrail/internal/run/progress"
)

// TestASharesPartsAreTheWhole checks the sum for every way of counting.
func TestASharesPartsAreTheWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out output
		p := progress.Start(progress.Config{Log: logTo(&out)})
		p.Step("reading", "rows", 100)
		cells := p.Share(70, 3)
		for n := range int64(5) { // the file has more cells than expected
			cells.UpTo(n)
			time.Sleep(time.Second)
		}
		none := p.Share(30, 0)
		none.UpTo(1)
		none.End()
		none.End()
		time.Sleep(3 * time.Second)
		p.Done()
		expect(t, "the log", out.String(), `msg=reading rows=100 rate="12.5 rows/s" took=8s`)
	})
}
