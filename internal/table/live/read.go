package live

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/split"
	"usertrail/internal/store/hbase"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/table"
)

const (
	// scanRanges is the number of ranges in one scan. The time for 1000 users was the same
	// with 64 to 1000 ranges, and half as much again with 16.
	scanRanges = 256

	// scansAtOnce is the number of scans at the same time, so that some servers work while
	// others wait for their disks.
	scansAtOnce = 4

	// newestScans is the number of scans at the same time if only the first rows of each range
	// are wanted. Each range has a scan of its own. The client limits the number of calls to
	// each server.
	newestScans = 16
)

// Read implements table.Table. It reads rows with Gets, many in one Multi request. It reads
// ranges with scans whose filter jumps on the server from range to range. If only the first rows
// of each range are wanted, each range has a scan of its own. The servers return only the
// requested part of a row. They do not open files without cells of the requested times, except
// for scans whose filter jumps.
func (t *Table) Read(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
	if q.Exist {
		q.Timed = q.Timed && !q.Columns.Bounded()
		q.Columns, q.Newest, q.Where = layout.Columns{}, 0, nil
	}
	rows, cells := q.First(t.Layout())
	a := request{columns: t.columns(), versions: uint32(t.Layout().Traits().Versions), rows: rows, cells: uint32(cells)}
	var some bool
	var err error
	if a.times, some, err = t.times(&q); err != nil || !some {
		return err
	}
	if a.filter, err = t.cellFilter(&q); err != nil {
		return err
	}
	if q.Timed && q.Columns.Bounded() {
		a.times = untimed
	}
	switch {
	case q.Ranges == nil:
		err = t.client.Gets(ctx, t.address.Table, q.Rows, hbase.GetOptions{Get: a.get()}, emit)
	case a.rows > 0:
		err = t.first(ctx, &q, &a, emit)
	default:
		err = t.scan(ctx, &q, &a, emit)
	}
	return t.address.explain(err)
}

func (t *Table) columns() []wire.Column { return []wire.Column{{Family: []byte(t.family)}} }

// A request is a query in HBase's terms.
type request struct {
	columns  []wire.Column
	filter   wire.Filter // nil means none
	times    wire.TimeRange
	versions uint32 // 0 means one
	cells    uint32 // the number of first cells of each row; 0 means all
	rows     int    // the number of first rows of each range; 0 means all
}

// untimed is the time range of scans with a filter that jumps: all of time. A server checks the
// time of a cell before it asks the filter for the next place. With a smaller time range it would
// read every cell between two places.
var untimed wire.TimeRange

func (a *request) get() wire.Get {
	return wire.Get{Columns: a.columns, Filter: a.filter, Time: a.times, MaxVersions: a.versions, StoreLimit: a.cells, CacheBlocks: true}
}

// scanOf returns a scan from start, included, to stop, not included. The rows of users are far
// apart, so the scan reads and caches blocks as Gets do. A scan that streams opens every file
// again, and took two and a half times as long. If once is true, the blocks are not read again
// soon: the scan streams and does not cache them, because they would displace blocks that others
// need.
func (a *request) scanOf(start, stop []byte, once bool) hbase.Scan {
	s := hbase.Scan{
		Start: start, Stop: stop, Columns: a.columns, Filter: a.filter, Time: a.times, MaxVersions: a.versions,
		StoreLimit: a.cells, Limit: a.rows, ReadType: wire.ReadPread, CacheBlocks: true,
	}
	if once {
		s.ReadType, s.CacheBlocks = wire.ReadDefault, false
	}
	return s
}

// times returns the range of timestamps that cells of q can have. some is false if no cell can
// match. HBase has no range that begins before 1970, so such a query reads all timestamps. A
// family that keeps deleted cells shows them in a range that ends before the time of the delete.
// Therefore ranges of such a family have no end.
func (t *Table) times(q *table.Query) (r wire.TimeRange, some bool, err error) {
	if (q.Span == behaviour.AllDays) && q.Times == nil {
		return r, true, nil
	}
	bounds, err := layout.TimesOf(q.Span, q.Times, t.Manifest().Schema)
	if err != nil {
		return r, false, fmt.Errorf("table %s: %w", t.address, err)
	}
	if bounds.First > bounds.Last {
		return r, false, nil
	}
	if bounds.First >= 0 {
		r.From = behaviour.Millis(bounds.First)
		if !t.keepsDeleted() {
			r.To = behaviour.Millis(bounds.Last) + 1
		}
	}
	return r, true, nil
}

// keepsDeleted reports whether the family may keep deleted cells. HBase does not show the setting
// to every user.
func (t *Table) keepsDeleted() bool {
	if t.store.schema == nil {
		return true
	}
	keeps := t.store.schema.Attributes[keepDeletedKey]
	return keeps != "" && !strings.EqualFold(keeps, "FALSE")
}

