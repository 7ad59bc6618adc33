package jobdraft_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"usertrail/internal/test/testkit"
)

// TestADayAndATimeOfDayInTwoColumns drafts jobs of logs without a header, with the day and the time of day in two
// columns. The draft reads both, and the user is the column after them.
func TestADayAndATimeOfDayInTwoColumns(t *testing.T) {
	for _, c := range []struct {
		name, day, clock, rest string
		between                []string
	}{
		{"spaces", "2006-01-02", "15:04:05", "M%04d %s", []string{" "}},
		{"two spaces", "2006-01-02", "15:04:05", "M%04d %s", []string{"  "}},
		{"a tab", "2006-01-02", "15:04:05", "M%04d %s", []string{"\t"}},
		{"a tab or a space", "2006-01-02", "15:04:05", "M%04d %s", []string{" ", "\t"}},
		{"all tabs or spaces", "2006-01-02", "15:04:05", "M%04d\t%s", []string{" ", "\t", " \t"}},
		{"slashes", "2006/01/02", "15:04", "M%04d %s", []string{" ", "\t"}},
		{"short days", "060102", "15:04:05", "M%04d %s", []string{" "}},
		{"short days, a tab or a space", "060102", "15:04:05", "M%04d %s", []string{" ", "\t"}},
		{"short days the other way round", "020106", "15:04:05", "M%04d %s", []string{" "}},
		{"short days and minutes", "060102", "15:04", "M%04d %s", []string{" "}},
		{"short days of csv", "060102", "15:04:05", "M%04d;%s", []string{";"}},
		{"digits", "20060102", "150405", "M%04d %s", []string{" "}},
		{"short digits", "060102", "150405", "M%04d %s", []string{" "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, r := t.TempDir(), rand.New(rand.NewPCG(1, 2))
			want := map[string]bool{}
			for d := range 3 {
				at := time.Date(2025, 10, 28+d, 0, 0, 0, 0, time.UTC)
				name := at.Format("door-2006-01-02.log")
				var text strings.Builder
				for range 200 {
					between := c.between[r.IntN(len(c.between))]
					rest := fmt.Sprintf(c.rest, r.IntN(80), []string{"in", "out"}[r.IntN(2)])
					after := between
					if len(c.between) > 1 || between == "\t" {
						after = " "
					}
					fmt.Fprint(&text, at.Format(c.day), between, at.Format(c.clock), after, rest, "\n")
					want[at.Format(c.clock)+at.Format(c.day)] = true
					at = at.Add(time.Duration(1+r.IntN(400)) * time.Second)
				}
				testkit.WriteFile(t, filepath.Join(dir, "logs", name), text.String())
			}
			d := makeDraft(t, dir)
			j := jobOf(t, dir, d)
			got, times := loads(t, j), map[string]bool{}
			for _, e := range got.events {
				parts := strings.Split(e, "\x00")
				times[parts[2]] = true
				if !strings.HasPrefix(parts[1], "M") {
					t.Fatalf("the user is %s\n%s", parts[1], d.Text)
				}
			}
			if got.bad > 0 || len(got.events) != 600 || len(times) != len(want) {
				t.Errorf("%d records with %d times, want 600 with %d; %d are bad\n%s", len(got.events), len(times), len(want), got.bad, d.Text)
			}
		})
	}
}

// TestATimeOfDayOfAnotherFormInTheNextColumn drafts jobs of logs with the day and the time of day in two columns with names. The
// draft reads both. The time of day is read also if its name does not show what it is.
func TestATimeOfDayOfAnotherFormInTheNextColumn(t *testing.T) {
	for _, clock := range []string{"15:04", "15h04", "15h04m05", "15h04m05s", "15H04", "15.04", "15.04.05", "15-04-05", "3.04 PM", "3h04"} {
		for _, name := range []string{"clock", "hms"} {
			t.Run(name+" "+clock, func(t *testing.T) {
				dir, r := t.TempDir(), rand.New(rand.NewPCG(1, 2))
				at := time.Date(2014, 12, 27, 0, 0, 0, 0, time.UTC)
				write := func() string {
					text := at.Format(clock)
					if clock == "3h04" { // 9h24, 13h05
						text = strings.TrimPrefix(at.Format("15h04"), "0")
					}
					return text
				}
				want := map[string]bool{}
				testkit.WriteFile(t, filepath.Join(dir, "logs", "play-2014-12-27.csv"), lines("user_id,day,"+name+",n", 200, func(i int) string {
					at = at.Add(time.Duration(1+r.IntN(400)) * time.Second)
					want[write()] = true
					return fmt.Sprintf("u%d,%s,%s,%d", r.IntN(80), at.Format("02/01/2006"), write(), i)
				}))
				d := makeDraft(t, dir)
				j := jobOf(t, dir, d)
				got, times := loads(t, j), map[string]bool{}
				for _, e := range got.events {
					times[strings.Split(e, "\x00")[2]] = true
				}
				if got.bad > 0 || len(got.events) != 200 || len(times) != len(want) {
					t.Errorf("%d records with %d times, want 200 with %d; %d are bad\n%s", len(got.events), len(times), len(want), got.bad, d.Text)
				}
			})
		}
	}
}

