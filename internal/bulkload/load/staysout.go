package load

import (
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/format/manifest"
)

// addStaysOut adds to the result what an earlier load left out of f, and the job asks for. in is the file
// in that load.
func (l *Load) addStaysOut(f *delivered.File, in *manifest.Input) {
	if ofDropped(&f.Input, l.To.Info().Dropped) {
		return
	}
	add := func(why string, records int64) {
		l.Result.StaysOut = bulkload.AddStaysOut(l.Result.StaysOut, bulkload.StaysOut{Why: why, Paths: map[string]int64{f.Path: records}})
	}
	if in.LeftOutBy(l.skip) && !in.BroughtNone() && f.Part.Shares(in.Part) {
		add(bulkload.BySkip, in.Skips.Condition)
	}
	if in.TextsBy != l.textsBy && f.Part.Extends(in.Part) {
		add(bulkload.ByTexts, 0)
	}
}
