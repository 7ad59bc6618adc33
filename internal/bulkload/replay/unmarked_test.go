package replay_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
)

// marks matches the marks of a line. Earlier releases wrote the digest without them.
var marks = regexp.MustCompile(`,"mark":"[0-9a-f]{16}","raw_mark":"[0-9a-f]{16}"`)

// unmarked loads a file with two bad records, and removes the marks, or also the digests, from their lines.
func unmarked(t *testing.T, name string, of *regexp.Regexp) *bulkloadtest.Fixture {
	t.Helper()
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write(name, bulkloadtest.WithBad)
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.KeepBad(name, of.ReplaceAllString(y.Quarantined(name), ""))
	return y
}

// TestAMovedLineWithoutMarksIsRefused changes the place of a corrected record to another place of the file. If the line of the new place
// is right, too, and the table has its record, the line of the quarantine file stays.
func TestAMovedLineWithoutMarksIsRefused(t *testing.T) {
	const name = "2014-09-01/play.csv"
	first, last := strings.Index(bulkloadtest.WithBad, "a,2014"), strings.Index(bulkloadtest.WithBad, "c,2014")
	for what, c := range map[string]struct {
		line, offset int
		said         string
	}{
		"a good record":                 {0, first, "the path, line, offset or sha256"},
		"within a line":                 {0, first + 1, "the path, line, offset or sha256"},
		"behind the file":               {0, 1000, "the path, line, offset or sha256"},
		"another line":                  {4, 0, "the path, line, offset or sha256"},
		"line and offset of the first":  {2, first, "are in the table with another text"},
		"line and offset of the second": {6, last, "are in the table with another text"},
	} {
		y := unmarked(t, name, marks)
		y.Correct(name, ",many", ",8")
		line, _, _ := strings.Cut(y.Quarantined(name), "\n")
		if c.line > 0 {
			line = regexp.MustCompile(`"line":\d+`).ReplaceAllString(line, `"line":`+strconv.Itoa(c.line))
		}
		if c.offset > 0 {
			line = regexp.MustCompile(`"offset":\d+`).ReplaceAllString(line, `"offset":`+strconv.Itoa(c.offset))
		}
		y.KeepBad(name, line+"\n")
		before := y.Trails(true)
		r, err := replayed(y, name)
		if !errors.Is(err, bulkload.ErrLeft) || !strings.Contains(err.Error(), c.said) {
			t.Errorf("%s: %v, want an error with %q", what, err, c.said)
		}
		if got := y.Trails(true); r.Loaded != 0 || r.Removed != 0 || !slices.Equal(got, before) || y.Quarantined(name) != line+"\n" {
			t.Errorf("%s: %+v; want no change of the table and of the quarantine file", what, r)
		}
	}
}

// TestLinesWithoutMarksAreReplayed corrects lines of earlier releases, and replays them twice. A second correction is not lost.
func TestLinesWithoutMarksAreReplayed(t *testing.T) {
	const name = "2014-09-01/play.csv"
	for what, of := range map[string]*regexp.Regexp{"no marks": marks, "no digest": bulkloadtest.Digests} {
		y := unmarked(t, name, of)
		old := y.Quarantined(name)
		y.Correct(name, ",many", ",8")
		y.Correct(name, `"raw":",2014`, `"raw":"d,2014`)
		y.WantCounts(y.Replay(nil, name), 2, 2, 0, 0, 0)
		if r, err := replayed(y, name); err != nil || r.Duplicate != 2 || r.Removed != 2 {
			t.Errorf("%s: again: %+v, %v; want two duplicates, which are removed", what, r, err)
		}
		y.KeepBad(name, old)
		if r, err := replayed(y, name); err != nil || r.Duplicate != 2 || r.Removed != 2 {
			t.Errorf("%s: not corrected: %+v, %v; want two duplicates, which are removed", what, r, err)
		}
		line, _, _ := strings.Cut(old, "\n")
		y.KeepBad(name, strings.Replace(line, ",many", ",9", 1)+"\n")
		wantOther(y, name)
	}
}

// TestLinesWithoutMarksNeedNoLog replays a line with a digest after the delivered file was removed.
func TestLinesWithoutMarksNeedNoLog(t *testing.T) {
	const name = "2014-09-01.json"
	y := bulkloadtest.New(t, "logs: {path: \"logs/{date}.json\", format: jsonl, max_bad: 50%}\nuser: user\nbehaviours: {play: {id: 1, fields: {n: int64}}}\n")
	y.Write(name, `{"user":"a","time":"2014-09-01 10:00:00","n":1}`+"\n"+`{"user":"a","time":"2014-09-01 10:00:01","n":"many"}`+"\n")
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.KeepBad(name, marks.ReplaceAllString(y.Quarantined(name), ""))
	y.Correct(name, `\"many\"`, "8")
	if err := os.Remove(filepath.Join(y.Dir, "logs", name)); err != nil {
		t.Fatal(err)
	}
	if r, err := replayed(y, name); err != nil || r.Loaded != 1 || r.Removed != 1 {
		t.Errorf("%+v, %v; want a record loaded", r, err)
	}
}
