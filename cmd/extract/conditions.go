package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/behaviour"
	"usertrail/internal/extract/query"
)

// conditions are the flags that filter users and events further than --active.
type conditions struct {
	query.Conditions
	at string
}

func (c *conditions) add(f *pflag.FlagSet) {
	f.StringVar(&c.Where, "where", "", "keep events that match, such as 'play.seconds >= 600 || order.price > 0'")
	f.BoolVar(&c.WhereFirst, "where-first", false, "apply --active to the events that --where and --hours keep, instead of to all events")
	f.StringVar(&c.Having, "having", "", "keep users whose kept events match, such as 'count(play) >= 5 && sum(order.price) > 100'")
	f.StringVar(&c.Sequence, "sequence", "", "keep users who did these steps in order, such as 'visit -> play within 1h -> order within 1d'")
	f.StringSliceVar(&c.Without, "without", nil, "keep users who did none of these behaviours within the dates, comma-separated")
	f.StringSliceVar(&c.Fields, "fields", nil, "fields of the result, such as play.programme,order.price (default all of --types); with --shape wide some of count,first,last,days")
	f.StringVar(&c.Hours, "hours", "", "keep events of these hours of the day in the table's time zone, such as 18-24 or 22-6, or play:20-23 for one behaviour (default all)")
	f.IntVar(&c.Context, "context", 0, "also keep the N events before and after each event that --where or --hours keep")
	f.StringVar(&c.at, "at", "", "keep the last event of each behaviour at or before a time: '2014-09-05 18:00:00', or 2014-09-05 for the end of the day")
	f.IntVar(&c.Latest, "latest", 0, "keep the last N events of each user, or 0 for all (default all)")
}

// of returns the conditions for a table with days in a zone.
func (c *conditions) of(span behaviour.Span, zone string) (query.Conditions, error) {
	trim(c.Fields)
	trim(c.Without)
	if c.at == "" {
		return c.Conditions, nil
	}
	z, err := time.LoadLocation(zone)
	if err != nil {
		return c.Conditions, fmt.Errorf("the table's zone: %w", err)
	}
	at, err := parseAt(c.at, z)
	if err != nil {
		return c.Conditions, fmt.Errorf("%w: --at: %w", cli.ErrUsage, err)
	}
	if at < span.From.Start(z).UnixMicro() {
		return c.Conditions, fmt.Errorf("%w: --at %s is before --from %s: no event can match", cli.ErrUsage, c.at, span.From)
	}
	out := c.Conditions
	out.At = &at
	return out, nil
}

// trim removes the blanks around names, as in "play, order".
func trim(names []string) {
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
}

// parseAt parses a date, which means the last microsecond of its day, or a time. A time
// without a zone is in the zone given. The result is in microseconds since 1970-01-01 UTC.
func parseAt(s string, zone *time.Location) (int64, error) {
	if d, err := behaviour.ParseDate(s); err == nil {
		return d.End(zone).UnixMicro() - 1, nil
	}
	for _, form := range []string{"2006-01-02 15:04", "2006-01-02 15:04:05.999999", "2006-01-02T15:04:05.999999", time.RFC3339Nano} {
		if t, err := behaviour.ParseLocal(form, s, zone); err == nil {
			return t.UnixMicro(), nil
		}
	}
	return 0, fmt.Errorf("%q is not a time: write 2014-09-05, '2014-09-05 18:00:00' or 2014-09-05T18:00:00+08:00", s)
}
