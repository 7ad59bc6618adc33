package replay_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/replay"
	"usertrail/internal/format/job"
)

// withLong is a log of good records and a long one.
func withLong() string {
	return "user,time,title,seconds\n" + strings.Repeat("a,2014-09-01 10:00:00,one,1\n", 900) + "b,2014-09-01 11:00:00," + strings.Repeat("ä long title ", 1000) + ",2\nc,2014-09-01 12:00:00,three,3\n"
}

// TestTooLongRecordsAreReplayedWhole replays records of which the quarantine file has only the
// beginning.
func TestTooLongRecordsAreReplayedWhole(t *testing.T) {
	for _, ending := range []string{"csv", "csv.gz"} {
		for _, way := range []string{"load", "pieces", "ranges"} {
			if way == "ranges" && ending != "csv" {
				continue // it cannot be cut
			}
			t.Run(ending+" "+way, func(t *testing.T) {
				name := "2014-09-01/play." + ending
				y := bulkloadtest.New(t, bulkloadtest.LongLines("1MiB"))
				text := withLong()
				if ending == "csv.gz" {
					text = bulkloadtest.Zipped(t, text)
				}
				y.Write(name, text)
				y.Load(nil, "2014-09-01", "2014-09-01")
				want := y.Trails(true)

				y = bulkloadtest.New(t, bulkloadtest.LongLines("5KiB"))
				y.Write(name, text)
				if way == "ranges" {
					parts := y.Plan(nil, 20000, "2014-09-01", "2014-09-01")
					if len(parts) < 2 {
						t.Fatalf("%d pieces", len(parts))
					}
					y.DoAll(parts)
					y.Commit(nil, parts)
				} else {
					y.LoadBy(way, nil, "2014-09-01")
				}
				if bad := y.Quarantined(name); !strings.Contains(bad, `"cut":true`) {
					t.Errorf("the line does not say that it is cut: %s", bad)
				}
				y.WantCounts(y.Replay(bulkload.ErrLeft, name), 1, 0, 1, 0, 0)
				if bad := y.Quarantined(name + ".replay"); !strings.Contains(bad, `"cut":true`) {
					t.Errorf("the line does not say that it is cut: %s", bad)
				}
				y.SetJob(bulkloadtest.LongLines("1MiB"))
				y.WantCounts(y.Replay(nil, name), 1, 1, 0, 0, 0)
				if got := y.Trails(true); !slices.Equal(got, want) {
					t.Errorf("the table holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				y.WantCounts(y.Replay(nil, name), 1, 0, 0, 1, 0)
			})
		}
	}
}

// TestCutRecordsOfOlderReleases replays cut records whose lines are not marked as cut, as older
// releases wrote them.
func TestCutRecordsOfOlderReleases(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := bulkloadtest.New(t, bulkloadtest.LongLines("5KiB"))
	y.Write(name, withLong())
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.Correct(name, `,"cut":true`, "")
	y.SetJob(bulkloadtest.LongLines("1MiB"))
	y.WantCounts(y.Replay(nil, name), 1, 1, 0, 0, 0)
	if got := strings.Join(y.Trails(false), "\n"); !strings.Contains(got, strings.Repeat("ä long title ", 1000)) {
		t.Errorf("the table holds %s, want the whole record", got)
	}
}

// TestCutRecordsAreNotGuessed checks that a text that was cut is not loaded as a record.
func TestCutRecordsAreNotGuessed(t *testing.T) {
	const name = "2014-09-01/play.csv"
	named := func(most string) string {
		return "logs: {path: \"logs/{date}/{behaviour}.*\", max_bad: 50%, names: [user, time, title, seconds], header: true, max_line: " + most + "}\nuser: user\nbehaviours: {play: {id: 1, fields: {title: string, seconds: int64}}}\n"
	}
	y := bulkloadtest.New(t, named("5KiB"))
	y.Write(name, withLong())
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.SetJob(named("1MiB"))
	before, kept := y.Trails(true), y.Quarantined(name)
	wrong := func(want error, advice string) {
		t.Helper()
		r, err := replay.Run(t.Context(), bulkloadtest.ReplayOf(y.Config("2014-09-01", "2014-09-01")), y.Store.Quarantine(name))
		if !errors.Is(err, want) || !strings.Contains(err.Error(), advice) || len(r.Failed) != 1 {
			t.Errorf("got %v, failed %v; want %v and %q", err, r.Failed, want, advice)
		}
		if got := y.Trails(true); !slices.Equal(got, before) {
			t.Errorf("the table holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(before, "\n"))
		}
	}
	y.Correct(name, `"raw":"b,`, `"raw":"d,`)
	wrong(bulkload.ErrRequest, "restore the text")
	y.KeepBad(name, kept)
	delivered := filepath.Join(y.Dir, "logs", name)
	if err := os.Rename(delivered, delivered+".away"); err != nil {
		t.Fatal(err)
	}
	wrong(job.ErrNoInput, "put the file back")
	y.Write(name, strings.Replace(withLong(), "three", "threx", 1))
	wrong(bulkload.ErrChanged, "put the file back")

	// Whole texts need no delivered file: with the cut one, or alone.
	i := strings.Index(kept, `"raw":"`)
	j := strings.Index(kept, `,"cut"`)
	corrected := kept[:i] + `"raw":"b,2014-09-01 11:00:00,short,2"` + strings.Replace(kept[j:], `,"cut":true`, "", 1)
	y.KeepBad(name, kept+corrected)
	y.WantCounts(y.Replay(nil, name), 2, 1, 0, 1, 0)
	if got := strings.Join(y.Trails(false), "\n"); !strings.Contains(got, "title=short") {
		t.Errorf("the table holds %s, want the corrected record", got)
	}
}
