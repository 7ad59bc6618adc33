package wire_test

import (
	"fmt"
	"testing"

	"usertrail/internal/cell"
	"usertrail/internal/store/hbase/wire"
)

const benchGets = 200

func benchRows() [][]byte {
	var rows [][]byte
	for i := range benchGets {
		rows = append(rows, fmt.Appendf(nil, "%08d,20140901,00003", i))
	}
	return rows
}

func benchCell(row []byte) *cell.Cell {
	return &cell.Cell{Row: row, Family: []byte("d"), Qualifier: []byte("programme,12345678"), Time: 1409529600000, Type: cell.Put, Value: make([]byte, 60)}
}

func appendGets(dst []byte, rows [][]byte, fields wire.GetFields) []byte {
	dst, mark := wire.BeginRegion(dst, []byte(goldenRegion))
	for i, row := range rows {
		dst = wire.AppendGetAction(dst, uint32(i), row, fields)
	}
	return wire.EndRegion(dst, mark)
}

// perAction reports the time of one of n.
func perAction(b *testing.B, n int, unit string) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/"+unit)
}

func BenchmarkAppendMulti(b *testing.B) {
	rows := benchRows()
	filter, err := wire.ColumnPrefixes([]byte("programme,"), []byte("title,"), []byte("seconds,"))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("gets=200", func(b *testing.B) {
		fields := (&wire.Get{Columns: []wire.Column{{Family: []byte("d")}}, Filter: filter}).Fields()
		var dst []byte
		b.ReportAllocs()
		for b.Loop() {
			dst = appendGets(dst[:0], rows, fields)
		}
		perAction(b, len(rows), "get")
	})
	b.Run("puts=200/cells=20", func(b *testing.B) {
		c := benchCell(nil)
		var param, block []byte
		b.ReportAllocs()
		for b.Loop() {
			var mark int
			param, mark = wire.BeginRegion(param[:0], []byte(goldenRegion))
			block = block[:0]
			for i, row := range rows {
				param = wire.AppendPutAction(param, uint32(i), row, 20, wire.TableDefault)
				c.Row = row
				for range 20 {
					block = wire.AppendCell(block, c)
				}
			}
			param = wire.EndRegion(param, mark)
		}
		b.SetBytes(int64(len(block)))
		perAction(b, 20*len(rows), "cell")
	})
}

// benchResponse returns the response to 200 Gets with 20 cells each.
func benchResponse() (param, block []byte) {
	var results []byte
	for i, row := range benchRows() {
		results = append(results, msg(1, msg(1, i, 2, msg(2, 20, 4, 0)))...)
		for range 20 {
			block = wire.AppendCell(block, benchCell(row))
		}
	}
	return msg(1, results), block
}

func walkMulti(param, block []byte) (cells int, err error) {
	m := wire.DecodeMulti(param, block)
	var r wire.MultiResult
	var c cell.Cell
	for m.Next(&r) {
		for r.Cells.Next(&c) {
			cells++
		}
		if err := r.Cells.Err(); err != nil {
			return cells, err
		}
	}
	return cells, m.Err()
}

func BenchmarkDecodeMulti(b *testing.B) {
	b.Run("gets=200/cells=20", func(b *testing.B) {
		param, block := benchResponse()
		b.SetBytes(int64(len(param) + len(block)))
		b.ReportAllocs()
		for b.Loop() {
			if n, err := walkMulti(param, block); err != nil || n != 20*benchGets {
				b.Fatal(n, err)
			}
		}
		perAction(b, 20*benchGets, "cell")
	})
}

// TestMultiAllocatesNothing checks that neither an action nor a cell costs an allocation.
func TestMultiAllocatesNothing(t *testing.T) {
	rows, fields := benchRows(), familyF.Fields()
	dst := appendGets(nil, rows, fields)
	block := wire.AppendCell(nil, benchCell(rows[0]))
	for name, f := range map[string]func(){
		"gets": func() { dst = appendGets(dst[:0], rows, fields) },
		"puts": func() {
			dst = wire.AppendPutAction(dst[:0], 0, rows[0], 1, wire.TableDefault)
			block = wire.AppendCell(block[:0], benchCellOf(rows[0]))
		},
	} {
		if n := testing.AllocsPerRun(10, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	param, block := benchResponse()
	if n := testing.AllocsPerRun(10, func() { _, _ = walkMulti(param, block) }); n > 2 {
		t.Errorf("%v allocations to walk over a response of %d Gets", n, benchGets)
	}
}

var reused = benchCell(nil)

func benchCellOf(row []byte) *cell.Cell {
	reused.Row = row
	return reused
}
