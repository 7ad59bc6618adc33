package explain

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/estimate"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/table"
)

// A recorded has what the ledgers of a table record of a query.
type recorded struct {
	query  *query.Query
	wanted map[string]bool // the behaviours that are read
	loads  int
	sums   []manifest.Day // by kind: the sum of the days of the span
	values map[int32]bool // of the column that partitions the result: dates, or kinds
	// logs are the delivered files that may have records of the query. A file may have some if the date in its path is in the
	// span. If the path has no date, the file has the days of its load.
	logs estimate.Logs
}

// record reads the ledgers of t.
func record(ctx context.Context, t table.Loader, q *query.Query) (*recorded, error) {
	r := &recorded{query: q, wanted: map[string]bool{}, sums: make([]manifest.Day, len(q.Info.Schema.Kinds)), values: map[int32]bool{}}
	for _, k := range q.Want.Kinds {
		r.wanted[q.Info.Schema.Kinds[k].Name] = true
	}
	err := t.EachLedger(ctx, func(l *manifest.Load) error {
		r.loads++
		some := false
		for i := range l.Days {
			r.addDay(&l.Days[i])
			some = some || r.wanted[l.Days[i].Behaviour] && q.Span.Has(l.Days[i].Date)
		}
		for i := range l.Inputs {
			r.addFile(&l.Inputs[i], some)
		}
		return nil
	})
	return r, err
}

// addDay adds a day of a load.
func (r *recorded) addDay(d *manifest.Day) {
	q := r.query
	k, ok := q.Info.Schema.Kind(d.Behaviour)
	if !ok || !q.Span.Has(d.Date) {
		return
	}
	r.sums[k].Records += d.Records
	r.sums[k].Tally.Add(d.Tally)
	switch {
	case d.Records == 0 || !slices.Contains(q.Kinds, k):
	case q.Output.Partition == trailfile.DateColumn:
		r.values[int32(d.Date)] = true
	default:
		r.values[int32(k)] = true
	}
}

// addFile adds a delivered file of a load. some is set if the load has records of the query.
func (r *recorded) addFile(in *manifest.Input, some bool) {
	date, dated := dateOf(in.Path)
	switch {
	case in.SameAs != "" || in.Offsets != nil || in.Behaviour != "" && !r.wanted[in.Behaviour]:
	case dated && !r.query.Span.Has(date) || !dated && !some:
	default:
		r.logs.Add(in.Size, compressed.MatchString(in.Path))
	}
}

// partitions returns the number of values of the column that partitions the result. Without ledgers, each requested day or
// behaviour counts.
func (r *recorded) partitions() int64 {
	switch {
	case r.loads > 0:
		return int64(len(r.values))
	case r.query.Output.Partition == trailfile.DateColumn:
		return int64(r.query.Span.Days())
	}
	return int64(len(r.query.Kinds))
}

// compressed matches the names of delivered files that are compressed.
var compressed = regexp.MustCompile(`\.(gz|zst|bz2)$`)

// pathDate finds dates in the paths of delivered files.
var pathDate = regexp.MustCompile(`(\d{4})[-_/]?(\d{2})[-_/]?(\d{2})`)

// dateOf returns the first date in a path.
func dateOf(path string) (behaviour.Date, bool) {
	for _, m := range pathDate.FindAllStringSubmatch(path, -1) {
		if d, err := behaviour.ParseDate(strings.Join(m[1:], "-")); err == nil {
			return d, true
		}
	}
	return 0, false
}
