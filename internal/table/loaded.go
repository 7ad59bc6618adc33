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

// RequireDays returns an error that wraps ErrDays if no load has any of the behaviours on a day of span.
func RequireDays(ctx context.Context, t Loader, span behaviour.Span, behaviours []string) error {
	l, err := readLoaded(ctx, t)
	if err != nil {
		return err
	}
	some := l.days(func(d *manifest.DaysOf) bool { return slices.ContainsFunc(behaviours, d.Of) })
	return l.require(l.missing(span, behaviours, some))
}

// RequireLogs returns an error that wraps ErrDays if no load has one of the behaviours on a day of span.
func RequireLogs(ctx context.Context, t Loader, span behaviour.Span, behaviours []string) error {
	l, err := readLoaded(ctx, t)
	if err != nil {
		return err
	}
	return l.require(l.missing(span, behaviours, nil))
}

// NotLoaded returns the days of span that no load has of some behaviours: see manifest.Load.Delivered. The days that no
// load has of any behaviour come first. Dropped days are not loaded. If an older version committed a load, NotLoaded reads
// the ledgers.
func NotLoaded(ctx context.Context, t Loader, span behaviour.Span, behaviours []string) ([]manifest.DaysOf, error) {
	l, err := readLoaded(ctx, t)
	if err != nil {
		return nil, err
	}
	return l.missing(span, behaviours, nil), nil
}

// Unloaded returns "days that are not loaded: " and the days of span that no load has of the behaviours, or "". It
// names nothing of days that were dropped, and of a table into which other programs write.
func Unloaded(ctx context.Context, t Loader, span behaviour.Span, behaviours []string) (string, error) {
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
	missing, err := NotLoaded(ctx, t, span, behaviours)
	if err != nil || len(missing) == 0 {
		return "", err
	}
	return "days that are not loaded: " + daysOf(missing), nil
}

// Dropped returns "the days before … were dropped from the table" if span has such days, or "". first is Info.Dropped of
// the table.
func Dropped(first *behaviour.Date, span behaviour.Span) string {
	if span.From.Before(first) {
		return fmt.Sprintf("the days before %s were dropped from the table", first)
	}
	return ""
}

// loaded has the days of all loads.
type loaded struct {
	all     []manifest.DaysOf // in any order
	dropped *behaviour.Date   // the days before it were dropped
}

// readLoaded returns the days of the loads of t.
func readLoaded(ctx context.Context, t Loader) (*loaded, error) {
	l := new(loaded)
	m := Known(t)
	if m != nil {
		l.dropped = m.DroppedBefore
		for i := range m.Loads {
			l.all = append(l.all, m.Loads[i].Delivered...)
		}
	}
	if m != nil && !slices.ContainsFunc(m.Loads, func(l manifest.LoadRef) bool { return l.Delivered == nil }) {
		return l, nil
	}
	l.all = nil
	err := t.EachLedger(ctx, func(of *manifest.Load) error {
		l.all = append(l.all, of.Delivered()...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for the days that are loaded: %w", err)
	}
	return l, nil
}

// days returns the days of l for which of holds, except the days that were dropped.
func (l *loaded) days(of func(*manifest.DaysOf) bool) (out []behaviour.Span) {
	for i := range l.all {
		if of(&l.all[i]) {
			out = append(out, l.all[i].Days...)
		}
	}
	if l.dropped != nil {
		for i := range out {
			out[i].From = max(out[i].From, *l.dropped)
		}
	}
	return out
}

// missing returns the days of span that l does not have of some behaviours, as NotLoaded, except some days.
func (l *loaded) missing(span behaviour.Span, behaviours []string, except []behaviour.Span) []manifest.DaysOf {
	none := span.Gaps(l.days(func(*manifest.DaysOf) bool { return true }))
	out := map[string][]behaviour.Span{"": none}
	for _, name := range behaviours {
		days := l.days(func(d *manifest.DaysOf) bool { return d.Of(name) })
		out[name] = span.Gaps(slices.Concat(days, none, except))
	}
	return manifest.GroupDays(out)
}

// require returns an error that wraps ErrDays if days are missing.
func (l *loaded) require(missing []manifest.DaysOf) error {
	if len(missing) == 0 {
		return nil
	}
	if first := missing[0].Days[0].From; first.Before(l.dropped) {
		return fmt.Errorf("%w: %s: the days before %s were dropped from the table: begin with a later day, or restore them with bulkload undrop", ErrDays, daysOf(missing), l.dropped)
	}
	return fmt.Errorf("%w: %s: load them first", ErrDays, daysOf(missing))
}

// daysOf returns days of behaviours in words.
func daysOf(days []manifest.DaysOf) string {
	var words []string
	for i := range days[:min(len(days), mostSpans)] {
		text := Spans(days[i].Days)
		if names := days[i].Behaviours; len(names) > 0 {
			text = behaviour.List(names) + " of " + text
		}
		words = append(words, text)
	}
	if n := len(days); n > mostSpans {
		words = append(words, "…")
	}
	return strings.Join(words, "; ")
}

// mostSpans is the largest number of spans that Spans writes, and of groups of behaviours that daysOf writes.
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
