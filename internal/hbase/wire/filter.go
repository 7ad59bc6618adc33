package wire

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// A Filter is an encoded filter: made once, sent with every call. Nil is none.
type Filter []byte

func appendFilter(dst []byte, num protowire.Number, f Filter) []byte {
	if f == nil {
		return dst
	}
	return appendBytes(dst, num, f)
}

// named encodes a filter of HBase's own by the name of its class and its body.
func named(class string, body []byte) Filter {
	f := appendString(nil, 1, "org.apache.hadoop.hbase.filter."+class)
	return appendBytes(f, 2, body)
}

// ColumnPrefixes keeps the columns whose qualifier begins with one of the
// prefixes: MultipleColumnPrefixFilter. Prefixes that cover one another are
// refused, because the filter loses columns then without a word: it asks only
// the largest prefix that is not above a qualifier. No prefixes are refused too,
// because for the filter they are all columns.
func ColumnPrefixes(prefixes ...[]byte) (Filter, error) {
	sorted := slices.SortedFunc(slices.Values(prefixes), bytes.Compare)
	if len(sorted) == 0 {
		return nil, errors.New("column prefixes: none given; leave the filter out to read all columns")
	}
	var body []byte
	for i, p := range sorted {
		// What a prefix covers stands right behind it in order.
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

// KeyOnly takes the values away, or puts their lengths as int32 in their place.
func KeyOnly(lengths bool) Filter {
	return named("KeyOnlyFilter", appendBool(nil, 1, lengths))
}

// FirstKeyOnly keeps the first cell of each row. In a list it stands behind the
// filters whose first match is wanted.
func FirstKeyOnly() Filter { return named("FirstKeyOnlyFilter", nil) }

// Page ends a scan after rows rows of a region, not of the whole scan.
func Page(rows int64) Filter {
	return named("PageFilter", appendUint(nil, 1, uint64(rows)))
}

// ColumnCount keeps the first n cells of a row. It is for Gets.
func ColumnCount(n int32) Filter {
	return named("ColumnCountGetFilter", appendUint(nil, 1, uint64(n)))
}

// AllOf keeps what every filter keeps, asked in this order.
func AllOf(filters ...Filter) Filter { return list(1, filters) }

// OneOf keeps what at least one of the filters keeps.
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

// MaxRowRanges bounds what RowRanges takes; servers get slow beyond it.
const MaxRowRanges = 1000

// RowRanges keeps the rows of some ranges and jumps over what lies between them:
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