// cellFilter returns a filter that keeps the requested rows and cells, as far as the ranges do not
// select them; nil keeps all.
func (t *Table) cellFilter(q *table.Query) (wire.Filter, error) {
	var all []wire.Filter
	if len(q.Fuzzy) > 0 && q.Ranges != nil {
		rows := make([]wire.FuzzyRow, len(q.Fuzzy))
		for i, f := range q.Fuzzy {
			rows[i] = wire.FuzzyRow(f)
		}
		f, err := wire.FuzzyRows(rows...)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	if q.Columns.Prefixes != nil {
		f, err := wire.ColumnPrefixes(q.Columns.Prefixes...)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	if q.Columns.Bounded() {
		all = append(all, wire.ColumnRange(q.Columns.From, q.Columns.To))
	}
	if q.Where != nil {
		all = append(all, t.rowsWhere(q.Where))
	}
	if q.Exist {
		all = append(all, wire.FirstKeyOnly(), wire.KeyOnly(false))
	}
	return together(all...), nil
}

// rowsWhere returns a filter that keeps the rows that pass all tests of one of the lists.
func (t *Table) rowsWhere(lists [][]table.ColumnTest) wire.Filter {
	return oneOf(lists, func(tests []table.ColumnTest) wire.Filter {
		var all []wire.Filter
		for _, c := range tests {
			all = append(all, oneOf(c.In, func(r behaviour.Range) wire.Filter { return t.valueIn(c.Qualifier, r) }))
		}
		return together(all...)
	})
}

// valueIn returns a filter that keeps the rows with a column whose value is in a range.
func (t *Table) valueIn(qualifier []byte, r behaviour.Range) wire.Filter {
	test := func(is wire.Comparison, value []byte) wire.Filter {
		return wire.RowsWhere(wire.ColumnTest{Family: []byte(t.family), Qualifier: qualifier, Is: is, Value: value})
	}
	switch {
	case r.IsOne():
		return test(wire.Equal, r.From)
	case r.Before == nil:
		return test(wire.GreaterOrEqual, r.From)
	case len(r.From) == 0:
		return test(wire.Less, r.Before)
	}
	return wire.AllOf(test(wire.GreaterOrEqual, r.From), test(wire.Less, r.Before))
}

// oneOf returns a filter that keeps everything that at least one of the filters keeps.
func oneOf[T any](some []T, filter func(T) wire.Filter) wire.Filter {
	if len(some) == 1 {
		return filter(some[0])
	}
	var all []wire.Filter
	for _, x := range some {
		all = append(all, filter(x))
	}
	return wire.OneOf(all...)
}

// together returns a filter that keeps the cells that all filters keep. It returns nil if there
// are no filters.
func together(all ...wire.Filter) wire.Filter {
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return wire.AllOf(all...)
}

// scan reads ranges. One scan reads many of them.
func (t *Table) scan(ctx context.Context, q *table.Query, a *request, emit func(*cell.Cell) error) error {
	return t.scans(ctx, q, emit, scansAtOnce, func(yield func(hbase.Scan, error) bool) {
		for ranges := range chunks(q.Ranges, scanRanges) {
			if !yield(a.scanOver(ranges, q)) {
				return
			}
		}
	})
}

// scanOver returns a scan that jumps from range to range.
func (a *request) scanOver(ranges []split.Region, q *table.Query) (hbase.Scan, error) {
	s := a.scanOf(ranges[0].Start, ranges[len(ranges)-1].End, q.Once)
	if len(ranges) == 1 {
		return s, nil
	}
	if q.Timed {
		s.Time = untimed
	}
	rows := make([]wire.RowRange, len(ranges))
	for i, r := range ranges {
		rows[i] = wire.RowRange{Start: r.Start, Stop: r.End}
	}
	in, err := wire.RowRanges(rows...)
	if err != nil {
		return hbase.Scan{}, err
	}
	s.Filter = in
	if a.filter != nil {
		s.Filter = wire.AllOf(in, a.filter)
	}
	return s, nil
}

// first reads the first rows of each range.
func (t *Table) first(ctx context.Context, q *table.Query, a *request, emit func(*cell.Cell) error) error {
	return t.scans(ctx, q, emit, newestScans, func(yield func(hbase.Scan, error) bool) {
		for r := range q.Ranges {
			if !yield(a.scanOf(bytes.Clone(r.Start), bytes.Clone(r.End), q.Once), nil) {
				return
			}
		}
	})
}

// scans runs up to atOnce scans at the same time, or one if rows must be in order.
func (t *Table) scans(ctx context.Context, q *table.Query, emit func(*cell.Cell) error, atOnce int, all iter.Seq2[hbase.Scan, error]) error {
	g, each := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	if q.Ordered {
		g.SetLimit(1)
	}
	out := &sharedEmit{emit: emit}
	for s, err := range all {
		if each.Err() != nil {
			break
		}
		g.Go(func() error {
			if err != nil {
				return err
			}
			p := scanEmit{shared: out}
			defer p.release()
			return t.client.Scan(each, t.address.Table, s, p.emit)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// A sharedEmit passes the cells of several scans to emit. The cells of a row stay together.
type sharedEmit struct {
	mu   sync.Mutex // held by the scan whose cells are passed
	emit func(*cell.Cell) error
	err  error // of emit; then emit is not called again
}

// A scanEmit passes the cells of one scan to a sharedEmit. It holds the mutex from the first
// cell of a row to the first cell of the next row.
type scanEmit struct {
	shared *sharedEmit
	in     bool
	row    []byte
}

func (p *scanEmit) emit(c *cell.Cell) error {
	if !p.in || !bytes.Equal(p.row, c.Row) {
		p.release()
		p.shared.mu.Lock()
		p.in, p.row = true, append(p.row[:0], c.Row...)
	}
	if p.shared.err == nil {
		p.shared.err = p.shared.emit(c)
	}
	return p.shared.err
}

// release lets other scans pass cells.
func (p *scanEmit) release() {
	if p.in {
		p.in = false
		p.shared.mu.Unlock()
	}
}

// chunks yields copies of the ranges, up to n at a time. It reuses the slice.
func chunks(ranges iter.Seq[split.Region], n int) iter.Seq[[]split.Region] {
	return func(yield func([]split.Region) bool) {
		var out []split.Region
		for r := range ranges {
			out = append(out, split.Region{Start: bytes.Clone(r.Start), End: bytes.Clone(r.End)})
			if len(out) == n {
				if !yield(out) {
					return
				}
				out = out[:0]
			}
		}
		if len(out) > 0 {
			yield(out)
		}
	}
}
