package reread

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/table/segment"
)

// A place can have records of the inputs: an HFile of a table of files, or a region of a table in HBase.
type place struct {
	part   int           // of the sorter
	region int           // that has the HFile
	file   manifest.File // zero for a region
	bounds split.Region  // of the region
	values bool          // the part has values
	reads  bool          // the place is read: it can have records of the inputs
}

// String returns the name of p.
func (p *place) String() string {
	if p.file.Name != "" {
		return p.file.Name
	}
	return fmt.Sprintf("region %d", p.region)
}

// may reports whether p, of the region of a row, can have the row with records of a date.
func (p *place) may(row []byte, d behaviour.Date) bool {
	return p.file.Name == "" || p.file.Span.Has(d) && bytes.Compare(row, p.file.First) >= 0 && bytes.Compare(row, p.file.Last) <= 0
}

// makePlaces makes the places of the table. For a table of files, it returns the HFiles by the loads that added their
// records.
func (x *reread) makePlaces() map[int][]*place {
	if x.files == nil {
		for i, r := range x.points.Regions() {
			x.places = append(x.places, &place{part: i, region: i, bounds: r})
		}
		return nil
	}
	out := map[int][]*place{}
	m := x.files.Manifest()
	for i, f := range m.Files {
		p := &place{part: i, region: x.points.Of(f.First), file: f}
		x.places = append(x.places, p)
		for _, load := range slices.Compact(slices.Sorted(slices.Values(append([]int{f.Load}, f.Loads...)))) {
			out[load] = append(out[load], p)
		}
	}
	return out
}

// placesOf returns the places that can have records of a file, by region. loads are the loads that added its records. In a table of
// files, only HFiles of these loads can have them.
func (x *reread) placesOf(loads []int, byLoad map[int][]*place) map[int][]*place {
	out := map[int][]*place{}
	if x.files == nil {
		for _, p := range x.places {
			out[p.region] = []*place{p}
		}
		return out
	}
	seen := map[*place]bool{}
	for _, load := range loads {
		for _, p := range byLoad[load] {
			if !seen[p] {
				seen[p], out[p.region] = true, append(out[p.region], p)
			}
		}
	}
	return out
}

// eachCell calls do with the cells of a place, row by row: all cells of an HFile, or the cells that show the records
// of the dates and their values in a region.
func (x *reread) eachCell(ctx context.Context, p *place, do func(*cell.Cell) error) error {
	if p.file.Name != "" {
		return segment.EachCell(ctx, x.files, p.file.Name, readAhead, do)
	}
	reads, err := x.to.Layout.Reads(x.to.Schema, x.want())
	if err != nil {
		return err
	}
	return x.to.Read(ctx, table.Query{
		Ranges: func(yield func(split.Region) bool) { yield(p.bounds) }, Span: x.dates, Columns: reads.Columns,
		Hints: table.Hints{Bounds: p.bounds, Once: true, Fuzzy: reads.Fuzzy},
	}, do)
}

// want returns the records that may get values. In a layout.Widening they have only the fields that are read.
func (x *reread) want() layout.Want {
	w := layout.Want{Kinds: kindsWith(x.fields), Span: x.dates}
	if x.widens == nil {
		return w
	}
	w.Fields = make([][]bool, len(x.fields))
	for k := range w.Fields {
		if w.Fields[k] = x.fields[k]; w.Fields[k] == nil {
			w.Fields[k] = make([]bool, len(x.to.Schema.Kinds[k].Fields))
		}
	}
	return w
}
