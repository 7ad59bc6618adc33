package hbasetest

import (
	"bytes"
	"slices"
	"strings"

	"usertrail/internal/cell"
	"usertrail/internal/store/hbase/wire"
)

// A filter keeps some cells of a row.
type filter func(row []*cell.Cell) []*cell.Cell

// parseFilter returns the filter of an encoded Filter.
func parseFilter(b []byte) (filter, *wire.ServerError) {
	f, err := fieldsOf(b)
	if err != nil {
		return nil, malformed(err)
	}
	class := string(f.bytes(1))
	body, err := f.sub(2)
	if err != nil {
		return nil, malformed(err)
	}
	switch name := strings.TrimPrefix(class, "org.apache.hadoop.hbase.filter."); name {
	case "ColumnPrefixFilter":
		return floorPrefix([][]byte{body.bytes(1)}), nil
	case "MultipleColumnPrefixFilter":
		return floorPrefix(body.all(1)), nil
	case "ColumnRangeFilter":
		return columns(body), nil
	case "KeyOnlyFilter":
		return keyOnly, nil
	case "FirstKeyOnlyFilter":
		return first(1), nil
	case "ColumnCountGetFilter":
		return first(int(body.number(1))), nil
	case "PageFilter":
		return page(int(body.number(1))), nil
	case "MultiRowRangeFilter":
		return ranges(body.all(1))
	case "FilterList":
		return parseList(body)
	}
	return nil, exception("DoNotRetryIOException", "java.lang.ClassNotFoundException: %s", class)
}

// floorPrefix checks only the largest prefix that does not sort after a qualifier, as HBase
// does.
func floorPrefix(prefixes [][]byte) filter {
	slices.SortFunc(prefixes, bytes.Compare)
	return each(func(c *cell.Cell) bool {
		i, found := slices.BinarySearchFunc(prefixes, c.Qualifier, bytes.Compare)
		return found || i > 0 && bytes.HasPrefix(c.Qualifier, prefixes[i-1])
	})
}

// columns keeps the cells whose qualifier is within bounds.
func columns(body fields) filter {
	s := span{start: body.bytes(1), stop: body.bytes(3), excludeStart: body.number(2) == 0, includeStop: body.number(4) != 0, compare: bytes.Compare}
	return each(func(c *cell.Cell) bool { return s.holds(c.Qualifier) })
}

func each(keep func(*cell.Cell) bool) filter {
	return func(row []*cell.Cell) []*cell.Cell {
		return slices.DeleteFunc(slices.Clone(row), func(c *cell.Cell) bool { return !keep(c) })
	}
}

func keyOnly(row []*cell.Cell) []*cell.Cell {
	var out []*cell.Cell
	for _, c := range row {
		d := *c
		d.Value = nil
		out = append(out, &d)
	}
	return out
}

func first(n int) filter {
	return func(row []*cell.Cell) []*cell.Cell { return row[:min(n, len(row))] }
}

func page(n int) filter {
	return func(row []*cell.Cell) []*cell.Cell {
		if len(row) > 0 {
			n--
		}
		if n < 0 {
			return nil
		}
		return row
	}
}

func ranges(encoded [][]byte) (filter, *wire.ServerError) {
	var all []span
	for _, b := range encoded {
		f, err := fieldsOf(b)
		if err != nil {
			return nil, malformed(err)
		}
		all = append(all, span{start: f.bytes(1), stop: f.bytes(3), excludeStart: f.number(2) == 0, includeStop: f.number(4) != 0, compare: bytes.Compare})
	}
	return each(func(c *cell.Cell) bool {
		return slices.ContainsFunc(all, func(s span) bool { return s.holds(c.Row) })
	}), nil
}

func parseList(body fields) (filter, *wire.ServerError) {
	var all []filter
	for _, b := range body.all(2) {
		f, e := parseFilter(b)
		if e != nil {
			return nil, e
		}
		all = append(all, f)
	}
	const passOne = 2
	if body.number(1) == passOne {
		return func(row []*cell.Cell) []*cell.Cell {
			kept := map[*cell.Cell]bool{}
			for _, f := range all {
				for _, c := range f(row) {
					kept[c] = true
				}
			}
			return each(func(c *cell.Cell) bool { return kept[c] })(row)
		}, nil
	}
	return func(row []*cell.Cell) []*cell.Cell {
		for _, f := range all {
			row = f(row)
		}
		return row
	}, nil
}

// A span is a range of rows between two rows, in a given order.
type span struct {
	start, stop               []byte
	excludeStart, includeStop bool
	compare                   func(a, b []byte) int
}

func (s span) holds(row []byte) bool {
	if len(s.start) > 0 {
		if c := s.compare(row, s.start); c < 0 || c == 0 && s.excludeStart {
			return false
		}
	}
	if len(s.stop) > 0 {
		if c := s.compare(row, s.stop); c > 0 || c == 0 && !s.includeStop {
			return false
		}
	}
	return true
}
