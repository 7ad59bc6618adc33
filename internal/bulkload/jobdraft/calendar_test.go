package jobdraft_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"usertrail/internal/test/testkit"
)

// TestAPathHasNoNameOfTheCalendar drafts jobs of logs whose paths have the name of a month or a weekday, the number of a
// week or a time of day. None of these is in the path of the draft, because the logs of other days have others.
func TestAPathHasNoNameOfTheCalendar(t *testing.T) {
	const lost, order = "{date} stands for one day in digits", "in another order"
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
		{"2014年/02月/26日.csv 2014年/02月/27日.csv", "{date:yyyy}年/{date:MM}月/{date:dd}日.csv", ""},
		{"2014年02月26日.csv 2014年02月27日.csv", "{date:yyyy}年{date:MM}月{date:dd}日.csv", ""},
		{"2014년02월26일.csv", "{date:yyyy}년{date:MM}월{date:dd}일.csv", ""},
		{"日志2014年2月26日.csv 日志2014年2月27日.csv", "日志*年*月*日.csv", lost},
		{"2014年2月/26日/play.csv", "*年*月/*日/play.csv", lost},
		{"2014年02月/2014-02-26.csv", "*年*月/{date}.csv", ""},
		{"2014-02-26-03时15分.csv", "{date}-*时*分.csv", ""},
		{"jahr2014/monat02/tag26.csv jahr2014/monat02/tag27.csv", "jahr{date:yyyy}/monat{date:MM}/tag{date:dd}.csv", ""},
		{"Y2014/M02/D26/play.csv Y2014/M02/D27/play.csv", "Y{date:yyyy}/M{date:MM}/D{date:dd}/play.csv", ""},
		{"app2014/play/02/26.csv", "app*/play/*/*.csv", lost},
		{"2014/play/02-26.csv", "*/play/*-*.csv", lost},
		{"2014/Month_02/Day_26.csv", "{date:yyyy}/Month_{date:MM}/Day_{date:dd}.csv", ""},
		{"yyyy=2014/MM=02/dd=26/play.csv", "yyyy={date:yyyy}/MM={date:MM}/dd={date:dd}/play.csv", ""},
		{"jahr2014/monat2/tag26.csv jahr2014/monat2/tag27.csv", "jahr*/monat*/*.csv", lost},
		{"jahr2014/2014-02-26.csv", "jahr*/{date}.csv", ""},
		{"monat02/2014-02-26.csv", "*/{date}.csv", ""},
		{"app201402/app-2014-02-26.csv", "app*/app-{date}.csv", ""},
		{"win2012/2014-02-26.csv", "win2012/{date}.csv", ""},
		{"2014-02/till-26.csv 2014-02/till-27.csv", "*-*/till-*.csv", lost},
		{"201402/till-26.csv", "*/till-*.csv", lost},
		{"id20143/till-26.csv", "id20143/till-*.csv", ""},
		{"year=2014/month=2/day=26/play.csv", "year=*/month=*/day=*/play.csv", lost},
		{"log2014057.csv", "log*.csv", lost},
		{"2014/web01/26.csv", "*/web01/*.csv", ""},
		{"2014-02/till1.csv 2014-02/bar1.csv", "*-*/{behaviour}.csv", lost},
		// Names with two days.
		{"2014-02-26_2014-02-27.csv 2014-02-27_2014-02-28.csv", "*_*.csv", lost},
		{"2014-02-26-2014-02-27.csv", "*-*.csv", lost},
		{"2014.02.26-2014.02.27.csv", "*-*.csv", lost},
		{"20140226-20140227.csv", "*-*.csv", lost},
		{"26.02.2014-27.02.2014.csv 27.02.2014-03.03.2014.csv", "*-*.csv", lost},
		{"26022014_27022014.csv", "*_*.csv", lost},
		{"dt=2014-02-27/2014022600-2014022700.csv", "dt={date}/*-*.csv", ""},
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
			for _, name := range []string{"day", "tag", "日", "年"} {
				if slices.Contains(d.Behaviours, name) {
					t.Errorf("the behaviour is %s\n%s", name, d.Text)
				}
			}
			if d.SkippedFiles > 0 || d.Bad > 0 || d.Problem != nil {
				t.Errorf("%+v %v\n%s", d.Summary, d.Problem, d.Text)
			}
		})
	}
}

// TestAMonthOrDayMayHaveOneDigit drafts jobs of logs of November. Their paths do not show whether 3 December has one digit or two.
func TestAMonthOrDayMayHaveOneDigit(t *testing.T) {
	for name, path := range map[string]string{
		"日志2014年11月%02d日.csv": "日志{date:yyyy}年{date:MM}月{date:dd}日.csv", "year=2014/month=11/day=%02d/play.csv": "year={date:yyyy}/month={date:MM}/day={date:dd}/play.csv",
		"2014-11-%02d.csv": "{date}.csv",
	} {
		for _, first := range []int{8, 20} {
			dir := t.TempDir()
			for day := first; day < first+3; day++ {
				testkit.WriteFile(t, filepath.Join(dir, "logs", filepath.FromSlash(fmt.Sprintf(name, day))), lines("user_id,time,title", 40, func(i int) string {
					return fmt.Sprintf("u%d,2014-11-%02d 08:%02d:00,%d.25", i%23, day, i, i)
				}))
			}
			d := makeDraft(t, dir)
			doubt := strings.Contains(d.Text, "no path has a month or a day below 10")
			if !strings.Contains(d.Text, "/logs/"+path) || doubt != (first > 9 && path != "{date}.csv") {
				t.Errorf("from day %d on:\n%s", first, d.Text)
			}
		}
	}
}

// TestOneNameMayBeginAnother drafts jobs of logs of two behaviours. The name of one is the beginning of the other's.
func TestOneNameMayBeginAnother(t *testing.T) {
	for name, path := range map[string]string{
		"%s-2014-02-26.csv": "{behaviour}-{date}.csv", "2014-02-26/%s.csv": "{date}/{behaviour}.csv", "2014-02-26_app.%s.csv": "{date}_app.{behaviour}.csv",
	} {
		dir := t.TempDir()
		for behaviour, field := range map[string]string{"login": "device", "login-failed": "reason"} {
			testkit.WriteFile(t, filepath.Join(dir, "logs", filepath.FromSlash(fmt.Sprintf(name, behaviour))), lines("user_id,time,"+field, 40, func(i int) string {
				return fmt.Sprintf("u%d,2014-02-26 08:%02d:00,%d.25", i%23, i, i)
			}))
		}
		if d := makeDraft(t, dir); !strings.Contains(d.Text, "/logs/"+path+"\n") || fmt.Sprint(d.Behaviours) != "[login login_failed]" {
			t.Errorf("%q\n%s", d.Behaviours, d.Text)
		}
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
	if !strings.Contains(d.Text, `/logs/*.csv # unsure: {date} stands for one day in digits`) || fmt.Sprint(d.Behaviours) != "[event]" {
		t.Errorf("%v\n%s", d.Behaviours, d.Text)
	}
}
