package load

import (
	"context"
	"errors"
	"fmt"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
)

// Days loads the days of cfg.Span one by one, each as Run does. A day that fails, or whose
// files are missing, does not stop later days. An error that every day would meet ends the
// load: later days are left.
func Days(ctx context.Context, cfg Config) (bulkload.Result, error) {
	var sum bulkload.Result
	var failed []error
	said := map[string]bool{}
	counts := new(bulkload.DayCounts)
	for d := cfg.Span.From; d <= cfg.Span.To; d++ {
		if ctx.Err() != nil || bulkload.StopsAll(errors.Join(failed...)) {
			counts.Left++
			sum.Calendar = append(sum.Calendar, bulkload.DayLine{Date: d, Ended: bulkload.DayLeft})
			continue
		}
		one := cfg
		one.Span = behaviour.Span{From: d, To: d}
		r, err := Run(ctx, one)
		sum.Add(r)
		line := dayLine(&r, d, err)
		counts.Add(line.Ended)
		sum.Calendar = append(sum.Calendar, line)
		if err != nil && !errors.Is(err, bulkload.ErrNothing) && !said[err.Error()] { // without the folder of the logs all days say the same
			said[err.Error()] = true
			failed = append(failed, err)
		}
	}
	if sum.Days = counts; cfg.Span.Days() < 2 {
		sum.Days, sum.Calendar = nil, nil
	}
	if len(failed) == 0 && counts.Loaded == 0 {
		return sum, fmt.Errorf("%w: of %s all %d %s were loaded before", bulkload.ErrNothing, cfg.Span, sum.Already, english.PluralWord(sum.Already, "file", ""))
	}
	return sum, bulkload.Joined(failed)
}

// dayLine returns the result of a day. Run returned r and err for it.
func dayLine(r *bulkload.Result, d behaviour.Date, err error) bulkload.DayLine {
	line := bulkload.DayLine{Date: d, Files: r.Files + r.Already + len(r.Failed), Missing: r.Missing, Counts: r.Counts, Ended: bulkload.DayLoaded}
	switch {
	case errors.Is(err, bulkload.ErrNothing) && r.Already > 0:
		line.Ended = bulkload.DayAlready
	case errors.Is(err, bulkload.ErrNothing):
		line.Ended = bulkload.DayEmpty
	case err != nil:
		line.Ended = bulkload.DayFailed
	}
	return line
}
