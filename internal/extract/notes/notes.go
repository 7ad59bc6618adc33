// Package notes returns sentences about a result that an analyst should know, in addition to its counts.
package notes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/extract"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// For returns notes on the result r of c. They name requested days that are gone, behaviours that the
// table l does not have on these days, and days of a result that grows which gained records. If no user is in the result, they name users
// or days that the table has. If there is no note, For only asks HBase for the TTL of the table.
func For(ctx context.Context, l table.Loader, c extract.Config, r extract.Result) ([]string, error) {
	q, err := c.NewQuery()
	if err != nil {
		return nil, err
	}
	notes, err := daysOfResult(ctx, q, l, c)
	if err != nil {
		return nil, err
	}
	where := r.Out
	if c.Stream != nil {
		where = ""
	}
	notes = append(notes, r.Lost.Notes(r.Users, where)...)
	notes = append(notes, r.Skipped.Notes()...)
	notes = append(notes, Replaced(r.Out, r.Replaced)...)
	named := q.Named()
	if r.Kept > 0 && q.Rule.Least == named.Len() {
		return notes, nil // each behaviour was found
	}
	if c.Span.To.Before(l.Info().Dropped) {
		return notes, nil // the first note reports that all days were dropped
	}
	have, err := held(ctx, l)
	if err != nil {
		return nil, fmt.Errorf("read the days of the table: %w", err)
	}
	missing := activity.Set{}
	for k := range q.Info.Schema.Kinds {
		if len(have) == 0 {
			break // other programs loaded the table, so nothing is known
		}
		if !named.Has(k) {
			continue
		}
		name := q.Info.Schema.Kinds[k].Name
		if spans := have[name]; !slices.ContainsFunc(spans, c.Span.Overlaps) {
			missing.Add(k)
			notes = append(notes, fmt.Sprintf("the table has no %s on %s; it has %s", name, c.Span, daysOf(name, spans)))
		}
	}
	if r.Kept > 0 {
		return notes, nil
	}
	if missing.And(q.Rule.Asked) == q.Rule.Asked {
		return append(notes, "the table has "+everything(have)), nil
	}
	why, err := nobody(ctx, q, c.Table, r)
	return append(notes, why), err
}

// Replaced returns a note if an extract, or a plan, removed the results of finished pieces of an earlier plan for out.
func Replaced(out string, done int) []string {
	if done == 0 {
		return nil
	}
	return []string{fmt.Sprintf("an earlier plan for --out %s was replaced: the results of %s are removed", out, english.Plural(done, "finished piece", ""))}
}

// daysOfResult returns notes on the days of q: days that are gone, days that are not loaded, and, if c appends to a
// result, the days of the result.
func daysOfResult(ctx context.Context, q *query.Query, l table.Loader, c extract.Config) ([]string, error) {
	notes, err := older(ctx, q, l, time.Now())
	if err != nil {
		return nil, fmt.Errorf("ask what the table keeps: %w", err)
	}
	unloaded, err := table.Unloaded(ctx, l, q.Span, q.NamedAll())
	if err != nil {
		return nil, err
	}
	if unloaded != "" {
		notes = append(notes, unloaded)
	}
	if !c.Append {
		return notes, nil
	}
	appended, err := Appended(ctx, l, c)
	return append(notes, appended...), err
}

