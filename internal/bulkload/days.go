package bulkload

import (
	"cmp"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/tally"
)

// days are tallies by date and kind, and once more by region.
type days struct {
	m       map[dayKey]*manifest.Day
	regions []tally.Tally // as many as have been added to
}

type dayKey struct {
	date behaviour.Date
	kind int
}

func newDays() *days { return &days{m: map[dayKey]*manifest.Day{}} }

func (d *days) at(k dayKey) *manifest.Day {
	e := d.m[k]
	if e == nil {
		e = new(manifest.Day)
		d.m[k] = e
	}
	return e
}

// row adds the difference that a row of a region made to a running tally.
func (d *days) row(region int, date behaviour.Date, kind int, records int64, before, after tally.Tally) {
	added := after.Since(before)
	e := d.at(dayKey{date, kind})
	e.Records += records
	e.Tally.Add(added)
	d.addRegion(region, added)
}

func (d *days) addRegion(region int, t tally.Tally) {
	for len(d.regions) <= region {
		d.regions = append(d.regions, tally.Tally{})
	}
	d.regions[region].Add(t)
}

func (d *days) add(o *days) {
	for k, v := range o.m {
		e := d.at(k)
		e.Records += v.Records
		e.Tally.Add(v.Tally)
	}
	for region, t := range o.regions {
		d.addRegion(region, t)
	}
}

// span returns the smallest span that has all dates.
func (d *days) span() behaviour.Span {
	s := behaviour.Span{From: behaviour.MaxDate, To: behaviour.MinDate}
	for k := range d.m {
		s.From, s.To = min(s.From, k.date), max(s.To, k.date)
	}
	return s
}

// list returns the days in order of date and behaviour ID.
func (d *days) list(s *behaviour.Schema) []manifest.Day {
	keys := make([]dayKey, 0, len(d.m))
	for k := range d.m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b dayKey) int { return cmp.Or(cmp.Compare(a.date, b.date), cmp.Compare(a.kind, b.kind)) })
	out := make([]manifest.Day, 0, len(keys))
	for _, k := range keys {
		e := *d.m[k]
		e.Date, e.Behaviour = k.date, s.Kinds[k.kind].Name
		out = append(out, e)
	}
	return out
}

// cut returns all regions that points make, with their tallies.
func (d *days) cut(points split.Points) []manifest.Region {
	regions := points.Regions()
	out := make([]manifest.Region, len(regions))
	for i, r := range regions {
		out[i].First = r.Start
		if i < len(d.regions) {
			out[i].Tally = d.regions[i]
		}
	}
	return out
}
