package target

import (
	"log/slog"

	"usertrail/internal/format/manifest"
)

// fewestWithoutUser is the number of records without a user below which WarnOfSkipped does not warn, unless the load skipped all records of
// the file. In a few records of a small log, such a share is chance.
const fewestWithoutUser = 20

// WarnOfSkipped warns of delivered files of a load of which the job skipped every record, or at least half of the records because they have
// no user. The cause may be a renamed column, or another file in the place of the log.
func WarnOfSkipped(of *manifest.Load, log *slog.Logger) {
	var all, most []*manifest.Input
	for i := range of.Inputs {
		in := &of.Inputs[i]
		switch n := in.Skips.WithoutUser; {
		case in.Offsets != nil:
		case in.Read > 0 && n+in.Skips.Condition == in.Read:
			all = append(all, in)
		case n >= fewestWithoutUser && 2*n >= in.Read:
			most = append(most, in)
		}
	}
	if len(all) > 0 {
		log.Warn("every record of these logs was skipped: it has no user, or the condition of logs.skip holds for it", "files", len(all), "first", all[0].Path, "records", all[0].Read,
			"advice", "if the records are wanted, correct user or skip in the job, and load again; if the file is not the log, deliver the log under another name that the path matches")
	}
	if len(most) > 0 {
		log.Warn("at least half of the records of these logs were skipped: they have no user", "files", len(most), "first", most[0].Path, "records", most[0].Skips.WithoutUser, "read", most[0].Read,
			"advice", "if these records have a user, correct user in the job before the next load: a load does not read the loaded files again")
	}
}
