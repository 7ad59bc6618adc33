package replay_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
)

// TestAMovedLineIsRefused changes the place of a corrected record. A replay would load it as the record of the new place, or would drop
// it as a duplicate of that record.
func TestAMovedLineIsRefused(t *testing.T) {
	const name = "2014-09-01/play.csv"
	changes := []struct{ what, from, to string }{
		{"path", `"path":"[^"]*"`, `"path":"2014-09-01/order.csv"`},
		{"line", `"line":3`, `"line":2`},
		{"offset", `"offset":[0-9]+`, `"offset":24`},
		{"digest", `"sha256":"[0-9a-f]+"`, `"sha256":"` + strings.Repeat("0", 64) + `"`},
		{"no digest", `,"sha256":"[0-9a-f]+"`, ``},
		{"no mark", `,"mark":"[0-9a-f]+"`, ``},
	}
	for _, way := range []string{"load", "pieces", "ranges"} {
		t.Run(way, func(t *testing.T) {
			y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
			y.Write(name, bulkloadtest.WithBad)
			y.LoadBy(way, nil, "2014-09-01")
			y.Correct(name, "many", "8")
			y.Correct(name, `"raw":",2014`, `"raw":"d,2014`)
			kept, before := y.Quarantined(name), y.Trails(true)
			for _, c := range changes {
				first, rest, _ := strings.Cut(kept, "\n")
				moved := regexp.MustCompile(c.from).ReplaceAllString(first, c.to)
				if moved == first {
					t.Fatalf("%s: nothing is changed in %s", c.what, first)
				}
				text := rest + moved + "\n"
				y.KeepBad(name, text)
				r, err := replayed(y, name)
				if want := y.Store.Quarantine(name) + ":2: the path, line, offset or sha256"; err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want an error with %q", c.what, err, want)
				}
				if got := y.Trails(true); r.Read != 0 || !slices.Equal(got, before) || y.Quarantined(name) != text {
					t.Errorf("%s: %+v; want no change of the table and of the quarantine file", c.what, r)
				}
				y.Replay(bulkload.ErrLeft, name)
			}
			y.KeepBad(name, kept)
			y.WantCounts(y.Replay(nil, name), 2, 2, 0, 0, 0)
		})
	}
}

// TestALineThatIsBadAgainHasMarks changes the offset of a line that a replay wrote.
func TestALineThatIsBadAgainHasMarks(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write(name, bulkloadtest.WithBad)
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.Correct(name, ",many", ",still many")
	y.WantCounts(y.Replay(bulkload.ErrLeft, name), 2, 0, 2, 0, 0)
	again := name + ".replay"
	y.Correct(again, `"offset":`, `"offset":1`)
	y.WantCounts(y.Replay(bulkload.ErrLeft, again), 0, 0, 0, 0, 0)
	y.Correct(again, `"offset":1`, `"offset":`)
	y.Correct(again, ",still many", ",8")
	y.WantCounts(y.Replay(bulkload.ErrLeft, again), 2, 1, 1, 0, 0)
}
