package advise

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
)

// figures.json has the figures that make bench-layouts measured.
//
//go:embed figures.json
var measuredJSON []byte

// A Figure has the measurements of one layout, in a table with Each behaviours for each
// user.
type Figure struct {
	Layout      string            `json:"layout"`
	Where       Place             `json:"where"`
	Each        float64           `json:"each"`    // events per user
	Records     int64             `json:"records"` // in the table
	LoadSeconds float64           `json:"load_seconds"`
	Bytes       int64             `json:"bytes"`
	Queries     map[string]Timing `json:"questions"`
}

// A Timing has the measurements of one kind of query. Rows, Cells and Calls are averages of a query.
type Timing struct {
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
	PerSecond float64 `json:"per_second"` // queries of several clients; 0 if only the times are known
	Rows      float64 `json:"rows"`
	Cells     float64 `json:"cells"`
	Calls     float64 `json:"calls"`
}

// Figures are the measurements of all layouts.
type Figures []Figure

// Measured describes the tables in which figures were measured.
type Measured struct {
	Where   Place     `json:"where"`
	Records int64     `json:"records"`
	Each    []float64 `json:"each"`
}

// MeasuredFigures returns the figures that are part of the program.
func MeasuredFigures() (Figures, error) { return ParseFigures(measuredJSON) }

// ParseFigures reads figures. It refuses figures from which no cost can be computed.
func ParseFigures(data []byte) (Figures, error) {
	var f Figures
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("advise: figures: %w", err)
	}
	for i := range f {
		if err := f[i].check(); err != nil {
			return nil, fmt.Errorf("advise: figures: number %d: %w", i, err)
		}
	}
	if len(f) == 0 {
		return nil, errors.New("advise: figures: there are none")
	}
	return f, nil
}

// asked lists the queries that must have been measured.
var asked = []job.Ask{job.At, job.User, job.Latest, job.Days, job.List, job.Hours}

func (f *Figure) check() error {
	if f.Each < 1 || f.Records < 1 || f.LoadSeconds <= 0 || f.Bytes < 1 {
		return fmt.Errorf("layout %s, %s: each, records, load_seconds and bytes must be above 0", f.Layout, f.Where)
	}
	for _, name := range asked {
		a, ok := f.Queries[string(name)]
		if !ok || a.P50 <= 0 {
			return fmt.Errorf("layout %s, %s, %g a user: query %s was not measured", f.Layout, f.Where, f.Each, name)
		}
	}
	return nil
}

// measured returns which figures are used for tables in a place: its own figures, or the
// figures of tables of files if it has none.
func (f Figures) measured(where Place) Measured {
	m := Measured{Where: where}
	for _, x := range f {
		if x.Where == where {
			m.Records = max(m.Records, x.Records)
			m.Each = append(m.Each, x.Each)
		}
	}
	if m.Records == 0 && where != Files {
		return f.measured(Files)
	}
	slices.Sort(m.Each)
	m.Each = slices.Compact(m.Each)
	return m
}

// A curve has the figures of a layout, in order of events per user.
type curve struct {
	points []Figure
	newest bool // the layout stores the latest events of a user first
}

// of returns the figures of a layout in a place, for all sizes of the layout.
func (f Figures) of(name string, where Place) curve {
	var c curve
	if l, err := layout.ByName(name); err == nil {
		c.newest = l.Traits().Newest != layout.NotNewest
	}
	for _, x := range f {
		if x.Where == where && family(x.Layout) == family(name) {
			c.points = append(c.points, x)
		}
	}
	slices.SortFunc(c.points, func(a, b Figure) int { return cmp.Compare(a.Each, b.Each) })
	return c
}

// family returns a layout's name without its size.
func family(name string) string {
	first, _, _ := strings.Cut(name, "/")
	return first
}

// at interpolates a figure between the measured figures, on logarithmic scales.
func (c curve) at(each float64, of func(*Figure) float64) float64 {
	first, last := &c.points[0], &c.points[len(c.points)-1]
	switch {
	case each <= first.Each:
		return of(first)
	case each >= last.Each:
		return of(last)
	}
	i := slices.IndexFunc(c.points, func(f Figure) bool { return f.Each > each })
	a, b := &c.points[i-1], &c.points[i]
	t := math.Log(each/a.Each) / math.Log(b.Each/a.Each)
	x, y := of(a), of(b)
	if x <= 0 || y <= 0 {
		return x + t*(y-x)
	}
	return math.Exp(math.Log(x) + t*(math.Log(y)-math.Log(x)))
}

// perRecord returns the seconds that a load needs for a record.
func (c curve) perRecord(each float64) float64 {
	return c.at(each, func(f *Figure) float64 { return f.LoadSeconds / float64(f.Records) })
}

// query returns the cost of one run of a query.
func (c curve) query(q job.Query, a *Advice) Each {
	ask := func(of func(Timing) float64) float64 { return rounded(c.scaled(q, a, of)) }
	return Each{
		Milliseconds: ask(Timing.mean),
		P50:          ask(func(x Timing) float64 { return x.P50 }),
		P99:          ask(func(x Timing) float64 { return max(x.P99, x.P50) }),
		Cells:        math.Round(ask(func(x Timing) float64 { return x.Cells })),
		Calls:        math.Round(ask(func(x Timing) float64 { return x.Calls })),
	}
}

// mean returns the milliseconds for which a query keeps the machine busy.
func (x Timing) mean() float64 {
	if x.PerSecond > 0 {
		return 1000 / x.PerSecond
	}
	return x.P50
}

// The measured queries are: the latest ten events, ten days of four behaviours, a list of a hundredth
// of the users over all days, and an hour.
const (
	measuredLast  = 10
	measuredDays  = 10 * 4
	measuredUsers = 0.01
)

// scaled returns a figure of a query, scaled from the measured query to the size of q.
func (c curve) scaled(q job.Query, a *Advice, of func(Timing) float64) float64 {
	value := func(ask job.Ask) float64 {
		return c.at(a.Each, func(f *Figure) float64 { return of(f.Queries[string(ask)]) })
	}
	grown := func(ask job.Ask, times float64) float64 {
		one, some := value(job.At), value(ask)
		least := min(one, some)
		return min(least+(some-least)*times, max(some, value(job.User)))
	}
	records := c.at(a.Each, func(f *Figure) float64 { return float64(f.Records) })
	types := cmp.Or(len(q.Types), len(a.Kinds))
	switch q.Ask {
	case job.Latest:
		if c.newest {
			return grown(job.Latest, float64(q.Last)/measuredLast)
		}
	case job.Days:
		return grown(job.Days, float64(q.Days*types)/measuredDays)
	case job.List:
		users := min(cmp.Or(float64(q.Users.Count), q.Users.Share*a.Users), a.Users)
		share := min(float64(q.Days)/float64(a.TableDays), 1) * float64(types) / float64(len(a.Kinds))
		return value(job.List) * users * a.Each * share / (measuredUsers * records)
	case job.Hours:
		return value(job.Hours) * q.Hours * a.Held / records
	}
	return value(q.Ask)
}
