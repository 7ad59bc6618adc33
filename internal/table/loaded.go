package table

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/exit"
)

// ErrDays is wrapped by the error of RequireDays.
var ErrDays = exit.New(exit.NoInput, "days are not loaded")

// DaysKnown reports whether the loads show which days the table has: no other program writes to it.
func DaysKnown(t Table) bool {
	m := Known(t)
	return m != nil && (m.Address == "" || m.Alone)
}

// RequireDays returns an error that wraps ErrDays if days of span are not loaded.
func RequireDays(ctx context.Context, t Loader, span behaviour.Span) error {
	missing, err := NotLoaded(ctx, t, span)
	if err != nil || len(missing) == 0 {
		return err
	}
	if m := Known(t); m != nil && m.DroppedBefore != nil && missing[0].From < *m.DroppedBefore {
		return fmt.Errorf("%w: %s: the days before %s were dropped from the table: begin with a later day, or bring them back by bulkload undrop", ErrDays, Spans(missing), m.DroppedBefore)
	}
	return fmt.Errorf("%w: %s: load them first", ErrDays, Spans(missing))
}

// NotLoaded returns the days of span that no load has, as spans in order. A load has the days in the
// paths of its delivered files, also if a file had no records. If a file has no day in its path,
// the load has the days of its records. Dropped days are not loaded. NotLoaded reads the ledgers.
func NotLoaded(ctx context.Context, t Loader, span behaviour.Span) ([]behaviour.Span, error) {
	ledgers, err := t.Ledgers(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for the days that are loaded: %w", err)
	}
	var days []behaviour.Date
	for _, l := range ledgers {
		days = append(days, daysOf(l)...)
	}
	if m := Known(t); m != nil && m.DroppedBefore != nil {
		days = slices.DeleteFunc(days, func(d behaviour.Date) bool { return d < *m.DroppedBefore })
	}
	return gaps(span, days), nil
}

// daysOf returns the days of a load, in any order.
func daysOf(l *manifest.Load) (days []behaviour.Date) {
	undated := len(l.Inputs) == 0
	for i := range l.Inputs {
		switch in := &l.Inputs[i]; {
		case in.Dates != nil: // the day in the path, plus and minus the slack
			days = append(days, in.Dates.From+(in.Dates.To-in.Dates.From)/2)
		case in.Offsets == nil: // not replayed
			undated = true
		}
	}
	if undated {
		for _, d := range l.Days {
			days = append(days, d.Date)
		}
	}
	return days
}

// HasRecords reports whether the files in the manifest m show that the table has records of each day of
// span. It reads nothing. If it returns false, the table may have them all the same.
func HasRecords(m *manifest.Table, span behaviour.Span) bool {
	if m == nil {
		return false
	}
	var days []behaviour.Date
	for _, f := range m.Files {
		days = append(days, f.Span.From, f.Span.To)
	}
	return len(gaps(span, days)) == 0
}

// gaps returns the days of span that are not among days. It sorts days.
func gaps(span behaviour.Span, days []behaviour.Date) (out []behaviour.Span) {
	slices.Sort(days)
	next := span.From
	for _, d := range days {
		if d > span.To {
			break
		}
		if d > next {
			out = append(out, behaviour.Span{From: next, To: d - 1})
		}
		next = max(next, d+1)
	}
	if next <= span.To {
		out = append(out, behaviour.Span{From: next, To: span.To})
	}
	return out
}

// mostSpans is the largest number of spans that Spans writes.
const mostSpans = 4

// Spans returns spans in words. If there are many, it returns the first ones and the last one.
func Spans(spans []behaviour.Span) string {
	var words []string
	for _, s := range spans[:min(len(spans), mostSpans)] {
		words = append(words, s.String())
	}
	if n := len(spans); n > mostSpans {
		words = append(words, fmt.Sprintf("… %s", spans[n-1]))
	}
	return strings.Join(words, ", ")
}
