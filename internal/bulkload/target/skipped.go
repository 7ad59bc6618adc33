package target

import (
	"log/slog"

	"usertrail/internal/format/manifest"
)

// WarnOfSkipped warns of delivered files of a load of which the job skipped every record for want of a user, or by its condition. The cause may
// be a renamed column, or another file in the place of the log.
func WarnOfSkipped(of *manifest.Load, log *slog.Logger) {
	var all []*manifest.Input
	for i := range of.Inputs {
		if in := &of.Inputs[i]; in.Offsets == nil && in.Read > 0 && in.Skips.WithoutUser+in.Skips.Condition == in.Read {
			all = append(all, in)
		}
	}
	if len(all) > 0 {
		log.Warn("every record of these logs was skipped: it has no user, or the condition of logs.skip holds for it", "files", len(all), "first", all[0].Path, "records", all[0].Read,
			"advice", "if the records are wanted, correct user or skip in the job, and load again; if the file is not the log, deliver the log under another name that the path matches")
	}
}
