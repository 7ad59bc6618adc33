package jobdraft_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"usertrail/internal/test/testkit"
)

// TestAPathHasNoNameOfTheCalendar drafts jobs of logs whose paths have the name of a month or a weekday, the number of a
// week or a time of day. None of these is in the path of the draft, because the logs of other days have others.
func TestAPathHasNoNameOfTheCalendar(t *testing.T) {
	const lost, order = "{date} reads only digits", "in another order"
	for _, c := range []struct {
		names, path, unsure string // files are between blanks
	}{
		{"26-Feb-2014.csv 27-Feb-2014.csv", "*-*-*.csv", lost},
		{"26-Feb-2014.csv", "*-*-*.csv", lost},
		{"log_26Feb2014.csv", "log_*.csv", lost},
		{"2014/February/26.csv 2014/February/27.csv", "*/*/*.csv", lost},
		{"2014/février/26.csv", "*/*/*.csv", lost},
		{"2014/02-Feb/26.csv", "{date:yyyy}/{date:MM}-*/{date:dd}.csv", ""},
		{"2014/02-Feb/26.csv 2014/02-Feb/27.csv", "{date:yyyy}/{date:MM}-*/{date:dd}.csv", ""},
		{"2014/02_february/day=26/play.csv", "{date:yyyy}/{date:MM}_*/day={date:dd}/play.csv", ""},
		{"play-2014-2-6.csv play-2014-2-7.csv", "play-*-*-*.csv", lost},
		{"Wed-2014-02-26.csv", "*-{date}.csv", ""},
		{"Wed-2014-02-26.csv Thu-2014-02-27.csv", "*-{date}.csv", ""},
		{"mittwoch/2014-02-26.csv", "*/{date}.csv", ""},
		{"fevrier/2014-02-26.csv fevrier/2014-02-27.csv", "*/{date}.csv", ""},
		{"KW09/2014-02-26.csv KW09/2014-02-27.csv", "*/{date}.csv", ""},
		{"2014-W09/2014-02-26.csv", "*-*/{date}.csv", ""},
		{"2014W09/2014-02-26.csv", "*/{date}.csv", ""},
		{"Q1-2014/2014-02-26.csv Q1-2014/2014-02-27.csv", "*-*/{date}.csv", ""},
		{"2014/2014-02-26.csv 2014/2014-02-27.csv", "*/{date}.csv", ""},
		{"app-20140226T001503Z.csv", "app-{date:yyyyMMdd}*.csv", ""},
		{"app-2014-02-26T00:15:03.250Z.csv", "app-{date}*.*.csv", ""},
		{"app-2014-02-26-00h15.csv", "app-{date}-*.csv", ""},
		{"app-2014-02-26-03AM.csv", "app-{date}-*.csv", ""},
		{"app_20140226_7f3a9c.csv", "app_{date:yyyyMMdd}_*.csv", ""},
		{"app-2014-02-26-final.csv", "app-{date}-final.csv", ""},
		{"app7-2014-02-26.csv", "app7-{date}.csv", ""},
		// Behaviours, and not months and weekdays.
		{"mar/2014-02-26.csv play/2014-02-26.csv", "{behaviour}/{date}.csv", "{behaviour} stands for mar, play"},
		{"sun/part-0001.csv play/part-0001.csv", "{behaviour}/part-*.csv", "{behaviour} stands for play, sun"},
		// Times on the day do not show which of two equal numbers is the month.
		{"play-05-05-2014.csv", "play-{date:dd-MM-yyyy}.csv", order},
		{"play-05-05-2014.csv play-06-05-2014.csv", "play-{date:dd-MM-yyyy}.csv", ""},
	} {
		t.Run(c.names, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range strings.Fields(c.names) {
				day := time.Date(2014, 2, 26, 0, 0, 0, 0, time.UTC)
				switch {
				case strings.Contains(name, "27"):
					day = day.AddDate(0, 0, 1)
				case strings.Contains(name, "05-2014"):
					day = time.Date(2014, 5, 5, 0, 0, 0, 0, time.UTC)
				}
				if strings.Contains(name, "06-05") {
					day = day.AddDate(0, 0, 1)
				}
				testkit.WriteFile(t, filepath.Join(dir, "logs", filepath.FromSlash(name)), lines("user_id,time,title", 40, func(i int) string {
					return fmt.Sprintf("u%d,%s,%d.25", i%23, day.Add(time.Duration(i)*time.Minute).Format(time.DateTime), i)
				}))
			}
			d := makeDraft(t, dir)
			_, path, _ := strings.Cut(strings.ReplaceAll(d.Text, dir+"/", ""), "\n  path: ")
			path, _, _ = strings.Cut(path, "\n")
			if path, _, _ = strings.Cut(path, " #"); path != "logs/"+c.path {
				t.Errorf("the path is %s, want logs/%s\n%s", path, c.path, d.Text)
			}
			got := ""
			for _, u := range d.Unsure {
				if strings.HasPrefix(u, "logs.path: ") {
					got = u
				}
			}
			if (got == "") != (c.unsure == "") || !strings.Contains(got, c.unsure) {
				t.Errorf("the comment on the path is %q, want one with %q\n%s", got, c.unsure, d.Text)
			}
			if d.SkippedFiles > 0 || d.Bad > 0 || d.Problem != nil {
				t.Errorf("%+v %v\n%s", d.Summary, d.Problem, d.Text)
			}
		})
	}
}

// TestTheFoldersOfMonthsAreNoBehaviours drafts a job of the logs of two months.
func TestTheFoldersOfMonthsAreNoBehaviours(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"January", "February"} {
		testkit.WriteFile(t, filepath.Join(dir, "logs", name+".csv"), lines("user_id,time,title", 40, func(i int) string {
			return fmt.Sprintf("u%d,2014-0%d-26 10:%02d:00,%d.25", i%23, len(name)-6, i, i)
		}))
	}
	d := makeDraft(t, dir)
	if !strings.Contains(d.Text, `/logs/*.csv # unsure: {date} reads only digits`) || fmt.Sprint(d.Behaviours) != "[event]" {
		t.Errorf("%v\n%s", d.Behaviours, d.Text)
	}
}
