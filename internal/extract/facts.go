package extract

import (
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/estimate"
	"usertrail/internal/format/manifest"
	"usertrail/internal/table"
)

// known returns the manifest of the table's loads, or nil if there is no manifest.
func (c *Config) known() *manifest.Table {
	if c.Known != nil {
		return c.Known
	}
	return table.Known(c.Table)
}

// facts describe a query before its rows are read. They give sizes for all behaviours
// together, because the manifest does not have them for each behaviour.
type facts struct {
	estimate.Facts
	Most int64 // users of the largest load of the span
}

// facts returns the facts of the query after its users were settled.
func (q *question) facts(known *manifest.Table) *facts {
	f := q.before(known)
	f.settle(q.census.people, q.census.daily)
	return f
}

// lay adds how the table's layout stores records, and which parts of them the query reads.
func (q *question) lay(f *estimate.Facts) {
	r, traits := &q.bounds, q.info.Layout.Traits()
	f.Layout = estimate.Layout{
		Name: q.info.Layout.Name(), Row: q.footprint.Holds(), Prefixes: r.Prefixes, Columns: r.Columns,
		KindRows: r.Kinds, Sifts: r.Sifts, AllDays: !r.Dates, TimeRows: r.Times, Ranged: r.Timed,
		Apart: !traits.Together, Unnamed: !r.Listed, Named: int64(r.Named), Fuzzy: r.Fuzzy, Versions: traits.Versions,
	}
	f.Window = estimate.Window{Timed: q.window.times != nil, Within: q.within(), Newest: int64(q.window.newest), Tested: q.window.where != nil}
}

// within returns the fraction of the span that the window keeps.
func (q *question) within() float64 {
	t := q.window.times
	if t == nil {
		return 1
	}
	const day = 24 * 3600 * 1e6
	return min(max(float64(t.Last-t.First+1)/(float64(q.span.Days())*day), 0), 1)
}

// settle adds who may stay; daily says that the rolls knew it.
func (f *facts) settle(people estimate.People, daily bool) {
	f.Stay, f.Found = people, people
	if daily {
		f.Rolls = estimate.Known
	} else {
		f.Guess(f.Most)
	}
}

// before returns the facts that are known before any user is settled.
func (q *question) before(known *manifest.Table) *facts {
	f := &facts{Facts: estimate.Facts{
		Live: q.info.Narrow, Rolls: estimate.Unknown, Workers: q.workers,
		All: q.users.IsAll(), Listed: int64(q.users.Len()), Days: q.span.Days(),
		Absent: q.existence != nil, Screens: q.screen != nil,
	}}
	f.Kinds = make([]estimate.Kind, len(q.info.Schema.Kinds))
	for k := range f.Kinds {
		f.Kinds[k] = estimate.Kind{Read: slices.Contains(q.want.Kinds, k), Asked: q.share(q.want.Fields, k), Judged: q.share(q.judges().Fields, k)}
	}
	q.lay(&f.Facts)
	f.Most = q.weigh(&f.Facts, known)
	return f
}

// share returns the fraction of the cells of a kind's records that are read.
func (q *question) share(fields [][]bool, k int) float64 {
	return float64(q.footprint.Cells(k, fields[k])) / float64(q.footprint.Cells(k, nil))
}

// weigh adds the sizes and the contents of the span's files from a manifest. It assumes that
// every behaviour has the same number of records, and that cells and bytes are divided in
// proportion to the cells of a record. It returns how many users of the span the
// largest load has.
func (q *question) weigh(f *estimate.Facts, known *manifest.Table) (most int64) {
	if known == nil {
		return 0
	}
	var all estimate.Kind
	users := map[int]int64{} // by load
	for i := range known.Files {
		x := &known.Files[i]
		f.TableRecords += x.Records
		if !x.Span.Overlaps(q.span) {
			continue
		}
		f.FileRecords += x.Records
		part := float64(overlap(x.Span, q.span)) / float64(x.Span.Days())
		users[x.Load] += x.Users
		if x.Name != "" {
			f.Files++
		}
		f.Size += int64(float64(x.Size) * part)
		all.Records += int64(float64(x.Records) * part)
		all.Cells += int64(float64(x.Tally.Cells) * part)
		all.Bytes += int64(float64(x.Tally.Bytes) * part)
	}
	f.Loads, f.Bytes = int64(len(users)), all.Bytes
	cells := int64(0)
	for k := range q.info.Schema.Kinds {
		cells += int64(q.footprint.Cells(k, nil))
	}
	for i := range q.info.Schema.Kinds {
		n := int64(q.footprint.Cells(i, nil))
		f.Kinds[i].Records = all.Records / int64(len(f.Kinds))
		f.Kinds[i].Cells, f.Kinds[i].Bytes = all.Cells*n/cells, all.Bytes*n/cells
	}
	for _, n := range users {
		most = max(most, n)
	}
	return most
}

func overlap(a, b behaviour.Span) int {
	return behaviour.Span{From: max(a.From, b.From), To: min(a.To, b.To)}.Days()
}

// detail replaces the numbers for all behaviours together by the numbers of each behaviour
// from the ledgers.
func (q *question) detail(f *estimate.Facts, ledgers []*manifest.Load) {
	s := q.info.Schema
	f.ByKind = true
	for k := range f.Kinds {
		f.Kinds[k].Records, f.Kinds[k].Cells, f.Kinds[k].Bytes = 0, 0, 0
	}
	for _, l := range ledgers {
		for _, d := range l.Days {
			if k, ok := s.Kind(d.Behaviour); ok && q.span.Has(d.Date) {
				f.Kinds[k].Records += d.Records
				f.Kinds[k].Cells += d.Tally.Cells
				f.Kinds[k].Bytes += d.Tally.Bytes
			}
		}
	}
}
