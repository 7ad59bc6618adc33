package hfile_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"

	"usertrail/internal/cell"
)

const (
	prefixLen = 8
	rowStep   = 14 // difference between the leading numbers of adjacent rows

	// With these numbers of keys, the filters that HBase folds from 128 KiB are nearly full:
	// they have room for 1707 rows or 5941 columns. Their error rates are therefore the rates
	// that they are sized for.
	rowsHere    = 1700
	columnsHere = 5900
)

// world returns cells of many shapes in order. The lengths of rows and qualifiers differ from
// the previous ones, values and times repeat or change, and some keys appear twice. Each row
// begins with its own digits.
func world() []cell.Cell {
	rnd := rand.New(rand.NewPCG(5, 6))
	var cells []cell.Cell
	for i := range rowsHere {
		row := fmt.Appendf(nil, "%0*d", prefixLen, i*rowStep)
		switch {
		case i%400 == 7:
			row = append(row, bytes.Repeat([]byte("x"), 300)...)
		case i%3 == 0:
			row = append(row, ",day"...)
		}
		columns := columnsHere / rowsHere
		if i < columnsHere%rowsHere {
			columns++
		}
		for q := range columns {
			qualifier := fmt.Appendf(nil, "%c:%0*d", 'a'+q, rnd.IntN(9), q)
			for range 1 + rnd.IntN(2) {
				cells = append(cells, cell.Cell{Row: row, Family: []byte(family), Qualifier: qualifier,
					Time: someTime(rnd), Type: someType(rnd), Value: someValue(rnd)})
			}
		}
	}
	slices.SortStableFunc(cells, func(a, b cell.Cell) int { return cell.Compare(&a, &b) })
	return cells
}

func someTime(rnd *rand.Rand) int64 {
	if rnd.IntN(20) == 0 {
		return rnd.Int64N(3)
	}
	return 1_409_529_600_000 + rnd.Int64N(1<<rnd.IntN(41))>>16<<10
}

func someType(rnd *rand.Rand) cell.Type {
	switch rnd.IntN(40) {
	case 0:
		return cell.Delete
	case 1:
		return cell.DeleteColumn
	}
	return cell.Put
}

func someValue(rnd *rand.Rand) []byte {
	if rnd.IntN(500) == 0 {
		return bytes.Repeat([]byte("long "), 1000)
	}
	return []byte("a value of some length"[:rnd.IntN(4)*7])
}

// absent returns cells of rows that world does not have.
func absent() []cell.Cell {
	var cells []cell.Cell
	for i := range rowsHere {
		for n := range 3 {
			cells = append(cells, cell.Cell{Row: fmt.Appendf(nil, "%0*d", prefixLen, i*rowStep+n+1),
				Family: []byte(family), Qualifier: []byte("a:"), Type: cell.Put})
		}
	}
	return cells
}
