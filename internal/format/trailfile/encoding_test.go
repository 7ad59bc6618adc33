package trailfile_test

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/bloom"
	"github.com/parquet-go/parquet-go/format"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/trailfile"
)

func TestDictionariesAreGivenUpForDifferentStrings(t *testing.T) {
	t.Parallel()
	const dict, plain = "PLAIN RLE_DICTIONARY RLE", "PLAIN RLE"
	for _, c := range []struct {
		sample string
		want   []string // encodings of column s in each row group
	}{
		{"empty strings", []string{dict}},
		{"large dictionary", []string{dict, dict}},
		{"different strings", []string{plain, plain}},
		{"different strings, late", []string{plain, plain}},
		{"different strings at first", []string{dict}},
	} {
		i := slices.IndexFunc(samples(), func(s sample) bool { return s.name == c.sample })
		s := samples()[i]
		data, _ := write(t, s.schema, s.opts, s.rows, 1000)
		var got []string
		for _, g := range open(t, data).Metadata().RowGroups {
			var names []string
			for _, e := range g.Columns[5].MetaData.Encoding {
				names = append(names, e.String())
			}
			got = append(got, strings.Join(names, " "))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: column s is encoded as %q, want %q", c.sample, got, c.want)
		}
	}
}

// TestManyUsers writes more users than a dictionary can hold.
func TestManyUsers(t *testing.T) {
	t.Parallel()
	const n = 70_000
	s := trailfile.Long([]string{"play"}, 0, nil)
	rows := make([]row, n)
	for i := range rows {
		rows[i].user = fmt.Sprintf("user%06d", i)
	}
	b := batch(s, rows, 0)
	var buf bytes.Buffer
	w, err := trailfile.NewWriter(&buf, s, trailfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	meta, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if meta.First != "user000000" || meta.Last != "user069999" || meta.Rows != n || meta.Groups != 1 {
		t.Errorf("meta is %+v", meta)
	}
	f := open(t, buf.Bytes())
	for i, r := range libraryRows(t, f) {
		if want := fmt.Sprintf("user%06d", i); r[0] != want {
			t.Fatalf("row %d is of %v, want %s", i, r[0], want)
		}
	}
	filter := f.RowGroups()[0].ColumnChunks()[0].BloomFilter()
	bits := make([]byte, filter.Size())
	if _, err := filter.ReadAt(bits, 0); err != nil {
		t.Fatal(err)
	}
	probe := bloom.MakeSplitBlockFilter(bits)
	wrong := 0
	for i := range n {
		if !probe.Check(bloom.XXH64{}.Sum64(fmt.Appendf(nil, "user%06d", i))) {
			t.Fatalf("the bloom filter denies user%06d", i)
		}
		if probe.Check(bloom.XXH64{}.Sum64(fmt.Appendf(nil, "nobody%06d", i))) {
			wrong++
		}
	}
	if wrong > n/50 {
		t.Errorf("the bloom filter does not exclude %d of %d absent users", wrong, n)
	}
}

// TestPageIndexFitsPages reads the header of every page at the place in the offset index, and
// compares rows, nulls and bounds with the column index.
func TestPageIndexFitsPages(t *testing.T) {
	t.Parallel()
	for _, c := range samples() {
		t.Run(c.name, func(t *testing.T) {
			data, _ := write(t, c.schema, c.opts, c.rows, 1000)
			f := open(t, data)
			md := f.Metadata()
			offsets, indexes := f.OffsetIndexes(), f.ColumnIndexes()
			columns := len(c.schema.Columns)
			begin := 0
			for g := range md.RowGroups {
				rows := c.rows[begin : begin+int(md.RowGroups[g].NumRows)]
				begin += len(rows)
				for col := range columns {
					x := pageIndex{chunk: &md.RowGroups[g].Columns[col], offsets: &offsets[g*columns+col]}
					if x.chunk.ColumnIndexLength > 0 {
						x.index = &indexes[g*columns+col]
					}
					x.check(t, data, c.schema, rows, col)
				}
			}
			if begin != len(c.rows) {
				t.Errorf("row groups have %d rows, want %d", begin, len(c.rows))
			}
		})
	}
}

type pageIndex struct {
	chunk   *format.ColumnChunk
	offsets *format.OffsetIndex
	index   *format.ColumnIndex
}

func (x *pageIndex) check(t *testing.T, data []byte, s trailfile.Schema, rows []row, col int) {
	t.Helper()
	name := x.chunk.MetaData.PathInSchema[0]
	at := x.chunk.MetaData.DataPageOffset
	pages := x.offsets.PageLocations
	if col == 0 && x.index.BoundaryOrder != format.Ascending {
		t.Errorf("column user_id: the pages are %s, want ascending", x.index.BoundaryOrder)
	}
	if x.index != nil && (len(x.index.NullPages) != len(pages) || len(x.index.MinValues) != len(pages) ||
		len(x.index.MaxValues) != len(pages) || len(x.index.NullCounts) != len(pages)) {
		t.Fatalf("column %s: column index of %d pages, offset index of %d", name, len(x.index.NullPages), len(pages))
	}
	for i, p := range pages {
		if p.Offset != at {
			t.Fatalf("column %s: page %d is at %d by the index, at %d by the pages before", name, i, p.Offset, at)
		}
		at += int64(p.CompressedPageSize)
		end := int64(len(rows))
		if i+1 < len(pages) {
			end = pages[i+1].FirstRowIndex
		}
		h, size := pageHeader(t, data[p.Offset:])
		if size+int(h.CompressedPageSize) != int(p.CompressedPageSize) || h.Type != format.DataPage || int64(h.DataPageHeader.V.NumValues) != end-p.FirstRowIndex {
			t.Fatalf("column %s: page %d: header %+v of %d bytes does not fit %+v", name, i, h, size, p)
		}
		x.checkOrder(t, i)
		x.checkPage(t, i, s, rows[p.FirstRowIndex:end], col, h.DataPageHeader.V.Statistics.NullCount)
	}
	if stop := x.chunk.MetaData.TotalCompressedSize + min(x.chunk.MetaData.DataPageOffset, nonZero(x.chunk.MetaData.DictionaryPageOffset)); at != stop {
		t.Errorf("column %s: pages end at %d, the chunk at %d", name, at, stop)
	}
}

// checkOrder compares page i with the previous page that has values.
func (x *pageIndex) checkOrder(t *testing.T, i int) {
	t.Helper()
	if x.index == nil || x.index.NullPages[i] {
		return
	}
	last := i - 1
	for last >= 0 && x.index.NullPages[last] {
		last--
	}
	if last < 0 {
		return
	}
	typ := x.chunk.MetaData.Type
	lo := compareBounds(typ, x.index.MinValues[last], x.index.MinValues[i])
	hi := compareBounds(typ, x.index.MaxValues[last], x.index.MaxValues[i])
	switch order := x.index.BoundaryOrder; {
	case order == format.Ascending && max(lo, hi) > 0, order == format.Descending && min(lo, hi) < 0:
		t.Errorf("column %s: pages %d and %d are not %s, as the index says", x.chunk.MetaData.PathInSchema[0], last, i, order)
	}
}

func compareBounds(typ format.Type, a, b []byte) int {
	switch typ {
	case format.Int64:
		return cmp.Compare(behaviour.ToInt64(reversed(a)), behaviour.ToInt64(reversed(b)))
	case format.Int32:
		return cmp.Compare(behaviour.ToDate(reversed(a)), behaviour.ToDate(reversed(b)))
	case format.Double:
		return cmp.Compare(behaviour.ToDouble(reversed(a)), behaviour.ToDouble(reversed(b)))
	}
	return bytes.Compare(a, b)
}

func nonZero(n int64) int64 {
	if n == 0 {
		return 1 << 62
	}
	return n
}

// checkPage compares page i of the index with its rows.
func (x *pageIndex) checkPage(t *testing.T, i int, s trailfile.Schema, rows []row, col int, headerNulls int64) {
	t.Helper()
	nulls, outside, nan := int64(0), 0, false
	for r := range rows {
		v := rows[r].column(s, col)
		if v == nil {
			nulls++
			continue
		}
		d, ok := v.(float64)
		nan = nan || ok && d != d
		if x.index != nil && !within(v, x.index.MinValues[i], x.index.MaxValues[i]) {
			outside++
		}
	}
	name := x.chunk.MetaData.PathInSchema[0]
	if headerNulls != nulls {
		t.Errorf("column %s: header of page %d says %d nulls, want %d", name, i, headerNulls, nulls)
	}
	if nan && x.index != nil {
		t.Errorf("column %s has a NaN and a column index", name)
	}
	if x.index == nil {
		return
	}
	if x.index.NullCounts[i] != nulls || x.index.NullPages[i] != (int(nulls) == len(rows)) || outside > 0 {
		t.Errorf("column %s: page %d: index says %d nulls, all null %v; want %d of %d; %d values out of bounds",
			name, i, x.index.NullCounts[i], x.index.NullPages[i], nulls, len(rows), outside)
	}
	if max(len(x.index.MinValues[i]), len(x.index.MaxValues[i])) > 64 && name != "s" {
		t.Errorf("column %s: page %d: bounds of %d and %d bytes", name, i, len(x.index.MinValues[i]), len(x.index.MaxValues[i]))
	}
}

// within reports whether v lies between bounds in the form that a file stores.
func within(v any, lo, hi []byte) bool {
	switch v := v.(type) {
	case string:
		return v >= string(lo) && v <= string(hi)
	case int64:
		return v >= behaviour.ToInt64(reversed(lo)) && v <= behaviour.ToInt64(reversed(hi))
	case int32:
		return v >= int32(behaviour.ToDate(reversed(lo))) && v <= int32(behaviour.ToDate(reversed(hi)))
	case float64:
		return v >= behaviour.ToDouble(reversed(lo)) && v <= behaviour.ToDouble(reversed(hi))
	case bool:
		return !(v && hi[0] == 0) && !(!v && lo[0] == 1)
	}
	return false
}
