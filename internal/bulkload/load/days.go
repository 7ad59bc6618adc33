package load

import (
	"context"
	"errors"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/target"
)

// Days calls Run for each day of cfg.Span. If a day fails, or its files are missing, Days continues with the
// next day. If an error would occur on every day, Days ends the load and does not load later days.
func Days(ctx context.Context, cfg Config) (bulkload.Result, error) {
	var sum bulkload.Result
	var ends dayErrors
	counts := new(bulkload.DayCounts)
	for d := cfg.Span.From; d <= cfg.Span.To; d++ {
		if ctx.Err() != nil || bulkload.StopsAll(errors.Join(ends.failed...)) {
			counts.Left++
			sum.Calendar = append(sum.Calendar, bulkload.DayLine{Date: d, Ended: bulkload.DayLeft})
			continue
		}
		one := cfg
		one.oneOfDays = true
		one.Span = behaviour.Span{From: d, To: d}
		r, err := Run(ctx, one)
		sum.Add(r)
		line := bulkload.DayLine{Date: d, Files: r.Files + r.Already + len(r.Failed), Missing: r.Missing, Counts: r.Counts, Ended: ends.add(err)}
		counts.Add(line.Ended)
		sum.Calendar = append(sum.Calendar, line)
	}
	bulkload.WarnUnmapped(cfg.WithDefaults().Log, &sum.UnmappedFiles)
	sum.Failed = oncePerFile(sum.Failed)
	if sum.Days = counts; cfg.Span.Days() < 2 {
		sum.Days, sum.Calendar = nil, nil
	}
	return sum, ends.err(&cfg, &sum, counts.Loaded > 0)
}

// oncePerFile returns the first entry of each file and error: a file without a date in its path fails on every day.
func oncePerFile(all []bulkload.Failed) (once []bulkload.Failed) {
	seen := map[bulkload.Failed]bool{}
	for _, f := range all {
		if !seen[f] {
			seen[f] = true
			once = append(once, f)
		}
	}
	return once
}

// dayErrors collects the errors of days that were loaded separately.
type dayErrors struct {
	failed  []error // of days that failed; without the folder of the logs all days have the same error, which is here once
	skipped []error // of days whose good records belong to dropped days
	before  *target.LoadedBeforeError
	// The sums over days of LoadedBeforeError.Files and Elsewhere.
	loaded, elsewhere int
}

// add adds the error of a day, or nil. It returns how the day ended.
func (e *dayErrors) add(err error) bulkload.DayEnd {
	var before *target.LoadedBeforeError
	var skipped *target.SkippedAllError
	switch {
	case err == nil:
		return bulkload.DayLoaded
	case errors.As(err, &before):
		e.loaded, e.elsewhere = e.loaded+before.Files, e.elsewhere+before.Elsewhere
		if e.before = before; before.Span.From.Before(before.Dropped) {
			return bulkload.DayDropped
		}
		return bulkload.DayAlready
	case errors.As(err, &skipped):
		e.skipped = append(e.skipped, err)
		return bulkload.DayDropped
	case errors.Is(err, bulkload.ErrNothing):
		return bulkload.DayEmpty
	}
	if !slices.ContainsFunc(e.failed, func(o error) bool { return o.Error() == err.Error() }) {
		e.failed = append(e.failed, err)
	}
	return bulkload.DayFailed
}

// err returns the error of the load of all days. loaded reports whether a day was loaded.
func (e *dayErrors) err(cfg *Config, sum *bulkload.Result, loaded bool) error {
	switch {
	case len(e.failed) > 0 || loaded:
		return bulkload.Joined(e.failed)
	case len(e.skipped) > 0 && (sum.Older > 0 || e.before == nil):
		return bulkload.Joined(e.skipped)
	case e.before != nil:
		return &target.LoadedBeforeError{
			Files: e.loaded, Older: sum.Already - e.loaded - e.elsewhere, Elsewhere: e.elsewhere, Span: cfg.Span, Dropped: e.before.Dropped, Final: e.before.Final,
		}
	}
	return noFile(cfg)
}
