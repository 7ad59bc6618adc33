package fetch

import (
	"bytes"
	"fmt"
	"iter"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// A Where returns the rows and ranges of users in a table. Only one goroutine may use it.
type Where struct {
	want  layout.Want
	reads *layout.Reads
	apart bool // a user's rows are not adjacent
	get   bool // rows are read by gets, one by one
	tests [][]table.ColumnTest
}

// NewWhere returns a Where for the rows of w. The plan decides between gets and ranges. NewWhere fails if
// the plan is Get and the layout cannot compute the rows of a user.
func NewWhere(l layout.Layout, s *behaviour.Schema, w layout.Want, p Plan) (*Where, error) {
	where, err := NewRows(l, s, w)
	if err != nil {
		return nil, err
	}
	if p == Get && !where.get {
		return nil, fmt.Errorf("plan get: the rows of a user cannot be computed in the layout %s: write --plan scan or auto", l.Name())
	}
	where.get = p.of(where.reads, where.apart) == Get
	return where, nil
}

// NewRows returns a Where for the rows of w. It uses gets if the layout can compute the rows, else ranges.
func NewRows(l layout.Layout, s *behaviour.Schema, w layout.Want) (*Where, error) {
	reads, err := l.Reads(s, w)
	if err != nil {
		return nil, err
	}
	where := &Where{want: w, reads: reads, apart: !l.Traits().Together, get: reads.Rows != nil}
	if l.Traits().OneRecord {
		where.tests = columnTests(s, w)
	}
	return where, nil
}

// columnTests returns the tests of w, one list for each requested kind, for layouts whose rows are
// one record each.
func columnTests(s *behaviour.Schema, w layout.Want) (out [][]table.ColumnTest) {
	for k, tests := range w.Where {
		var of []table.ColumnTest
		for _, t := range tests {
			of = append(of, table.ColumnTest{Qualifier: []byte(s.Kinds[k].Fields[t.Field].Name), In: t.In})
		}
		if of != nil {
			out = append(out, of)
		}
	}
	return out
}

// Gets reports whether rows are read by gets, and not by ranges.
func (w *Where) Gets() bool { return w.get }

// Query returns the query for the rows of some users. The keys of the users ascend. Query may iterate over them
// more than once.
func (w *Where) Query(keys iter.Seq[[]byte]) table.Query {
	q := table.Query{
		Span: w.want.Span, Columns: w.reads.Columns,
		Hints: table.Hints{Timed: w.reads.Timed, Times: w.want.Times, Newest: w.want.Newest, Where: w.tests},
	}
	switch {
	case w.get && w.apart:
		q.Rows, q.Bounds = inOrder(w.rows(keys))
	case w.get:
		q.Rows = w.rows(keys)
	case w.apart:
		q.Ranges, q.Bounds = rangesInOrder(w.ranges(keys))
	default:
		q.Ranges = w.ranges(keys)
	}
	if !w.apart {
		q.Bounds = w.bounds(keys)
	}
	return q
}

// bounds returns a range that holds the rows of all users, if the rows of each user are adjacent.
func (w *Where) bounds(keys iter.Seq[[]byte]) split.Region {
	var first, last []byte
	for key := range keys {
		if first == nil {
			first = key
		}
		last = key
	}
	var r split.Region
	r.Start, r.End = w.reads.Bounds(first, last)
	return r
}

// ranges returns the ranges of rows of each user.
func (w *Where) ranges(keys iter.Seq[[]byte]) iter.Seq[split.Region] {
	return func(yield func(split.Region) bool) {
		one := func(start, stop []byte) bool { return yield(split.Region{Start: start, End: stop}) }
		for key := range keys {
			if !w.reads.Ranges(key, one) {
				return
			}
		}
	}
}

// rows returns the rows that each user can have.
func (w *Where) rows(keys iter.Seq[[]byte]) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for key := range keys {
			if !w.reads.Rows(key, yield) {
				return
			}
		}
	}
}

// inOrder sorts the rows of several users in the table's order, and returns the range that holds them. It is for
// layouts in which the rows of a user are not adjacent.
func inOrder(rows iter.Seq[[]byte]) (iter.Seq[[]byte], split.Region) {
	var all [][]byte
	for row := range rows {
		all = append(all, bytes.Clone(row))
	}
	if len(all) == 0 {
		return slices.Values(all), split.Region{}
	}
	slices.SortFunc(all, bytes.Compare)
	return slices.Values(all), split.Region{Start: all[0], End: append(bytes.Clone(all[len(all)-1]), 0)}
}

// rangesInOrder is inOrder for ranges.
func rangesInOrder(ranges iter.Seq[split.Region]) (iter.Seq[split.Region], split.Region) {
	var all []split.Region
	for r := range ranges {
		all = append(all, split.Region{Start: bytes.Clone(r.Start), End: bytes.Clone(r.End)})
	}
	if len(all) == 0 {
		return slices.Values(all), split.Region{}
	}
	slices.SortFunc(all, func(a, b split.Region) int { return bytes.Compare(a.Start, b.Start) })
	return slices.Values(all), split.Region{Start: all[0].Start, End: all[len(all)-1].End}
}
