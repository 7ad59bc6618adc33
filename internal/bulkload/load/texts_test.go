package load_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/format/manifest"
)

// textJob returns a job whose column names the behaviours.
func textJob(texts, more string) string {
	return "logs: {path: \"logs/{date}/*.csv\", behaviour: {column: kind, others: skip, texts: {" + texts + "}}, max_bad: 50%}\nuser: user\n" +
		"behaviours:\n  play: {id: 1, fields: {n: int64}}\n  order: {id: 2}\n" + more
}

// textLog returns a log with one record for each text.
func textLog(day string, texts ...string) string {
	var b strings.Builder
	b.WriteString("user,time,kind,n\n")
	for i, text := range texts {
		fmt.Fprintf(&b, "u%d,%s 10:00:%02d,%s,%d\n", i%3, day, i, text, i)
	}
	return b.String()
}

// TestMoreTextsAreReadAgain loads logs with a job that knows some of their texts, and then with jobs
// that know more. The table is the same as if the last job had loaded all.
func TestMoreTextsAreReadAgain(t *testing.T) {
	const first, second = "2014-09-01", "2014-09-02"
	logs := func(y *bulkloadtest.Fixture) {
		y.Write(first+"/a.csv", textLog(first, "play", "start", "resume", "resume", "order", "seek", "never"))
		y.Write(second+"/a.csv", textLog(second, "play", "start", "order", "never"))
	}
	jobs := []string{
		textJob("start: play", ""), textJob("start: play, resume: play", ""), textJob("start: play, resume: play, stop: order", ""),
		textJob("start: play, resume: order, seek: play", "  seek: {id: 3}\n"), // seek is of play, by its text
	}
	for _, way := range []string{"load", "pieces", "ranges"} {
		t.Run(way, func(t *testing.T) {
			y := bulkloadtest.New(t, jobs[0])
			logs(y)
			for _, day := range []string{first, second} {
				y.LoadBy(way, nil, day)
			}
			y.SetJob(jobs[1])
			r := y.LoadBy(way, nil, first)
			y.WantCounts(r, 7, 2, 0, 0, 5)
			if r.Skips != (manifest.Skips{Unknown: 2, LoadedBefore: 3}) {
				t.Errorf("skipped are %+v", r.Skips)
			}
			if r := y.Load(bulkload.ErrNothing, first, second); r.Already != 2 {
				t.Errorf("%d files are loaded, want 2: no other file has the new text", r.Already)
			}
			y.SetJob(jobs[2])
			if r := y.Load(bulkload.ErrNothing, first, second); r.Already != 2 {
				t.Errorf("%d files are loaded, want 2: no file has the new text", r.Already)
			}
			y.SetJob(jobs[3])
			y.WantCounts(y.LoadBy(way, nil, first), 7, 1, 0, 0, 6)
			y.WantCounts(y.LoadBy(way, nil, second), 4, 0, 0, 0, 4) // for the new behaviour
			y.Load(bulkload.ErrNothing, first, second)

			want := bulkloadtest.New(t, textJob("start: play, resume: play, seek: play", "  seek: {id: 3}\n"))
			logs(want)
			want.Load(nil, first, second)
			if got := y.Trails(true); !slices.Equal(got, want.Trails(true)) {
				t.Errorf("the trails are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want.Trails(true), "\n"))
			}
		})
	}
}

// TestTextsReadInAnotherWayLoadNothingTwice loads a log. Then the job reads the behaviour without a
// pattern, and from another column. The next loads of the log, and of a copy of it, add nothing.
func TestTextsReadInAnotherWayLoadNothingTwice(t *testing.T) {
	const day = "2014-09-01"
	reads := func(column, more string) string {
		return "logs: {path: \"logs/{date}/*.csv\", behaviour: {column: " + column + ", others: skip" + more + "}}\nuser: user\nbehaviours: {play: {id: 1, fields: {n: int64}}}\n"
	}
	jobs := []string{
		reads("kind", `, pattern: "^[a-z]+"`), reads("kind", ", texts: {play_start: play, play_stop: play}"), reads("other", ", texts: {film: play, news: play}"),
	}
	log := "user,time,kind,other,n\nu1," + day + " 10:00:00,play_start,film,1\nu2," + day + " 11:00:00,play_stop,news,2\n"
	for _, way := range []string{"load", "pieces", "ranges"} {
		t.Run(way, func(t *testing.T) {
			y := bulkloadtest.New(t, jobs[0])
			y.Write(day+"/a.csv", log)
			y.LoadBy(way, nil, day)
			for i, job := range jobs {
				y.SetJob(job)
				if r := y.Load(bulkload.ErrNothing, day, day); r.Already != 1 {
					t.Errorf("job %d: %d files are loaded, want 1", i, r.Already)
				}
			}
			y.Write(day+"/b.csv", log)
			y.WantCounts(y.LoadBy(way, nil, day), 2, 0, 0, 2, 0)
			if got := y.Trails(true); len(got) != 2 {
				t.Errorf("the table holds\n%s\nwant 2 records", strings.Join(got, "\n"))
			}
		})
	}
}
