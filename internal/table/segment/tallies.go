package segment

import (
	"cmp"
	"maps"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/tally"
)

// A Day is a date and behaviour of one load. Ledgers count records and cells by Day.
type Day struct {
	Load int
	Date behaviour.Date
	Kind int // index in the schema's kinds
}

// Tallies counts records and cells by Day, and cells by load and region. One goroutine uses it.
type Tallies struct {
	days    map[Day]*manifest.Day
	regions map[loadRegion]*tally.Tally

	// Most records are of the same day and region as the record before them.
	lastDay    Day
	dayEntry   *manifest.Day // entry of lastDay; nil before the first call of Add
	lastRegion loadRegion
	regionSum  *tally.Tally // entry of lastRegion; nil before the first call of AddRegion
}

type loadRegion struct{ load, region int }

// NewTallies returns empty Tallies.
func NewTallies() *Tallies {
	return &Tallies{days: map[Day]*manifest.Day{}, regions: map[loadRegion]*tally.Tally{}}
}

// Add adds records and cells of a day.
func (t *Tallies) Add(day Day, records int64, cells tally.Tally) {
	if t.dayEntry == nil || t.lastDay != day {
		e := t.days[day]
		if e == nil {
			e = new(manifest.Day)
			t.days[day] = e
		}
		t.lastDay, t.dayEntry = day, e
	}
	t.dayEntry.Records += records
	t.dayEntry.Tally.Add(cells)
}

// AddRegion adds cells of a load and region.
func (t *Tallies) AddRegion(load, region int, cells tally.Tally) {
	at := loadRegion{load, region}
	if t.regionSum == nil || t.lastRegion != at {
		sum := t.regions[at]
		if sum == nil {
			sum = new(tally.Tally)
			t.regions[at] = sum
		}
		t.lastRegion, t.regionSum = at, sum
	}
	t.regionSum.Add(cells)
}

// Merge adds all of o.
func (t *Tallies) Merge(o *Tallies) {
	for day, e := range o.days {
		t.Add(day, e.Records, e.Tally)
	}
	for at, sum := range o.regions {
		t.AddRegion(at.load, at.region, *sum)
	}
}

// Span returns the smallest span that includes all dates.
func (t *Tallies) Span() behaviour.Span {
	s := behaviour.Span{From: behaviour.MaxDate, To: behaviour.MinDate}
	for day := range t.days {
		s.From, s.To = min(s.From, day.Date), max(s.To, day.Date)
	}
	return s
}

// Loads returns the numbers of the loads in ascending order.
func (t *Tallies) Loads() []int {
	var out []int
	for day := range t.days {
		out = append(out, day.Load)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Days returns the days of a load in order of date and behaviour ID.
func (t *Tallies) Days(load int, s *behaviour.Schema) []manifest.Day {
	days := slices.SortedFunc(maps.Keys(t.days), func(a, b Day) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Kind, b.Kind))
	})
	out := make([]manifest.Day, 0, len(days))
	for _, day := range days {
		if day.Load != load {
			continue
		}
		e := *t.days[day]
		e.Date, e.Behaviour = day.Date, s.Kinds[day.Kind].Name
		out = append(out, e)
	}
	return out
}

// Regions returns the regions between points, with the tallies of a load.
func (t *Tallies) Regions(load int, points split.Points) []manifest.Region {
	regions := points.Regions()
	out := make([]manifest.Region, len(regions))
	for i, r := range regions {
		out[i].First = r.Start
		if sum := t.regions[loadRegion{load, i}]; sum != nil {
			out[i].Tally = *sum
		}
	}
	return out
}
