package layout_test

import (
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
)

// rangesAsText are the ranges of rows in which a user's are, each "start .. stop".
func rangesAsText(t *testing.T, l layout.Layout, s *behaviour.Schema, user string, q layout.Want) []string {
	t.Helper()
	reads, err := l.Reads(s, q)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	reads.Ranges(l.AppendUserKey(nil, []byte(user)), func(start, stop []byte) bool {
		out = append(out, string(start)+" .. "+string(stop))
		return true
	})
	return out
}

func checkTexts(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s are\n%q, want\n%q", what, got, want)
	}
}

// prefixesAsked are the columns that a query requests.
func prefixesAsked(t *testing.T, l layout.Layout, s *behaviour.Schema, q layout.Want) []string {
	t.Helper()
	reads, err := l.Reads(s, q)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range reads.Columns.Prefixes {
		out = append(out, string(p))
	}
	return out
}

func TestGameCellsAreAsDrawn(t *testing.T) {
	row := []byte("a\\ub_play_2014-09-01 00:00:00_0000000274877907004")
	at := int64(1_409_529_600_000)
	checkCells(t, inCells(t, layout.Game{}, september, played("a_b")),
		cell.Cell{Row: row, Qualifier: []byte("_"), Time: at, Value: []byte("42")},
		cell.Cell{Row: row, Qualifier: []byte("seconds"), Time: at, Value: behaviour.AppendInt64(nil, 7)},
		cell.Cell{Row: row, Qualifier: []byte("title"), Time: at, Value: []byte("ab")})

	login := &behaviour.Record{User: []byte("u1"), Kind: 1, Time: -1000, ID: 0}
	checkCells(t, inCells(t, layout.Game{}, september, login),
		cell.Cell{Row: []byte("u1_login_1969-12-31 23:59:59_0000000000000000000"), Qualifier: []byte("_"), Time: -1})
}

// TestGameRanges checks that a query has one range for each behaviour, in order of row. It
// begins at local midnight and ends with the last second of the local day, both in UTC.
func TestGameRanges(t *testing.T) {
	s := &behaviour.Schema{Zone: "Asia/Shanghai", Kinds: []behaviour.Kind{{ID: 1, Name: "play_list"}, {ID: 2, Name: "play"}}}
	day := behaviour.DateOf(2014, 9, 1)
	q := layout.Want{Kinds: []int{0, 1}, Span: behaviour.Span{From: day, To: day + 1}}
	checkTexts(t, "ranges of two days", rangesAsText(t, layout.Game{}, s, "u1", q),
		`u1_play\ulist_2014-08-31 16:00:00 .. u1_play\ulist_2014-09-02 15:59:59`+"`",
		"u1_play_2014-08-31 16:00:00 .. u1_play_2014-09-02 15:59:59`")

	q = layout.Want{Kinds: []int{1}, Span: q.Span, Times: &layout.Times{First: 1_409_529_600_000_042, Last: 1_409_529_601_000_000}}
	checkTexts(t, "ranges of two seconds", rangesAsText(t, layout.Game{}, s, "u1", q),
		"u1_play_2014-09-01 00:00:00 .. u1_play_2014-09-01 00:00:01`")

	q.Times = &layout.Times{First: 0, Last: 1}
	checkTexts(t, "ranges of times out of the span", rangesAsText(t, layout.Game{}, s, "u1", q))
}

func TestTimesOfNoTextDoNotFit(t *testing.T) {
	for _, l := range []layout.Layout{layout.Game{}, layout.GameTime{}} {
		r := played("u1")
		r.Time = 253_402_300_800_000_000
		if err := l.Fits(september, r); err == nil || !strings.Contains(err.Error(), "10000-01-01T00:00:00Z") || !strings.Contains(err.Error(), "1 to 9999") {
			t.Errorf("%s: the year 10000: %v; want an error that says it and which years fit", l.Name(), err)
		}
		if err := l.Fits(september, played("u1")); err != nil {
			t.Errorf("%s: %v", l.Name(), err)
		}
	}
}
