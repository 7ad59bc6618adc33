package layout_test

import (
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/column"
	"usertrail/internal/format/layout"
)

// TestGameTimeCellsAreAsDrawn encodes two plays and a login of one second. The plays have the
// same time.
func TestGameTimeCellsAreAsDrawn(t *testing.T) {
	row := []byte("u1_2014-09-01 00:00:00")
	first, second := played("u1"), played("u1")
	second.ID++
	second.Values = [][]byte{nil, nil, nil}
	login := &behaviour.Record{User: []byte("u1"), Kind: 1, Time: 1_409_529_600_999_999, ID: 2<<38 + 1}
	packed := "\x03ab\x09" + unhex(t, "0000000000000007")
	checkCells(t, inCells(t, layout.GameTime{}, september, first, second, login),
		cell.Cell{Row: row, Qualifier: column.Append(nil, "login", login.ID), Time: 1_409_529_600_999, Value: []byte{0xe7, 0x07}},
		cell.Cell{Row: row, Qualifier: column.Append(nil, "play", first.ID), Time: 1_409_529_600_000, Value: []byte("\x2a" + packed)},
		cell.Cell{Row: row, Qualifier: column.Append(nil, "play", second.ID), Time: 1_409_529_600_000, Value: []byte{42}})
}

func TestGameTimeRanges(t *testing.T) {
	day := behaviour.DateOf(2014, 9, 1)
	q := layout.Want{Kinds: []int{0, 1}, Span: behaviour.Span{From: day, To: day}}
	checkTexts(t, "ranges of a day", rangesAsText(t, layout.GameTime{}, september, "u1", q),
		"u1_2014-08-31 16:00:00 .. u1_2014-09-01 15:59:59\x00")
	checkTexts(t, "columns", prefixesAsked(t, layout.GameTime{}, september, q), "login,", "play,")

	q.Times = &layout.Times{First: 1_409_529_600_000_042, Last: 1_409_529_600_000_042}
	checkTexts(t, "ranges of an instant", rangesAsText(t, layout.GameTime{}, september, "u1", q),
		"u1_2014-09-01 00:00:00 .. u1_2014-09-01 00:00:00\x00")

	q.Times = &layout.Times{First: 0, Last: 1}
	checkTexts(t, "ranges of times out of the span", rangesAsText(t, layout.GameTime{}, september, "u1", q))
}
