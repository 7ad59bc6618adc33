package wire

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// A Filter is an encoded filter. It is encoded once and sent with every call. Nil is no
// filter.
type Filter []byte

func appendFilter(dst []byte, num protowire.Number, f Filter) []byte {
	if f == nil {
		return dst
	}
	return appendBytes(dst, num, f)
}

// named encodes one of HBase's own filters or comparators from the name of its class and its
// body.
func named(class string, body []byte) Filter {
	f := appendString(nil, 1, "org.apache.hadoop.hbase.filter."+class)
	return appendBytes(f, 2, body)
}

// ColumnPrefixes keeps the columns whose qualifier begins with one of the prefixes:
// MultipleColumnPrefixFilter. If one prefix is a prefix of another, it returns an error,
// because the filter would silently lose columns: it checks only the largest prefix that does
// not sort after a qualifier. An empty list is an error too, because the filter would keep
// all columns.
func ColumnPrefixes(prefixes ...[]byte) (Filter, error) {
	sorted := slices.SortedFunc(slices.Values(prefixes), bytes.Compare)
	if len(sorted) == 0 {
		return nil, errors.New("column prefixes: none given; leave the filter out to read all columns")
	}
	var body []byte
	for i, p := range sorted {
		// Texts that begin with a prefix follow it in the sorted order.
		if i+1 < len(sorted) && bytes.HasPrefix(sorted[i+1], p) {
			return nil, fmt.Errorf("column prefixes: %q covers %q, and the filter would lose columns; end each prefix with a separator that cannot occur before it", p, sorted[i+1])
		}
		body = appendBytes(body, 1, p)
	}
	if len(sorted) == 1 {
		return ColumnPrefix(sorted[0]), nil
	}
	return named("MultipleColumnPrefixFilter", body), nil
}

// ColumnPrefix keeps the columns whose qualifier begins with prefix.
func ColumnPrefix(prefix []byte) Filter {
	return named("ColumnPrefixFilter", appendBytes(nil, 1, prefix))
}

// ColumnRange keeps the columns from one qualifier up to, but not including, another:
// ColumnRangeFilter. Nil is no bound.
func ColumnRange(from, to []byte) Filter {
	var body []byte
	if from != nil {
		body = appendBytes(body, 1, from)
	}
	body = appendBool(body, 2, true)
	if to != nil {
		body = appendBytes(body, 3, to)
	}
	return named("ColumnRangeFilter", appendBool(body, 4, false))
}

// KeyOnly removes the values, or replaces them by their lengths as int32.
func KeyOnly(lengths bool) Filter {
	return named("KeyOnlyFilter", appendBool(nil, 1, lengths))
}

// FirstKeyOnly keeps the first cell of each row. In a list it must follow the filters whose
// first match is needed.
func FirstKeyOnly() Filter { return named("FirstKeyOnlyFilter", nil) }

// Page ends a scan after rows rows of each region, not of the whole scan.
func Page(rows int64) Filter {
	return named("PageFilter", appendUint(nil, 1, uint64(rows)))
}

// ColumnCount keeps the first n cells of a row. It is for Gets.
func ColumnCount(n int32) Filter {
	return named("ColumnCountGetFilter", appendUint(nil, 1, uint64(n)))
}

// ColumnPage keeps n columns of a row, from qualifier from on or, if from is nil, after the
// first skip columns: ColumnPaginationFilter.
func ColumnPage(n, skip int32, from []byte) Filter {
	body := appendUint(nil, 1, uint64(n))
	if from != nil {
		return named("ColumnPaginationFilter", appendBytes(body, 3, from))
	}
	return named("ColumnPaginationFilter", appendUint(body, 2, uint64(skip)))
}

// A Comparison is the operator that compares a column's value with another value, as bytes.
type Comparison uint64

// The comparisons.
const (
	Less           Comparison = 0
	LessOrEqual    Comparison = 1
	Equal          Comparison = 2
	NotEqual       Comparison = 3
	GreaterOrEqual Comparison = 4
	Greater        Comparison = 5
)

// A ColumnTest tests the value of one column. The scan or get must read this column.
type ColumnTest struct {
	Family, Qualifier []byte
	Is                Comparison // compared with Value
	Value             []byte
	Prefix            bool // only as many bytes of the column's value are compared as Value has
	KeepMissing       bool // rows without the column pass
	AnyVersion        bool // a row passes if any requested version passes, not only the newest
}