// TestNumbersAreNoTimesOfDay drafts a job of a log with prices and days next to the day.
func TestNumbersAreNoTimesOfDay(t *testing.T) {
	dir, r := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	testkit.WriteFile(t, filepath.Join(dir, "logs", "play-2014-12-27.csv"), lines("user_id,day,price,from,until,to,version", 200, func(int) string {
		return fmt.Sprintf("u%d,27/12/2014,%d.%02d,27/12/2014,%02d-%02d-%02d,27/12/2014,%d.%02d.%d", r.IntN(80), 10+r.IntN(14), r.IntN(60), 1+r.IntN(12), 1+r.IntN(28), r.IntN(60), r.IntN(3), r.IntN(9), r.IntN(9))
	}))
	d := makeDraft(t, dir)
	if strings.Contains(d.Text, "$line") || strings.Contains(d.Text, "time of day") {
		t.Error(d.Text)
	}
}

// TestATimeOfDayThatIsNotReadIsToldAndNoUser drafts jobs of logs whose time of day no job can read. The draft says so,
// and the time of day is not the user.
func TestATimeOfDayThatIsNotReadIsToldAndNoUser(t *testing.T) {
	for _, c := range []struct{ name, header, format, user string }{
		{"at the beginning of a text", "", "%[1]s,%[2]s %[3]s in,%[4]s", "$3"},
		{"not a neighbour", "", "%[1]s;%[4]s;%[2]s;%[3]s", "$4"},
		{"with names", "day,result,span,card", "%[1]s,%[4]s,%[2]s,%[3]s", "card"},
		{"a length", "day,result,duration,card", "%[1]s 10:00:00,%[4]s,%[2]s,%[3]s", "card"},
		{"hours and minutes", "day,result,span,card", "%[1]s,%[4]s,%[2]s,%[3]s", "card"},
		{"of an object", "", `{"day":"%[1]s","result":"%[4]s","span":"%[2]s","card":"%[3]s"}`, "card"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, r := t.TempDir(), rand.New(rand.NewPCG(1, 2))
			for d := range 3 {
				at := time.Date(2025, 10, 28+d, 0, 0, 0, 0, time.UTC)
				name := at.Format("door-2006-01-02.log")
				testkit.WriteFile(t, filepath.Join(dir, "logs", name), lines(c.header, 200, func(int) string {
					at = at.Add(time.Duration(1+r.IntN(400)) * time.Second)
					user := fmt.Sprintf("M%04d", r.IntN(80))
					if c.name == "at the beginning of a text" {
						return fmt.Sprintf(c.format, at.Format(time.DateOnly), at.Format(time.TimeOnly), user, fmt.Sprintf("U%03d", r.IntN(80)))
					}
					clock := time.TimeOnly
					if c.name == "hours and minutes" {
						clock = "15h04"
					}
					return fmt.Sprintf(c.format, at.Format(time.DateOnly), at.Format(clock), user, []string{"ok", "bad"}[r.IntN(2)])
				}))
			}
			d := makeDraft(t, dir)
			if want := "\nuser: " + c.user + " #"; !strings.Contains(strings.ReplaceAll(d.Text, `"`, ""), want) {
				t.Errorf("the draft has not%s\n%s", want, d.Text)
			}
			told := strings.Contains(d.Text, "the job reads only the day: each event gets 00:00:00")
			if told != (c.name != "a length") {
				t.Errorf("the comment on the time of day is there: %t\n%s", told, d.Text)
			}
			for _, line := range strings.Split(d.Text, "\n") {
				if strings.HasPrefix(line, "user:") && (strings.Contains(line, ":00:") || strings.Contains(line, "h0")) {
					t.Errorf("times of day are candidates: %s", line)
				}
			}
		})
	}
}

