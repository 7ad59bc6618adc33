package live

import (
	"bytes"
	"context"
	"iter"

	"usertrail/internal/cell"
	"usertrail/internal/hbase"
	"usertrail/internal/hbase/wire"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// scanRanges is how many ranges one scan passes over. The time for 1000 users was
// the same with 64 to 1000, and half as much again with 16.
const scanRanges = 256

// Read implements table.Table. Rows are asked for by Multis of Gets; ranges by
// scans that jump from range to range on the server.
func (t *Table) Read(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
	filter, err := cellFilter(&q)
	if err != nil {
		return err
	}
	if q.Ranges == nil {
		o := hbase.GetOptions{Get: wire.Get{Columns: t.columns(), Filter: filter, CacheBlocks: true}}
		return t.address.explain(t.client.Gets(ctx, t.address.Table, q.Rows, o, emit))
	}
	for chunk := range chunks(q.Ranges, scanRanges) {
		if err := t.scan(ctx, chunk, filter, q.Once, emit); err != nil {
			return t.address.explain(err)
		}
	}
	return nil
}

func (t *Table) columns() []wire.Column { return []wire.Column{{Family: []byte(t.family)}} }

// cellFilter keeps the cells that are asked for of a row; nil is all of them.
func cellFilter(q *table.Query) (wire.Filter, error) {
	switch {
	case q.Exist:
		return wire.AllOf(wire.FirstKeyOnly(), wire.KeyOnly(false)), nil
	case q.Columns.Prefixes == nil:
		return nil, nil
	}
	return wire.ColumnPrefixes(q.Columns.Prefixes...)
}

// scan reads a few ranges, at least one, by one scan. Users lie apart, so it reads
// and keeps blocks as gets do: a scan that streams opens every file anew, and took
// two and a half times as long. What is read but once would push out of the servers'
// caches what others need.
func (t *Table) scan(ctx context.Context, ranges []split.Region, filter wire.Filter, once bool, emit func(*cell.Cell) error) error {
	s := hbase.Scan{
		Start: ranges[0].Start, Stop: ranges[len(ranges)-1].End,
		Columns: t.columns(), Filter: filter, ReadType: wire.ReadPread, CacheBlocks: true,
	}
	if once {
		s.ReadType, s.CacheBlocks = wire.ReadDefault, false
	}
	if len(ranges) > 1 {
		rows := make([]wire.RowRange, len(ranges))
		for i, r := range ranges {
			rows[i] = wire.RowRange{Start: r.Start, Stop: r.End}
		}
		in, err := wire.RowRanges(rows...)
		if err != nil {
			return err
		}
		s.Filter = in
		if filter != nil {
			s.Filter = wire.AllOf(in, filter)
		}
	}
	return t.client.Scan(ctx, t.address.Table, s, emit)
}

// chunks yields up to n ranges at a time, copied.
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
