package bulkload

import (
	"log/slog"
	"maps"
	"slices"
)

// StaysOut counts loaded files with records that an earlier load left out and that a load of the job does
// not read again, although the job asks for them.
type StaysOut struct {
	Why     string `json:"why"` // BySkip or ByTexts
	Files   int    `json:"files"`
	Records int64  `json:"records,omitempty"` // at most; 0 is not known
	First   string `json:"first"`             // the path of the first of the files

	Paths map[string]int64 `json:"-"` // the records of each file
}

// Why records stay out.
const (
	// BySkip: the skip condition of the earlier job held for them. The job cuts records into other columns, and
	// cannot evaluate that condition.
	BySkip = "logs.skip"
	// ByTexts: the job reads the texts of behaviours in another way than the earlier job, and has more texts, or
	// the earlier load found texts of no behaviour. The ledger does not show which records it brought.
	ByTexts = "logs.behaviour"
	// ByRead: the job reads users or times in another way than the earlier job. The earlier load found no user,
	// or other dates than the requested ones.
	ByRead = "user, time"
)

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

// staysOutAdvice says what to do about records that stay out, by reason.
var staysOutAdvice = map[string]string{
	BySkip:  "the job has another condition and reads other columns (format, delimiter, header, names, nulls or encoding) than when the files were loaded, so that a load cannot tell which records the table has: put the earlier settings of the columns back and load these files with the new condition first, or load the logs into a new table",
	ByRead:  "the job reads users or times by other columns, patterns, formats or zones than when the files were loaded, so that a load cannot tell which records the table has: if they are wanted, load the logs into a new table",
	ByTexts: "the job cuts the text that names a behaviour out of a record by other settings (column, pattern, nulls, delimiter and others) than when the files were loaded, so that a load cannot tell which records the table has: if records of a text are missing, put the earlier settings back and load the texts first, or load the logs into a new table",
}

// warnStaysOut logs why records of loaded files stay out.
func warnStaysOut(log *slog.Logger, list []StaysOut) {
	for _, s := range list {
		log.Warn("records of loaded files stay out", "key", s.Why, "files", s.Files, "records", s.Records, "first", s.First, "advice", staysOutAdvice[s.Why])
	}
}