// TestTheDayOfThePathShowsTheOrderOfDayAndMonth drafts jobs of logs whose days are all before the thirteenth. Their times, and
// the times of a field, fit with day and month exchanged. The order is doubted only if the paths have no day.
func TestTheDayOfThePathShowsTheOrderOfDayAndMonth(t *testing.T) {
	for _, layout := range []string{
		"02/01/2006 15:04:05", "02/01/2006 03:04:05 PM", "02/01/2006 03:04 PM", "2/1/2006 3:04:05 PM", "2/1/2006 3:04 PM", "02/01/06 03:04 PM", "2/1/06, 3:04 PM",
		"2/1/2006, 3:04 PM", "02/01/2006, 03:04:05 PM",
	} {
		for _, turned := range []bool{false, true} {
			if turned {
				layout = strings.NewReplacer("02/01", "01/02", "2/1", "1/2").Replace(layout)
			}
			for _, name := range []string{"2006-01-02.csv", "part-15.csv"} {
				t.Run(layout+" "+name, func(t *testing.T) {
					dir := t.TempDir()
					var want []int64
					for d := range 4 {
						at := time.Date(2023, 3, 4+d, d, 0, 0, 0, time.UTC)
						testkit.WriteFile(t, filepath.Join(dir, "logs", at.Format(name)), lines("user_id;time;ended", 40, func(i int) string {
							at = at.Add(10 * time.Minute)
							want = append(want, at.UnixMicro())
							return fmt.Sprintf("u%d;%s;%s", i%7, at.Format(layout), at.Add(time.Minute).Format(layout))
						}))
					}
					d := makeDraft(t, dir)
					dated := strings.Contains(d.Text, "{date}")
					got := loads(t, jobOf(t, dir, d))
					for i, e := range got.events {
						if at := strings.Split(e, "\x00")[2]; dated && at != fmt.Sprint(want[i]) {
							t.Fatalf("record %d is of %s, want %d\n%s", i, at, want[i], d.Text)
						}
					}
					doubts := strings.Count(d.Text, "day and month may be the other way round")
					if dated != (name != "part-15.csv") || (doubts == 0) != dated || len(got.events) != len(want) || got.bad > 0 {
						t.Errorf("%d records, %d bad, %d doubts\n%s", len(got.events), got.bad, doubts, d.Text)
					}
				})
			}
		}
	}
}

// TestDaysAndMonthsOfFieldsAreDoubted drafts a job of loans whose due dates fit with day and month exchanged. Only dates near the
// days of the logs, and days after the twelfth, show the order.
func TestDaysAndMonthsOfFieldsAreDoubted(t *testing.T) {
	days := []string{"2023-11-02", "2023-11-03"}
	for name, c := range map[string]struct {
		days    []string // of the logs
		due     func(at time.Time, i int) time.Time
		doubted bool
	}{
		"spread": {days, func(at time.Time, i int) time.Time {
			return time.Date(at.Year(), time.Month(1+i*7%12), 1+i*5%12, 0, 0, 0, 0, time.UTC)
		}, true},
		"spread, all days":                  {days, func(at time.Time, i int) time.Time { return at.AddDate(0, 0, 17*i) }, false},
		"near":                              {days, func(at time.Time, i int) time.Time { return at.AddDate(0, 0, i%2) }, false},
		"the day of a log that is the same": {[]string{"2023-11-11"}, func(at time.Time, i int) time.Time { return at }, true},
	} {
		dir := t.TempDir()
		for _, day := range c.days {
			at, err := time.Parse(time.DateOnly, day)
			if err != nil {
				t.Fatal(err)
			}
			text := lines("user_id,time,due", 60, func(i int) string {
				return fmt.Sprintf("u%d,%s,%s", i%7, at.Add(time.Duration(i)*time.Minute).Format(time.DateTime), c.due(at, i).Format("02/01/2006"))
			})
			world{}.store(t, filepath.Join(dir, "logs", day, "loan.csv"), text)
		}
		d := makeDraft(t, dir)
		if got := strings.Contains(strings.Join(d.Unsure, "\n"), "due: day and month may be the other way round"); got != c.doubted {
			t.Errorf("%s: doubted: %t, want %t\n%s", name, got, c.doubted, d.Text)
		}
		if !c.doubted && !strings.Contains(d.Text, `due: {type: date, format: "02/01/2006"}`) {
			t.Errorf("%s: the order of day and month is not right\n%s", name, d.Text)
		}
	}
}
