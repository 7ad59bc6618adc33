// Package facts gathers the facts of a query that are known before its rows are read. They come
// from the schema, the layout, the manifest and the rolls of the table. Package estimate computes
// with them.
package facts

import (
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/estimate"
	"usertrail/internal/extract/footprint"
	"usertrail/internal/extract/judge"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/manifest"
)

// Facts describe a query before its rows are read. They have sizes for all behaviours together,
// because the manifest does not have them for each behaviour.
type Facts struct {
	estimate.Facts
	Most int64 // users of the largest load of the span
}

// within returns the fraction of the span that the window keeps.
func within(q *query.Query) float64 {
	t := q.Window.Times
	if t == nil {
		return 1
	}
	const day = 24 * 3600 * 1e6
	return min(max(float64(t.Last-t.First+1)/(float64(q.Span.Days())*day), 0), 1)
}

// Before returns the facts that are known before the rolls are read. known is the manifest of the
// table, or nil.
func Before(q *query.Query, workers int, known *manifest.Table) (*Facts, error) {
	f := &Facts{Facts: estimate.Facts{
		Live: q.Info.Narrow, Rolls: estimate.Unknown, Workers: workers,
		All: q.Users.IsAll(), Listed: int64(q.Users.Len()), Days: q.Span.Days(),
		Absent: judge.AsksExistence(q), Screens: judge.Screens(q),
	}}
	taken := footprint.New(q.Info.Layout, q.Info.Schema)
	judges := q.Judges()
	f.Kinds = make([]estimate.Kind, len(q.Info.Schema.Kinds))
	for k := range f.Kinds {
		f.Kinds[k] = estimate.Kind{Read: slices.Contains(q.Want.Kinds, k), Asked: share(&taken, q.Want.Fields, k), Judged: share(&taken, judges.Fields, k)}
	}
	if err := f.lay(q, &taken); err != nil {
		return nil, err
	}
	f.Most = f.weigh(q, &taken, known)
	return f, nil
}

// lay adds how the table's layout stores records, and which parts of them the query reads.
func (f *Facts) lay(q *query.Query, taken *footprint.Footprint) error {
	traits := q.Info.Layout.Traits()
	b, err := footprint.BoundsOf(q.Info.Layout, q.Info.Schema, q.Window.Of(q.Want))
	if err != nil {
		return err
	}
	f.Layout = estimate.Layout{
		Name: q.Info.Layout.Name(), Row: taken.Holds(), Prefixes: b.Prefixes, Columns: b.Columns,
		KindRows: b.Kinds, Sifts: b.Sifts, AllDays: !b.Dates, TimeRows: b.Times, Ranged: b.Timed,
		Apart: !traits.Together, Unnamed: !b.Listed, Named: int64(b.Named), Fuzzy: b.Fuzzy, Versions: traits.Versions,
	}
	f.Window = estimate.Window{Timed: q.Window.Times != nil, Within: within(q), Newest: int64(q.Window.Newest), Tested: q.Window.Where != nil}
	return nil
}

// Settle adds the users who may stay. daily reports whether the rolls have them.
func (f *Facts) Settle(people estimate.People, daily bool) {
	f.Stay, f.Found = people, people
	if daily {
		f.Rolls = estimate.Known
	} else {
		f.Guess(f.Most)
	}
}

// Cost returns the estimated cost of the query and its actual cost.
func (f *Facts) Cost(outcome *judge.Counts) *manifest.Cost {
	p := f.Expected()
	r := &outcome.Read
	return &manifest.Cost{
		Estimate: manifest.Amount{Users: p.Users, Rows: p.Rows, Behaviours: p.Behaviours, Cells: p.Cells},
		Outcome:  manifest.Amount{Users: outcome.Active, Rows: r.Rows, Behaviours: r.Behaviours, Cells: r.Cells},
	}
}

// share returns the fraction of the cells of a kind's records that are read.
func share(taken *footprint.Footprint, fields [][]bool, k int) float64 {
	return float64(taken.Cells(k, fields[k])) / float64(taken.Cells(k, nil))
}

// weigh adds the sizes and the contents of the span's files from a manifest. It assumes that
// every behaviour has the same number of records, and that cells and bytes are divided in
// proportion to the cells of a record. It returns the number of users of the largest
// load of the span.
func (f *Facts) weigh(q *query.Query, taken *footprint.Footprint, known *manifest.Table) (most int64) {
	if known == nil {
		return 0
	}
	var all estimate.Kind
	users := map[int]int64{} // by load
	for i := range known.Files {
		x := &known.Files[i]
		f.TableRecords += x.Records
		if !x.Span.Overlaps(q.Span) {
			continue
		}
		f.FileRecords += x.Records
		part := float64(overlap(x.Span, q.Span)) / float64(x.Span.Days())
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
	for k := range q.Info.Schema.Kinds {
		cells += int64(taken.Cells(k, nil))
	}
	for i := range q.Info.Schema.Kinds {
		n := int64(taken.Cells(i, nil))
		f.Kinds[i].Records = all.Records / int64(len(f.Kinds))
		f.Kinds[i].Cells, f.Kinds[i].Bytes = all.Cells*n/cells, all.Bytes*n/cells
	}
	for _, n := range users {
		most = max(most, n)
	}
	return most
}

// overlap returns the number of days that are in both spans.
func overlap(a, b behaviour.Span) int {
	return a.Common(b).Days()
}

// Detail replaces the numbers for all behaviours together by the numbers of each behaviour. sums has, by kind, the sum of
// the days of the span in the ledgers.
func (f *Facts) Detail(sums []manifest.Day) {
	f.ByKind = true
	for k := range f.Kinds {
		f.Kinds[k].Records, f.Kinds[k].Cells, f.Kinds[k].Bytes = sums[k].Records, sums[k].Tally.Cells, sums[k].Tally.Bytes
	}
}