// RowsWhere keeps the rows that pass a test: SingleColumnValueFilter.
func RowsWhere(t ColumnTest) Filter {
	comparator := "BinaryComparator"
	if t.Prefix {
		comparator = "BinaryPrefixComparator"
	}
	body := appendBytes(nil, 1, t.Family)
	body = appendBytes(body, 2, t.Qualifier)
	body = appendUint(body, 3, uint64(t.Is))
	body = appendBytes(body, 4, named(comparator, appendBytes(nil, 1, appendBytes(nil, 1, t.Value))))
	body = appendBool(body, 5, !t.KeepMissing)
	body = appendBool(body, 6, !t.AnyVersion)
	return named("SingleColumnValueFilter", body)
}

// AllOf keeps the cells that every filter keeps. The filters are applied in this order.
func AllOf(filters ...Filter) Filter { return list(1, filters) }

// OneOf keeps the cells that at least one of the filters keeps.
func OneOf(filters ...Filter) Filter { return list(2, filters) }

func list(operator uint64, filters []Filter) Filter {
	body := appendUint(nil, 1, operator)
	for _, f := range filters {
		body = appendBytes(body, 2, f)
	}
	return named("FilterList", body)
}

// A RowRange is rows from Start to Stop. An empty end is open.
type RowRange struct {
	Start, Stop  []byte
	ExcludeStart bool
	IncludeStop  bool
}

// MaxRowRanges is the largest number of ranges for RowRanges. Servers become slow with more.
const MaxRowRanges = 1000

// RowRanges keeps the rows in the ranges and jumps over other rows:
// MultiRowRangeFilter.
func RowRanges(ranges ...RowRange) (Filter, error) {
	if len(ranges) == 0 || len(ranges) > MaxRowRanges {
		return nil, fmt.Errorf("row ranges: %d given, must be 1 to %d", len(ranges), MaxRowRanges)
	}
	var body []byte
	for i, r := range ranges {
		if c := bytes.Compare(r.Start, r.Stop); len(r.Stop) > 0 && (c > 0 || c == 0 && (r.ExcludeStart || !r.IncludeStop)) {
			return nil, fmt.Errorf("row ranges: range %d, from %q to %q, holds no row", i, r.Start, r.Stop)
		}
		var at int
		body, at = begin(body, 1)
		body = appendBytes(body, 1, r.Start)
		body = appendBool(body, 2, !r.ExcludeStart)
		body = appendBytes(body, 3, r.Stop)
		body = appendBool(body, 4, r.IncludeStop)
		body = end(body, at)
	}
	return named("MultiRowRangeFilter", body), nil
}

// A FuzzyRow matches the rows that begin with Row, except that bytes where Any is true may
// differ.
type FuzzyRow struct {
	Row []byte
	Any []bool // as long as Row
}

// FuzzyRows keeps the rows that match at least one of rows, and jumps to the next row that
// can match: FuzzyRowFilter. The scan's range must not have rows shorter than a FuzzyRow:
// servers read past the end of such rows when they compare them. Servers before 2.6.7 lose
// rows if their JVM does not open java.nio; bin/hbase opens it.
func FuzzyRows(rows ...FuzzyRow) (Filter, error) {
	if len(rows) == 0 {
		return nil, errors.New("fuzzy rows: none given; leave the filter out to read all rows")
	}
	var body []byte
	for i, r := range rows {
		if len(r.Row) != len(r.Any) {
			return nil, fmt.Errorf("fuzzy rows: row %d, %q, has %d bytes and a mask of %d", i, r.Row, len(r.Row), len(r.Any))
		}
		if !slices.Contains(r.Any, false) {
			return nil, fmt.Errorf("fuzzy rows: row %d matches every row", i)
		}
		row, mask := bytes.Clone(r.Row), make([]byte, len(r.Row))
		for j, free := range r.Any {
			if free {
				row[j], mask[j] = 0, 1
			}
		}
		var at int
		body, at = begin(body, 1)
		body = appendBytes(body, 1, row)
		body = appendBytes(body, 2, mask)
		body = end(body, at)
	}
	// Without is_mask_v2, a mask without free bytes would be read as a mask of free bytes
	// only.
	return named("FuzzyRowFilter", appendBool(body, 2, true)), nil
}
