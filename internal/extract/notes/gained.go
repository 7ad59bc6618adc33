package notes

import (
	"context"
	"fmt"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/manifest"
	"usertrail/internal/table"
	"usertrail/internal/tally"
)

// Appended returns notes on a result to which c appends: days between its dates that it does not have, days that
// were extracted before the table l was made again or from another table of its name, and days that gained records or values in l
// after they were extracted.
func Appended(ctx context.Context, l table.Loader, c extract.Config) ([]string, error) {
	m, err := place.At(c.FS, c.Out).Result(ctx)
	if err != nil || m == nil {
		return nil, err
	}
	var notes []string
	if missing := manifest.MissingDays(&m.Query, m.Appended); len(missing) > 0 {
		notes = append(notes, fmt.Sprintf("the result has %s without %s: load these days if they are not loaded, and use --append for them", m.Query.Span, table.Spans(missing)))
	}
	old, replaced := earlier(table.Known(l), m)
	if len(replaced) > 0 {
		notes = append(notes, fmt.Sprintf("days of the result that were extracted from another table of this name, or before the table was made again: %s: to have the records of this table, extract all days again into another directory", table.Spans(replaced)))
	}
	gained, err := gainedBy(ctx, l, c, m, old)
	return append(notes, gained...), err
}

// earlier returns the extracts of the result m after which the table known has got loads, or dropped days again, and the dates of
// extracts from another table that had its name. It returns none if known is nil: the table has no versions.
func earlier(known *manifest.Table, m *manifest.Extract) (old []extracted, replaced []behaviour.Span) {
	if known == nil {
		return nil, nil
	}
	for _, a := range m.Extracts() {
		n, ok := known.LoadsAt(a.TableVersion)
		if !ok {
			if manifest.IsState(a.TableVersion) {
				replaced = append(replaced, a.Span)
			}
			continue
		}
		if n < len(known.Loads) {
			old = append(old, extracted{a.Span, n})
		}
		if again := a.Span.Common(undropped(known, a.TableVersion)); again.From <= again.To {
			old = append(old, extracted{again, 0}) // the extract had no record of these days
		}
	}
	return old, replaced
}

// undropped returns the days that the table known had dropped when it had a version, and that it has again.
func undropped(known *manifest.Table, version string) behaviour.Span {
	then, now := manifest.DroppedAt(version), known.DroppedBefore
	if then == nil {
		return behaviour.NoDays
	}
	out := behaviour.Span{From: behaviour.MinDate, To: *then - 1}
	if now != nil {
		out.From = *now
	}
	return out
}

// gainedBy returns a note if days in the result m of c gained records or values in the table l after they were extracted.
// It does not name days that the table has dropped. old are the extracts after which l has got loads.
func gainedBy(ctx context.Context, l table.Loader, c extract.Config, m *manifest.Extract, old []extracted) ([]string, error) {
	if len(old) == 0 {
		return nil, nil
	}
	q, err := c.NewQuery()
	if err != nil {
		return nil, err
	}
	days, err := gained(ctx, l, old, q)
	if err != nil {
		return nil, fmt.Errorf("look for days that gained records or values: %w", err)
	}
	dropped := l.Info().Dropped
	days = slices.DeleteFunc(days, func(d behaviour.Date) bool { return d.Before(dropped) })
	if len(days) == 0 {
		return nil, nil
	}
	step := "extract all days again into another directory"
	if m.Query.Span.From.Before(dropped) {
		step = fmt.Sprintf("extract the days from %s on into another directory, and keep this result for the days before, which were dropped from the table", dropped)
	}
	return []string{fmt.Sprintf("days of the result that gained records or values in the table after they were extracted: %s: --append does not add them: to have them, %s",
		table.Spans(behaviour.SpansOf(days)), step)}, nil
}

// An extracted is an extract of a result.
type extracted struct {
	span  behaviour.Span
	loads int // that the table had
}

// gained returns the days of extracts from t that gained records of the behaviours of a query, or values of its fields, after their
// extract. If the values replaced cells, the load has as many cells as before, with other hashes.
func gained(ctx context.Context, t table.Loader, extracts []extracted, q *query.Query) (days []behaviour.Date, err error) {
	names := q.NamedAll()
	loads := 0 // that were seen
	err = t.EachLedger(ctx, func(l *manifest.Load) error {
		for _, e := range extracts {
			if loads < e.loads {
				continue
			}
			for _, d := range l.Days {
				if e.span.Has(d.Date) && slices.Contains(names, d.Behaviour) && (d.Records > 0 || d.Tally != (tally.Tally{}) && rereads(l, d.Behaviour, q)) {
					days = append(days, d.Date)
				}
			}
		}
		loads++
		return nil
	})
	return days, err
}

// rereads reports whether a load added values of a field of a behaviour that a query reads.
func rereads(l *manifest.Load, behaviour string, q *query.Query) bool {
	k, ok := q.Info.Schema.Kind(behaviour)
	return ok && slices.ContainsFunc(l.Inputs, func(in manifest.Input) bool {
		for i, f := range q.Info.Schema.Kinds[k].Fields {
			if q.Want.Has(k, i) && slices.Contains(in.Reread[behaviour], f.Name) {
				return true
			}
		}
		return false
	})
}
