// Package advise recommends a layout and the settings for a table, from a
// sample of the logs, the queries that will be run, and measured figures.
//
//	Take    logs ──▶ Sample: number and size of records, records per user, all records of some users
//	Sample  ──▶ sizes: its records as each layout writes them, in HFiles
//	Figures ──▶ the time of a load and of each kind of query, by layout, place of
//	            the table, and behaviours of a user
//	Advise  all of these ──▶ Advice
//
// # The model
//
// The cost of a layout is the number of seconds for which a machine is busy with a night's
// load and a day's queries.
//
//   - The cost of a query is one over the number of results in a second, which is not the
//     time that its user waits. If only times were measured, it is the median time.
//   - A load costs the same for each record.
//   - A query for one user costs the same as in a measured table with equally many
//     behaviours for each user. Between the measured numbers the figures are interpolated, on
//     logarithmic scales of both. Outside of them the nearest figure is used.
//   - The measured queries are a user's latest ten, ten days of four behaviours, a list of 1%
//     of the users over all days, and an hour. For other numbers, the part of the cost above
//     one behaviour is proportional to the number, up to all of a user's behaviours. The cost
//     of a list is proportional to the behaviours that its users have on the query's days. The
//     cost of hours is proportional to their number and the size of the table.
//
// Use the costs only to compare layouts, on a machine like the one that was measured.
package advise

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
)

// A Place is the kind of a table: in HBase or in files.
type Place string

// The places.
const (
	HBase Place = "hbase"
	Files Place = "files"
)

// Config describes the table that needs advice.
type Config struct {
	Job     *job.Job
	Sample  *Sample
	Queries []job.Query
	Days    int // days that the table will hold; by default the job's ttl, else the sample's days
	Figures Figures
}

// Usual returns the queries that are assumed if there is no list: a thousand of each kind
// for one user, one list, and one hour, each day.
func Usual() []job.Query {
	return []job.Query{
		{Ask: job.At, PerDay: 1000},
		{Ask: job.User, PerDay: 1000},
		{Ask: job.Latest, Last: 10, PerDay: 1000},
		{Ask: job.Days, Days: 10, PerDay: 1000},
		{Ask: job.List, Days: 10, Users: job.Users{Share: 0.01}, PerDay: 1},
		{Ask: job.Hours, Hours: 1, PerDay: 1},
	}
}

// An Advice has the recommendations, for a table in HBase and for a table of files.
type Advice struct {
	*Sample
	Held      float64     `json:"held"`  // records in the table when it has all its days
	Each      float64     `json:"each"`  // behaviours per user in the table
	Night     float64     `json:"night"` // records per day
	TableDays int         `json:"table_days"`
	Queries   []job.Query `json:"questions"`
	Places    []Choice    `json:"places"`
}

// A Choice is the advice for one place.
type Choice struct {
	Where    Place    `json:"where"`
	Measured Measured `json:"measured"`
	Layout   string   `json:"layout"` // the recommended layout
	Settings
	Layouts []Cost `json:"layouts"` // the cheapest first; layouts that cannot be used come last
}

// A Cost is the cost of a layout.
type Cost struct {
	Layout  string  `json:"layout"`
	Bytes   int64   `json:"bytes"`        // bytes of the table when it has all its days
	Load    float64 `json:"load_seconds"` // load of a night
	Queries []Each  `json:"questions"`
	Day     float64 `json:"day_seconds"` // a night's load and a day's queries
	Why     string  `json:"why"`
	Cannot  string  `json:"cannot,omitempty"` // why the layout cannot be used
}

// An Each is the cost of one query of a kind.
type Each struct {
	Milliseconds float64 `json:"ms"` // time for which the machine is busy
	P50          float64 `json:"p50_ms"`
	P99          float64 `json:"p99_ms"`
	Cells        float64 `json:"cells"` // number of cells read
	Calls        float64 `json:"calls"`
	Day          float64 `json:"day_seconds"`
}

// Advise returns the recommendations.
func Advise(cfg Config) (*Advice, error) {
	s := cfg.Sample
	days := cmp.Or(cfg.Days, wholeDays(cfg.Job.Table.TTL), s.Days)
	a := &Advice{Sample: s, TableDays: days, Queries: cfg.Queries}
	a.Night = s.Records / float64(s.Days)
	a.Held = a.Night * float64(days)
	a.Each = a.Held / max(s.Users, 1)
	for _, where := range []Place{HBase, Files} {
		c, err := a.choose(cfg, where)
		if err != nil {
			return a, err
		}
		a.Places = append(a.Places, c)
	}
	return a, nil
}

// wholeDays returns a duration in days.
func wholeDays(t time.Duration) int { return int(math.Ceil(t.Hours() / 24)) }

// choose returns the recommendation for a table in a place.
func (a *Advice) choose(cfg Config, where Place) (Choice, error) {
	c := Choice{Where: where, Measured: cfg.Figures.measured(where)}
	for _, name := range a.names {
		cost, err := a.cost(cfg, &c, name)
		if err != nil {
			return c, err
		}
		c.Layouts = append(c.Layouts, cost)
	}
	slices.SortStableFunc(c.Layouts, func(x, y Cost) int {
		return cmp.Or(cmp.Compare(min(len(x.Cannot), 1), min(len(y.Cannot), 1)), cmp.Compare(x.Day, y.Day))
	})
	c.preferSmall()
	if c.Layouts[0].Cannot != "" {
		return c, fmt.Errorf("advise: no layout suits a table in %s: %s: %s", where, c.Layouts[0].Layout, c.Layouts[0].Cannot)
	}
	c.Layout = c.Layouts[0].Layout
	c.explain(a)
	var err error
	c.Settings, err = a.settle(cfg, where, c.Layouts[0])
	return c, err
}