// nobody returns the reason why no user is in the result, although the table t has the requested days
// and behaviours.
func nobody(ctx context.Context, q *query.Query, t table.Table, r extract.Result) (string, error) {
	switch c := &q.Conditions; {
	case !q.Users.IsAll() && r.Users == 0:
		return "the list of users is empty", nil
	case r.Found == 0 && q.Users.IsAll():
		return "nobody did any of these behaviours on these days", nil
	case r.Found == 0:
		known, err := someUsers(ctx, q, t)
		if r.Users == 1 {
			return "the user asked for has none of these behaviours on these days" + known, err
		}
		return fmt.Sprintf("none of the %s users asked for has any of these behaviours on these days%s", humanize.Comma(r.Users), known), err
	case r.Active == 0:
		were := humanize.Comma(r.Found) + " users were found, and none of them is"
		if r.Found == 1 {
			were = "1 user was found, and is not"
		}
		return fmt.Sprintf("%s active as --active %s%s asks%s", were, q.Active, without(c.Without), advice(q)), nil
	case q.Where != nil && !q.Where.Kinds().Meets(q.Rule.Asked):
		return fmt.Sprintf("--where keeps none of --types %s", behaviour.Flag(q.Names())), nil
	case r.Active == 1:
		return fmt.Sprintf("1 user is active, but no event of the user is left by %s", strings.Join(flags(c), ", ")), nil
	default:
		return fmt.Sprintf("%s users are active, but no event of them is left by %s", humanize.Comma(r.Active), strings.Join(flags(c), ", ")), nil
	}
}

// advice returns a change of the query that helps if no user is active.
func advice(q *query.Query) string {
	switch {
	case q.Rule.Judge(q.Rule.Asked.Without(q.Without)) != activity.Active:
		return ": nobody can do a behaviour and be without it"
	case q.Rule.Least > 1:
		return ": --active any keeps those with at least one of the behaviours"
	}
	return ""
}

// without returns the flag --without.
func without(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " --without " + behaviour.Flag(names)
}

// flags returns the flags of the conditions that were set.
func flags(c *query.Conditions) []string {
	var out []string
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"--where", c.Where != ""}, {"--hours", c.Hours != ""}, {"--having", c.Having != ""}, {"--sequence", c.Sequence != ""}, {"--at", c.At != nil},
	} {
		if f.set {
			out = append(out, f.name)
		}
	}
	return out
}

// held returns the days of each behaviour of which loads of t have records, as spans.
func held(ctx context.Context, t table.Loader) (map[string][]behaviour.Span, error) {
	days := map[string][]behaviour.Date{}
	err := t.EachLedger(ctx, func(l *manifest.Load) error {
		for _, d := range l.Days {
			if d.Records > 0 {
				days[d.Behaviour] = append(days[d.Behaviour], d.Date)
			}
		}
		return nil
	})
	out := map[string][]behaviour.Span{}
	for name, dates := range days {
		out[name] = behaviour.SpansOf(dates)
	}
	return out, err
}

// daysOf returns the days of a behaviour in words.
func daysOf(name string, spans []behaviour.Span) string {
	if len(spans) == 0 {
		return "none at all"
	}
	return fmt.Sprintf("%s of %s", name, table.Spans(spans))
}

// everything returns the days of all behaviours in words.
func everything(have map[string][]behaviour.Span) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(have)) {
		words = append(words, daysOf(name, have[name]))
	}
	return strings.Join(words, "; ")
}

// sampleUsers is the number of users that a note names.
const sampleUsers = 3

// someUsers names a few users who did any requested behaviour, after a semicolon. It returns ""
// if it is not certain which users still have rows, for example if rows may have expired.
func someUsers(ctx context.Context, q *query.Query, t table.Table) (string, error) {
	users, err := t.Users(ctx, split.Region{}, q.Span)
	if err != nil {
		return "", fmt.Errorf("look for users: %w", err)
	}
	defer users.Close()
	var names []string
	for len(names) < sampleUsers && users.Next() {
		if !users.User().Sure {
			return "", nil
		}
		if !users.User().Did.Meets(q.Rule.Asked) {
			continue
		}
		id, err := q.Info.Layout.AppendUser(nil, users.User().Key)
		if err != nil {
			return "", err
		}
		names = append(names, fmt.Sprintf("%q", id))
	}
	if err := users.Err(); err != nil {
		return "", fmt.Errorf("look for users: %w", err)
	}
	if len(names) == 0 {
		return "; nobody has", nil
	}
	return "; users who have some are " + strings.Join(names, ", "), nil
}
