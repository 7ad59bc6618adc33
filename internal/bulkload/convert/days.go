package convert

import (
	"cmp"
	"maps"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/tally"
)

// days are tallies by load, date and kind, and once more by load and region.
type days struct {
	schema  *behaviour.Schema
	m       map[dayKey]*manifest.Day
	regions map[int]map[int]tally.Tally // by load, region
}

type dayKey struct {
	load int
	date behaviour.Date
	kind int // of the schema
}

func newDays(s *behaviour.Schema) *days {
	return &days{schema: s, m: map[dayKey]*manifest.Day{}, regions: map[int]map[int]tally.Tally{}}
}

func (d *days) at(k dayKey) *manifest.Day {
	e := d.m[k]
	if e == nil {
		e = &manifest.Day{Date: k.date, Behaviour: d.schema.Kinds[k.kind].Name}
		d.m[k] = e
	}
	return e
}

// take adds the days of a region.
func (d *days) take(region int, o *days) {
	for k, day := range o.m {
		e := d.at(k)
		e.Records += day.Records
		e.Tally.Add(day.Tally)
		if d.regions[k.load] == nil {
			d.regions[k.load] = map[int]tally.Tally{}
		}
		sum := d.regions[k.load][region]
		sum.Add(day.Tally)
		d.regions[k.load][region] = sum
	}
}

// span holds all dates.
func (d *days) span() behaviour.Span {
	s := behaviour.Span{From: behaviour.MaxDate, To: behaviour.MinDate}
	for k := range d.m {
		s.From, s.To = min(s.From, k.date), max(s.To, k.date)
	}
	return s
}

// numbers are those of the loads, ascending.
func (d *days) numbers() []int {
	var out []int
	for k := range d.m {
		out = append(out, k.load)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// loads are the days of each load, in order of date and behaviour ID, and its share of
// regions.
func (d *days) loads(regions []manifest.Region) []manifest.Load {
	by := map[int]*manifest.Load{}
	keys := slices.SortedFunc(maps.Keys(d.m), func(a, b dayKey) int {
		return cmp.Or(cmp.Compare(a.load, b.load), cmp.Compare(a.date, b.date), cmp.Compare(a.kind, b.kind))
	})
	out := []manifest.Load{}
	for _, k := range keys {
		if by[k.load] == nil {
			l := manifest.Load{Version: manifest.Version, Number: k.load, Regions: slices.Clone(regions)}
			for i, t := range d.regions[k.load] {
				l.Regions[i].Tally = t
			}
			by[k.load] = &l
		}
		by[k.load].Days = append(by[k.load].Days, *d.m[k])
	}
	for _, number := range d.numbers() {
		out = append(out, *by[number])
	}
	return out
}
