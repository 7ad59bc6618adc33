package explain

import (
	"regexp"
	"slices"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/estimate"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/trailfile"
)

// values returns the number of values of the column that partitions the result. It counts the
// requested days or behaviours that have records in a ledger. Without ledgers it counts all of them.
func values(q *query.Query, ledgers []*manifest.Load) int64 {
	byDate := q.Output.Partition == trailfile.DateColumn
	have := map[int32]bool{}
	for _, l := range ledgers {
		for _, d := range l.Days {
			k, ok := q.Info.Schema.Kind(d.Behaviour)
			switch {
			case !ok || d.Records == 0 || !slices.Contains(q.Kinds, k) || !q.Span.Has(d.Date):
			case byDate:
				have[int32(d.Date)] = true
			default:
				have[int32(k)] = true
			}
		}
	}
	switch {
	case len(ledgers) > 0:
		return int64(len(have))
	case byDate:
		return int64(q.Span.Days())
	}
	return int64(len(q.Kinds))
}

// compressed matches the names of delivered files that are compressed.
var compressed = regexp.MustCompile(`\.(gz|zst|bz2)$`)

// pathDate finds dates in the paths of delivered files.
var pathDate = regexp.MustCompile(`(\d{4})[-_/]?(\d{2})[-_/]?(\d{2})`)

// logs returns the delivered files that may hold records of the query. It compares the date
// in a file's path with the span. If the path has no date, it uses the days of the file's load.
func logs(q *query.Query, ledgers []*manifest.Load) estimate.Logs {
	var logs estimate.Logs
	wanted := map[string]bool{}
	for _, k := range q.Want.Kinds {
		wanted[q.Info.Schema.Kinds[k].Name] = true
	}
	for _, l := range ledgers {
		some := false
		for _, d := range l.Days {
			some = some || wanted[d.Behaviour] && q.Span.Has(d.Date)
		}
		for i := range l.Inputs {
			in := &l.Inputs[i]
			date, dated := dateOf(in.Path)
			switch {
			case in.SameAs != "" || in.Offsets != nil || in.Behaviour != "" && !wanted[in.Behaviour]:
			case dated && !q.Span.Has(date) || !dated && !some:
			default:
				logs.Add(in.Size, compressed.MatchString(in.Path))
			}
		}
	}
	return logs
}

// dateOf returns the first date in a path.
func dateOf(path string) (behaviour.Date, bool) {
	for _, m := range pathDate.FindAllStringSubmatch(path, -1) {
		if d, err := behaviour.ParseDate(strings.Join(m[1:], "-")); err == nil {
			return d, true
		}
	}
	return 0, false
}
