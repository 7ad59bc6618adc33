package snapshot_test

import (
	"fmt"
	"testing"

	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
	"usertrail/internal/format/layout"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// BenchmarkRead reads a region of one file, and of several files whose rows alternate or are the
// same. A row has 20 columns. A query requests all columns or three.
func BenchmarkRead(b *testing.B) {
	const rows, columns = 20_000, 20
	for _, c := range []struct {
		name  string
		files int
		file  func(row, files int) bool // whether a file has the row
	}{
		{"one", 1, func(int, int) bool { return true }},
		{"between", 8, func(row, file int) bool { return row%8 == file }},
		{"same", 4, func(int, int) bool { return true }},
	} {
		d := &disk{root: b.TempDir(), table: "t", layout: 2}
		r := diskRegion{id: 1}
		total := 0
		for f := range c.files {
			name := fmt.Sprintf("%x_SeqId_%d_", f+1, f+1)
			var cells []*cell.Cell
			for row := range rows {
				for q := 0; q < columns && c.file(row, f); q++ {
					cells = append(cells, put(fmt.Sprintf("%08d,20140901,00003", row), fmt.Sprintf("field%02d,%08d", q, f), 1_409_529_600_000, "a value of some length"))
				}
			}
			total += len(cells)
			d.put(b, "data/ns/t/"+d.encoded(r)+"/d/"+name, hfile.Options{}, cells...)
			r.files = append(r.files, diskFile{name: name})
		}
		d.regions = []diskRegion{r}
		d.take(b, "s")
		for _, asked := range []struct {
			name     string
			prefixes [][]byte
		}{{"all", nil}, {"three", [][]byte{[]byte("field03,"), []byte("field11,"), []byte("field17,")}}} {
			b.Run(fmt.Sprintf("cells=%d/files=%s/columns=%s", total, c.name, asked.name), func(b *testing.B) {
				s, err := d.open(b)
				if err != nil {
					b.Fatal(err)
				}
				given := 0
				for b.Loop() {
					q := table.Query{Ranges: func(yield func(split.Region) bool) { yield(split.Region{}) }, Columns: layout.Columns{Prefixes: asked.prefixes}}
					if err := s.Read(b.Context(), q, func(*cell.Cell) error { given++; return nil }); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(total*b.N)/b.Elapsed().Seconds(), "cells/s")
				b.ReportMetric(float64(given)/b.Elapsed().Seconds(), "given/s")
			})
		}
	}
}
