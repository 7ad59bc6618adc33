package bulkload

import (
	"context"
	"errors"
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// RunDays loads the days of cfg.Span one by one, each as Run does. A day that fails, or whose
// files are missing, does not stop later days. An error that every day would meet ends the
// load: later days are left.
func RunDays(ctx context.Context, cfg Config) (Result, error) {
	var sum Result
	var failed []error
	said := map[string]bool{}
	counts := new(DayCounts)
	for d := cfg.Span.From; d <= cfg.Span.To; d++ {
		if ctx.Err() != nil || stopsAll(errors.Join(failed...)) {
			counts.Left++
			sum.Calendar = append(sum.Calendar, DayLine{Date: d, Ended: DayLeft})
			continue
		}
		one := cfg
		one.Span = behaviour.Span{From: d, To: d}
		r, err := Run(ctx, one)
		sum.add(r)
		line := r.day(d, err)
		counts.add(line.Ended)
		sum.Calendar = append(sum.Calendar, line)
		if err != nil && !errors.Is(err, ErrNothing) && !said[err.Error()] { // without the folder of the logs all days say the same
			said[err.Error()] = true
			failed = append(failed, err)
		}
	}
	if sum.Days = counts; cfg.Span.Days() < 2 {
		sum.Days, sum.Calendar = nil, nil
	}
	if len(failed) == 0 && counts.Loaded == 0 {
		return sum, fmt.Errorf("%w: of %s all %d files were loaded before", ErrNothing, cfg.Span, sum.Already)
	}
	return sum, joined(failed)
}

// stopsAll says whether an error of one day is one of every day.
func stopsAll(err error) bool {
	for _, all := range []error{dfs.ErrLocked, dfs.ErrLockLost, dfs.ErrUnavailable, table.ErrUnreachable, context.Canceled} {
		if errors.Is(err, all) {
			return true
		}
	}
	return false
}

// add adds the result of a load of another day.
func (r *Result) add(o Result) {
	r.Counts.Add(o.Counts)
	r.Cells += o.Cells
	r.Files += o.Files
	r.Already += o.Already
	r.Missing += o.Missing
	r.Older += o.Older
	r.Bytes += o.Bytes
	r.HFiles += o.HFiles
	r.Loads += o.Loads
	r.Finished += o.Finished
	r.Choice, r.Held = o.Choice, o.Held
	r.Failed = append(r.Failed, o.Failed...)
}

// day is what became of a day that r and err are of.
func (r *Result) day(d behaviour.Date, err error) DayLine {
	line := DayLine{Date: d, Files: r.Files + r.Already + len(r.Failed), Missing: r.Missing, Counts: r.Counts, Ended: DayLoaded}
	switch {
	case errors.Is(err, ErrNothing) && r.Already > 0:
		line.Ended = DayAlready
	case errors.Is(err, ErrNothing):
		line.Ended = DayEmpty
	case err != nil:
		line.Ended = DayFailed
	}
	return line
}
