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

// NotLoaded returns the days of span that no load has, as spans in order: see manifest.Load.Delivered. Dropped
// days are not loaded. If an older version committed a load, NotLoaded reads the ledgers.
func NotLoaded(ctx context.Context, t Loader, span behaviour.Span) ([]behaviour.Span, error) {
	days, err := delivered(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("look for the days that are loaded: %w", err)
	}
	if m := Known(t); m != nil && m.DroppedBefore != nil {
		for i := range days {
			days[i].From = max(days[i].From, *m.DroppedBefore)
		}
	}
	return span.Gaps(days), nil
}

// Unloaded returns "days that are not loaded: " and the days of span that no load has, or "". It says nothing of
// days that were dropped, and of a table into which other programs write.
func Unloaded(ctx context.Context, t Loader, span behaviour.Span) (string, error) {
	m := Known(t)
	if !DaysKnown(t) || len(m.Loads) == 0 {
		return "", nil
	}
	if m.DroppedBefore != nil {
		span.From = max(span.From, *m.DroppedBefore)
	}
	if span.From > span.To {
		return "", nil
	}
	missing, err := NotLoaded(ctx, t, span)
	if err != nil || len(missing) == 0 {
		return "", err
	}
	return "days that are not loaded: " + Spans(missing), nil
}

// delivered returns the days of all loads, in any order.
func delivered(ctx context.Context, t Loader) (days []behaviour.Span, err error) {
	if m := Known(t); m != nil && !slices.ContainsFunc(m.Loads, func(l manifest.LoadRef) bool { return l.Days == nil }) {
		for i := range m.Loads {
			days = append(days, m.Loads[i].Days...)
		}
		return days, nil
	}
	ledgers, err := t.Ledgers(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range ledgers {
		days = append(days, l.Delivered()...)
	}
	return days, nil
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
