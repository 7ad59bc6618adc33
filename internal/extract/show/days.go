package show

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/table"
)

// span returns the requested dates. An open end is the table's.
func span(ctx context.Context, c *Config) (behaviour.Span, error) {
	var s behaviour.Span
	if c.From == nil || c.To == nil {
		all, ok, err := table.SpanOf(ctx, c.Table)
		if err != nil {
			return s, err
		}
		if !ok {
			return s, undated(c.Table)
		}
		s = all
	}
	switch {
	case c.From != nil && c.To != nil:
		s = behaviour.Span{From: *c.From, To: *c.To}
	case c.From != nil:
		s = behaviour.Span{From: *c.From, To: max(*c.From, s.To)}
	case c.To != nil:
		s = behaviour.Span{From: min(s.From, *c.To), To: *c.To}
	}
	if s.From > s.To {
		return s, fmt.Errorf("%w: --from %s comes after --to %s", ErrQuery, s.From, s.To)
	}
	return s, nil
}

// undated returns the error of a query without dates for a table whose loads have no days.
func undated(t table.Loader) error {
	if m := table.Known(t); m == nil || m.Address != "" {
		return fmt.Errorf("%w: --from and --to are missing, and the loads do not record which days the table has: write --from YYYY-MM-DD --to YYYY-MM-DD", ErrQuery)
	}
	return fmt.Errorf("%w: %s", job.ErrNoInput, table.WithoutDays(t))
}

// Instead returns a text for a query without events. It describes the user's
// events in the table. If the user has none, it describes the table.
func Instead(ctx context.Context, t table.Loader, a *Asked) (string, error) {
	did, err := everything(ctx, t, a)
	if err != nil {
		return "", fmt.Errorf("show user %q: %w", a.User, err)
	}
	var there []string
	for k, days := range did {
		if n := len(days); n > 0 {
			there = append(there, fmt.Sprintf("%s on %s", a.Schema.Kinds[k].Name, dates(days)))
		}
	}
	dropped := ""
	if text := table.Dropped(t.Info().Dropped, a.Span); text != "" {
		dropped = "; " + text
	}
	if len(there) > 0 {
		text := fmt.Sprintf("the table has no %s of user %q %s; there is %s", behaviour.List(a.names()), a.User, a.looked(), strings.Join(there, ", ")) + dropped
		unloaded, err := table.Unloaded(ctx, t, a.Span, a.names())
		if unloaded != "" {
			text += "; " + unloaded
		}
		return text, err
	}
	text := fmt.Sprintf("the table has no event of user %q%s", a.User, oddID(a.User)) + dropped
	s, ok, err := table.SpanOf(ctx, t)
	if err != nil || !ok {
		return text, err
	}
	return fmt.Sprintf("%s; it has events of other users: %s in %s", text, behaviour.List(a.Schema.Names()), s), nil
}

// oddID returns a remark about a user ID that begins or ends with a blank.
func oddID(id string) string {
	if strings.TrimSpace(id) == id {
		return ""
	}
	return " (the ID begins or ends with a blank)"
}

// looked describes the dates and times that the query covered.
func (a *Asked) looked() string {
	in := "in"
	if a.Span.From == a.Span.To {
		in = "on"
	}
	if a.At == nil {
		return fmt.Sprintf("%s %s", in, a.Span)
	}
	return fmt.Sprintf("%s %s up to %s", in, a.Span, a.at())
}

// names returns the requested behaviours.
func (a *Asked) names() []string {
	var out []string
	for _, k := range a.Kinds {
		out = append(out, a.Schema.Kinds[k].Name)
	}
	return out
}

// dates lists a few days. If there are many, it returns their number, the first and the last.
func dates(days []behaviour.Date) string {
	slices.Sort(days)
	if n := len(days); n > 2 {
		return fmt.Sprintf("%d days in %s", n, behaviour.Span{From: days[0], To: days[n-1]})
	}
	var out []string
	for _, d := range days {
		out = append(out, d.String())
	}
	return strings.Join(out, " and ")
}

// everything returns, for each kind, the days on which the user has events, whatever was
// requested. It reads as few cells as possible.
func everything(ctx context.Context, t table.Table, a *Asked) ([][]behaviour.Date, error) {
	all := behaviour.AllDays
	q, err := a.query(layout.Everyone(a.Schema, all))
	if err != nil {
		return nil, err
	}
	did := make([][]behaviour.Date, len(a.Schema.Kinds))
	err = table.Existing(ctx, t, q, func(_ []byte, date behaviour.Date, kind int) error {
		if !slices.Contains(did[kind], date) {
			did[kind] = append(did[kind], date)
		}
		return nil
	})
	return did, err
}
