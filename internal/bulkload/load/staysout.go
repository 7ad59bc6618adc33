package load

import (
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
)

// staysOut adds to the result that records of f, which the job asks for, are not in the table and are not
// loaded. records is the largest possible number of them; 0 is not known.
func (l *Load) staysOut(f *delivered.File, why string, records int64) {
	if ofDropped(&f.Input, l.To.Info().Dropped) {
		return
	}
	l.Result.StaysOut = bulkload.AddStaysOut(l.Result.StaysOut, bulkload.StaysOut{Why: why, Paths: map[string]int64{f.Path: records}})
}
