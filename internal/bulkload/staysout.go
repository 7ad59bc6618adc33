package bulkload

import (
	"log/slog"
	"maps"
	"slices"

	"usertrail/internal/format/manifest"
)

// StaysOut counts loaded files with records that an earlier load skipped and that a load of the job does
// not read again, although the job requests them.
type StaysOut struct {
	Why     manifest.Setting `json:"why"`
	Files   int              `json:"files"`
	Records int64            `json:"records,omitempty"` // at most
	First   string           `json:"first"`             // the path of the first of the files

	Paths map[string]int64 `json:"-"` // the records of each file
}

// AddStaysOut adds s to a list, which has one entry for each reason. The counts follow from Paths.
func AddStaysOut(list []StaysOut, s StaysOut) []StaysOut {
	i := slices.IndexFunc(list, func(o StaysOut) bool { return o.Why == s.Why })
	if i < 0 {
		i = len(list)
		list = append(list, StaysOut{Why: s.Why, Paths: map[string]int64{}})
	}
	o := &list[i]
	maps.Copy(o.Paths, s.Paths)
	o.Files, o.Records = len(o.Paths), 0
	for _, n := range o.Paths {
		o.Records += n
	}
	o.First = slices.Min(slices.Collect(maps.Keys(o.Paths)))
	return list
}

// UnclearAdvice is the next step if a load cannot determine which records of a file the table has, because the
// job has another setting than an earlier load.
var UnclearAdvice = map[manifest.Setting]string{
	manifest.SkipSetting: "put the earlier settings of the columns (format, delimiter, header, names, nulls, encoding) back and load these files with the condition that you want first, or load the logs into a new table",
	manifest.TextSetting: "put the earlier settings (column, pattern, nulls, delimiter and others) back and load the new texts or behaviours first, or load the logs into a new table",
	manifest.TimeSetting: "put the earlier settings (column, pattern, format, zone and others) back and load the other dates first, or load the logs into a new table",
	manifest.UserSetting: "if these records are wanted, load the logs into a new table",
}

// staysOutReason has the reasons why skipped records are not loaded.
var staysOutReason = map[manifest.Setting]string{
	manifest.SkipSetting: "the job reads columns by other settings than the earlier load, and cannot evaluate the condition by which that load skipped records",
	manifest.TextSetting: "the job finds the behaviour of a record by other settings than when the files were loaded",
	manifest.TimeSetting: "the job reads times by other settings than when the files were loaded, and the earlier load skipped records of other dates",
	manifest.UserSetting: "the job reads users by other settings than when the files were loaded, and the earlier load skipped records without a user",
}

// staysOutAdvice returns the reason why skipped records are not loaded, and the next step.
func staysOutAdvice(why manifest.Setting) string {
	return staysOutReason[why] + ", so that a load cannot tell which records the table has: " + UnclearAdvice[why]
}

// warnStaysOut logs why skipped records of loaded files are not loaded.
func warnStaysOut(log *slog.Logger, list []StaysOut) {
	for _, s := range list {
		log.Warn("skipped records of loaded files are not loaded", "key", s.Why, "files", s.Files, "records", s.Records, "first", s.First, "advice", staysOutAdvice(s.Why))
	}
}