const (
	// asGood is the factor by which the work of a smaller table may exceed the least work.
	asGood = 1.05
	// smaller is the largest size of such a table, as a share of the best table's size.
	smaller = 0.95
)

// preferSmall moves a smaller layout to the front, if its work is nearly as little as the least work
// and it saves enough space.
func (c *Choice) preferSmall() {
	best := 0
	for i, l := range c.Layouts {
		if l.Cannot == "" && l.Day <= asGood*c.Layouts[0].Day && float64(l.Bytes) < smaller*float64(c.Layouts[best].Bytes) {
			best = i
		}
	}
	first := c.Layouts[best]
	c.Layouts = slices.Insert(slices.Delete(c.Layouts, best, best+1), 0, first)
}

// cost returns the cost of a layout, or the reason why it cannot be used.
func (a *Advice) cost(cfg Config, c *Choice, name string) (Cost, error) {
	l, err := layout.ByName(name)
	if err != nil {
		return Cost{}, err
	}
	out := Cost{Layout: name, Queries: []Each{}}
	f := cfg.Figures.of(name, c.Measured.Where)
	switch {
	case a.unfit[name] != nil:
		out.Cannot = a.unfit[name].Error()
	case c.Where == HBase && l.Traits().Versions > 0 && a.TableDays > l.Traits().Versions:
		out.Cannot = fmt.Sprintf("it keeps %d versions of a column, one for each day, and the table is to hold %d days", l.Traits().Versions, a.TableDays)
	case len(f.points) == 0:
		out.Cannot = "there is no measurement of it"
	}
	if out.Cannot != "" {
		return out, nil
	}
	sizes, err := a.sizes(cfg.Job, l, []form{{c.Where, cfg.Job.Table.Compression}})
	if err != nil {
		return out, err
	}
	out.Bytes = int64(sizes[0] * a.Held)
	out.Load = rounded(f.perRecord(a.Each) * a.Night)
	out.Day = out.Load
	for _, q := range cfg.Queries {
		e := f.query(q, a)
		e.Day = rounded(e.Milliseconds / 1000 * q.PerDay)
		out.Queries = append(out.Queries, e)
		out.Day += e.Day
	}
	out.Day = rounded(out.Day)
	return out, nil
}

// rounded returns v with five digits, which is more than the precision of the figures.
func rounded(v float64) float64 {
	if v == 0 {
		return 0
	}
	scale := math.Pow(10, 4-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}

// explain adds a sentence on the rank of each layout.
func (c *Choice) explain(a *Advice) {
	best := &c.Layouts[0]
	best.Why = fmt.Sprintf("The least work, %s a day, of which %s.", Duration(best.Day), best.most(a))
	for i := 1; i < len(c.Layouts) && c.Layouts[i].Cannot == ""; i++ {
		l := &c.Layouts[i]
		switch {
		case l.Day < best.Day:
			best.Why = fmt.Sprintf("Hardly more work than the least, %s a day, of which %s, and the smaller table.", Duration(best.Day), best.most(a))
			l.Why = fmt.Sprintf("The least work, %s a day, but %s against %s.", Duration(l.Day), Bytes(l.Bytes), Bytes(best.Bytes))
		case l.Day <= asGood*best.Day:
			l.Why = fmt.Sprintf("Hardly more work, %s a day, and %s against %s.", Duration(l.Day), Bytes(l.Bytes), Bytes(best.Bytes))
		default:
			l.Why = fmt.Sprintf("%.1f times the work: %s.", l.Day/best.Day, l.against(best, a))
		}
	}
}

// most returns the load or query that takes the most time of a day.
func (l *Cost) most(a *Advice) string {
	name, most := "the load", l.Load
	for i, e := range l.Queries {
		if e.Day > most {
			name, most = a.Queries[i].Title(), e.Day
		}
	}
	return fmt.Sprintf("%.0f%% for %s", 100*most/max(l.Day, math.SmallestNonzeroFloat64), name)
}

// against returns the main part of l's work that exceeds the best layout's work.
func (l *Cost) against(best *Cost, a *Advice) string {
	text := fmt.Sprintf("a night's load takes %s against %s", Duration(l.Load), Duration(best.Load))
	most := l.Load - best.Load
	for i, e := range l.Queries {
		b := best.Queries[i]
		if more := e.Day - b.Day; more > most {
			most = more
			text = fmt.Sprintf("%s takes %s against %s", a.Queries[i].Title(), Duration(e.Milliseconds/1000), Duration(b.Milliseconds/1000))
		}
	}
	return text
}

// Duration returns a short text for a duration.
func Duration(seconds float64) string {
	switch {
	case seconds < 0.0001:
		return fmt.Sprintf("%.0f µs", seconds*1e6)
	case seconds < 0.01:
		return fmt.Sprintf("%.2f ms", seconds*1000)
	case seconds < 1:
		return fmt.Sprintf("%.0f ms", seconds*1000)
	case seconds < 100:
		return fmt.Sprintf("%.1f s", seconds)
	}
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}

// Bytes returns a short text for a size.
func Bytes(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }
