package bulkload

import (
	"log/slog"

	"usertrail/internal/behaviour"
)

// OutsideAdvice is what to do if no record is of the dates of a load.
const OutsideAdvice = "correct --from and --to, or the zone or the format of time in the job"

// WarnOutside logs a warning if a load of a span loaded no record, and the span is before the first or after
// the last of the records. A day without records between these dates is no reason for a warning.
func (r *Result) WarnOutside(span behaviour.Span, log *slog.Logger) {
	if r.Loaded+r.Duplicate+r.Skips.LoadedBefore > 0 || r.Skips.OutsideDays == (behaviour.Span{}) || span.Overlaps(r.Skips.OutsideDays) {
		return
	}
	log.Warn("no record was loaded: all are outside the dates", "records", r.Skips.OutsideDates, "dates", span, "found", r.Skips.OutsideDays, "advice", OutsideAdvice)
}
