package extract

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// Notes says in words what an analyst should know of a result besides its counts:
// which of the requested days are gone, which behaviours the table does not have on them,
// and, if no user came out, what the table has instead. If there is nothing to say, Notes
// costs nothing except that it asks HBase what it keeps.
func Notes(ctx context.Context, l table.Loader, c Config, r Result) ([]string, error) {
	q, err := newQuestion(&c)
	if err != nil {
		return nil, err
	}
	notes, err := q.older(ctx, l, time.Now())
	if err != nil {
		return nil, fmt.Errorf("ask what the table keeps: %w", err)
	}
	where := r.Out
	if c.Stream != nil {
		where = ""
	}
	notes = append(notes, r.lost.notes(r.Users, where)...)
	notes = append(notes, r.foreign.Notes()...)
	named := q.rule.Asked | q.without | activity.Of(q.want.Kinds...)
	if r.Kept > 0 && q.rule.Least == named.Len() {
		return notes, nil // each behaviour was seen
	}
	ledgers, err := l.Ledgers(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for what the table has: %w", err)
	}
	have := held(ledgers)
	missing := activity.Set(0)
	for k := range q.info.Schema.Kinds {
		if len(have) == 0 {
			break // nothing is known of a table that others loaded
		}
		if !named.Has(k) {
			continue
		}
		name := q.info.Schema.Kinds[k].Name
		if spans := have[name]; !slices.ContainsFunc(spans, c.Span.Overlaps) {
			missing |= activity.Of(k)
			notes = append(notes, fmt.Sprintf("the table has no %s on %s; it has %s", name, c.Span, daysOf(name, spans)))
		}
	}
	if r.Kept > 0 {
		return notes, nil
	}
	if missing&q.rule.Asked == q.rule.Asked {
		return append(notes, "it has "+everything(have)), nil
	}
	why, err := q.nobody(ctx, r)
	return append(notes, why), err
}

// nobody says why no user came out of a table that has the requested days and behaviours.
func (q *question) nobody(ctx context.Context, r Result) (string, error) {
	switch c := &q.asked; {
	case !q.users.IsAll() && r.Users == 0:
		return "the list of users is empty", nil
	case r.Found == 0 && q.users.IsAll():
		return "nobody did any of these behaviours on these days", nil
	case r.Found == 0:
		known, err := q.someUsers(ctx)
		if r.Users == 1 {
			return "the user asked for has none of these behaviours on these days; " + known, err
		}
		return fmt.Sprintf("none of the %s users asked for has any of these behaviours on these days; %s", humanize.Comma(r.Users), known), err
	case r.Active == 0:
		were := humanize.Comma(r.Found) + " users were found, and none of them is"
		if r.Found == 1 {
			were = "1 user was found, and is not"
		}
		return fmt.Sprintf("%s active as --active %s%s asks%s", were, q.active, without(c.Without), q.advice()), nil
	case q.where != nil && q.where.Kinds()&q.rule.Asked == 0:
		return fmt.Sprintf("--where keeps none of --types %s", strings.Join(q.names(), ",")), nil
	case r.Active == 1:
		return fmt.Sprintf("1 user is active, and nothing of the user is left by %s", strings.Join(c.flags(), ", ")), nil
	default:
		return fmt.Sprintf("%s users are active, and of none of them anything is left by %s", humanize.Comma(r.Active), strings.Join(c.flags(), ", ")), nil
	}
}

// advice returns what the user may change if no user is active.
func (q *question) advice() string {
	switch {
	case q.rule.Judge(q.rule.Asked&^q.without) != activity.Active:
		return ": nobody can do a behaviour and be without it"
	case q.rule.Least > 1:
		return ": --active any keeps those with at least one of the behaviours"
	}
	return ""
}

func without(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " --without " + strings.Join(names, ",")
}

// flags are the conditions that were set.
func (c *Conditions) flags() []string {
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

// held are the days of each behaviour that loads brought, as few spans as hold them.
func held(ledgers []*manifest.Load) map[string][]behaviour.Span {
	days := map[string][]behaviour.Date{}
	for _, l := range ledgers {
		for _, d := range l.Days {
			if d.Records > 0 {
				days[d.Behaviour] = append(days[d.Behaviour], d.Date)
			}
		}
	}
	out := map[string][]behaviour.Span{}
	for name, dates := range days {
		slices.Sort(dates)
		for _, d := range slices.Compact(dates) {
			spans := out[name]
			if n := len(spans); n > 0 && spans[n-1].To+1 == d {
				spans[n-1].To = d
			} else {
				out[name] = append(spans, behaviour.Span{From: d, To: d})
			}
		}
	}
	return out
}

// mostSpans is how many spans of days a note tells.
const mostSpans = 4

func daysOf(name string, spans []behaviour.Span) string {
	if len(spans) == 0 {
		return "none at all"
	}
	var words []string
	for _, s := range spans[:min(len(spans), mostSpans)] {
		words = append(words, s.String())
	}
	if n := len(spans); n > mostSpans {
		words = append(words, fmt.Sprintf("… %s", spans[n-1]))
	}
	return fmt.Sprintf("%s of %s", name, strings.Join(words, ", "))
}

// everything is which days of each behaviour there are.
func everything(have map[string][]behaviour.Span) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(have)) {
		words = append(words, daysOf(name, have[name]))
	}
	return strings.Join(words, "; ")
}

// sampleUsers is how many users a note names.
const sampleUsers = 3

// someUsers names a few users that did what is asked for, as their IDs are written.
func (q *question) someUsers(ctx context.Context) (string, error) {
	users, err := q.table.Users(ctx, split.Region{}, q.span)
	if err != nil {
		return "", fmt.Errorf("look for users: %w", err)
	}
	defer users.Close()
	var names []string
	for len(names) < sampleUsers && users.Next() {
		if users.User().Did&q.rule.Asked == 0 {
			continue
		}
		id, err := q.info.Layout.AppendUser(nil, users.User().Key)
		if err != nil {
			return "", err
		}
		names = append(names, fmt.Sprintf("%q", id))
	}
	if err := users.Err(); err != nil {
		return "", fmt.Errorf("look for users: %w", err)
	}
	if len(names) == 0 {
		return "nobody has", nil
	}
	return "users who have some are " + strings.Join(names, ", "), nil
}
