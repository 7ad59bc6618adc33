package load_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/replay"
	"usertrail/internal/format/job"
)

// longNight is a job whose lines have at most so many bytes.
func longNight(most string) string {
	return strings.Replace(twoKinds, "logs:\n", "logs:\n  max_line: "+most+"\n", 1)
}

// withLong is a log of good records and a long one.
func withLong() string {
	return "user,time,title,seconds\n" + strings.Repeat("a,2014-09-01 10:00:00,one,1\n", 900) + "b,2014-09-01 11:00:00," + strings.Repeat("ä long title ", 1000) + ",2\nc,2014-09-01 12:00:00,three,3\n"
}

// TestTooLongRecordsAreReplayedWhole: the quarantine file has the beginning of a record alone.
func TestTooLongRecordsAreReplayedWhole(t *testing.T) {
	for _, ending := range []string{"csv", "csv.gz"} {
		for _, way := range []string{"load", "pieces", "ranges"} {
			if way == "ranges" && ending != "csv" {
				continue // it cannot be cut
			}
			t.Run(ending+" "+way, func(t *testing.T) {
				name := "2014-09-01/play." + ending
				y := newFixture(t, longNight("1MiB"))
				text := withLong()
				if ending == "csv.gz" {
					text = zipped(t, text)
				}
				y.write(name, text)
				y.load(nil, "2014-09-01", "2014-09-01")
				want := y.trails(true)

				y = newFixture(t, longNight("5KiB"))
				y.jobIs(longNight("5KiB"))
				y.write(name, text)
				if way == "ranges" {
					parts := y.plan(nil, 20000, "2014-09-01", "2014-09-01")
					if len(parts) < 2 {
						t.Fatalf("%d pieces", len(parts))
					}
					y.doAll(parts)
					y.commit(nil, parts)
				} else {
					y.loadBy(way, nil, "2014-09-01")
				}
				if bad := y.quarantined(name); !strings.Contains(bad, `"cut":true`) {
					t.Errorf("the line does not say that it is cut: %s", bad)
				}
				y.wantCounts(y.replay(bulkload.ErrTooBad, name), 1, 0, 1, 0, 0)
				if bad := y.quarantined(name + ".replay"); !strings.Contains(bad, `"cut":true`) {
					t.Errorf("the line does not say that it is cut: %s", bad)
				}
				y.is(longNight("1MiB"))
				y.wantCounts(y.replay(nil, name), 1, 1, 0, 0, 0)
				if got := y.trails(true); !slices.Equal(got, want) {
					t.Errorf("the table holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				y.wantCounts(y.replay(nil, name), 1, 0, 0, 1, 0)
			})
		}
	}
}

// TestCutRecordsOfOlderReleases: their lines do not say that they are cut.
func TestCutRecordsOfOlderReleases(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := newFixture(t, longNight("5KiB"))
	y.write(name, withLong())
	y.load(nil, "2014-09-01", "2014-09-01")
	y.correct(name, `,"cut":true`, "")
	y.is(longNight("1MiB"))
	y.wantCounts(y.replay(nil, name), 1, 1, 0, 0, 0)
	if got := strings.Join(y.trails(false), "\n"); !strings.Contains(got, strings.Repeat("ä long title ", 1000)) {
		t.Errorf("the table holds %s, want the whole record", got)
	}
}

// TestCutRecordsAreNotGuessed: a cut text is no record.
func TestCutRecordsAreNotGuessed(t *testing.T) {
	const name = "2014-09-01/play.csv"
	named := func(most string) string {
		return "logs: {path: \"logs/{date}/{behaviour}.*\", max_bad: 50%, names: [user, time, title, seconds], header: true, max_line: " + most + "}\nuser: user\nbehaviours: {play: {id: 1, fields: {title: string, seconds: int64}}}\n"
	}
	y := newFixture(t, named("5KiB"))
	y.write(name, withLong())
	y.load(nil, "2014-09-01", "2014-09-01")
	y.is(named("1MiB"))
	before, kept := y.trails(true), y.quarantined(name)
	wrong := func(want error, advice string) {
		t.Helper()
		r, err := replay.Run(t.Context(), replayOf(y.config("2014-09-01", "2014-09-01")), y.store.Quarantine(name))
		if !errors.Is(err, want) || !strings.Contains(err.Error(), advice) || len(r.Failed) != 1 {
			t.Errorf("got %v, failed %v; want %v and %q", err, r.Failed, want, advice)
		}
		if got := y.trails(true); !slices.Equal(got, before) {
			t.Errorf("the table holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(before, "\n"))
		}
	}
	y.correct(name, `"raw":"b,`, `"raw":"d,`)
	wrong(bulkload.ErrRequest, "restore the text")
	y.keepBad(name, kept)
	delivered := filepath.Join(y.dir, "logs", name)
	if err := os.Rename(delivered, delivered+".away"); err != nil {
		t.Fatal(err)
	}
	wrong(job.ErrNoInput, "put the file back")
	y.write(name, strings.Replace(withLong(), "three", "threx", 1))
	wrong(bulkload.ErrChanged, "put the file back")

	// Whole texts need no delivered file: with the cut one, or alone.
	i := strings.Index(kept, `"raw":"`)
	j := strings.Index(kept, `,"cut"`)
	corrected := kept[:i] + `"raw":"b,2014-09-01 11:00:00,short,2"` + strings.Replace(kept[j:], `,"cut":true`, "", 1)
	y.keepBad(name, kept+corrected)
	y.wantCounts(y.replay(nil, name), 2, 1, 0, 1, 0)
	if got := strings.Join(y.trails(false), "\n"); !strings.Contains(got, "title=short") {
		t.Errorf("the table holds %s, want the corrected record", got)
	}
}
