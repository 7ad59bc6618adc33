package trailfile

import (
	"bytes"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/format"
)

const (
	// Every reader reads the whole footer, so the bounds of a chunk are omitted if they are
	// long. They are never shortened, because older readers do not know the flag for
	// shortened bounds.
	maxChunkBound = 256
	// The format allows shortened bounds in a column index.
	maxPageBound = 64
)

// A chunkBounds collects the bounds of a chunk and its column index, page by page.
type chunkBounds struct {
	values  values
	lo, hi  []byte // of all pages, if any page has a value
	known   bool   // some page has a value
	unknown bool   // a page's bounds could not be determined
	text    bool   // bounds may be shortened
	index   format.ColumnIndex
	nulls   int64
}

// page adds a page that holds the values from up to to and some nulls.
func (c *chunkBounds) page(from, to, nulls int) {
	c.nulls += int64(nulls)
	c.index.NullCounts = append(c.index.NullCounts, int64(nulls))
	c.index.NullPages = append(c.index.NullPages, from == to)
	if from == to {
		c.index.MinValues = append(c.index.MinValues, []byte{})
		c.index.MaxValues = append(c.index.MaxValues, []byte{})
		return
	}
	lo, hi, ok := c.values.bounds(from, to)
	if !ok {
		c.unknown = true
		return
	}
	if !c.known || c.values.compare(lo, c.lo) < 0 {
		c.lo = lo
	}
	if !c.known || c.values.compare(hi, c.hi) > 0 {
		c.hi = hi
	}
	c.known = true
	if c.text {
		lo, hi = cutLow(lo), cutHigh(hi)
	}
	c.index.MinValues = append(c.index.MinValues, bytes.Clone(lo))
	c.index.MaxValues = append(c.index.MaxValues, bytes.Clone(hi))
}

// statistics returns the statistics of the whole chunk.
func (c *chunkBounds) statistics() format.Statistics {
	s := format.Statistics{NullCount: c.nulls}
	if c.unknown || !c.known || max(len(c.lo), len(c.hi)) > maxChunkBound {
		return s
	}
	// An empty string is a valid bound; nil would mean no bound.
	s.MinValue = append([]byte{}, c.lo...)
	s.MaxValue = append([]byte{}, c.hi...)
	return s
}

// columnIndex returns the index. If a page's bounds could not be determined, it returns nil,
// because the index must have bounds for every page.
func (c *chunkBounds) columnIndex() *format.ColumnIndex {
	if c.unknown {
		return nil
	}
	c.index.BoundaryOrder = c.order()
	return &c.index
}

// order returns the order of the bounds of pages that are not all null.
func (c *chunkBounds) order() format.BoundaryOrder {
	up, down, last := true, true, -1
	for i, null := range c.index.NullPages {
		if null {
			continue
		}
		if last >= 0 {
			lo := c.values.compare(c.index.MinValues[last], c.index.MinValues[i])
			hi := c.values.compare(c.index.MaxValues[last], c.index.MaxValues[i])
			up, down = up && lo <= 0 && hi <= 0, down && lo >= 0 && hi >= 0
		}
		last = i
	}
	switch {
	case up:
		return format.Ascending
	case down:
		return format.Descending
	}
	return format.Unordered
}

// cutLow returns the beginning of s, which sorts no later than s.
func cutLow(s []byte) []byte {
	if len(s) <= maxPageBound {
		return s
	}
	n := maxPageBound
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// cutHigh returns a short string that sorts no earlier than s: the beginning of
// s with its last code point raised, or s if none can be raised.
func cutHigh(s []byte) []byte {
	if len(s) <= maxPageBound {
		return s
	}
	for p := cutLow(s); len(p) > 0; {
		r, size := utf8.DecodeLastRune(p)
		p = p[:len(p)-size]
		switch {
		case r == utf8.MaxRune:
			continue
		case r == 0xd7ff: // surrogates are not code points
			r = 0xe000
		default:
			r++
		}
		return utf8.AppendRune(bytes.Clone(p), r)
	}
	return s
}
