package jobdraft_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestACopyOfALogInAnotherCompressionIsTold drafts jobs of logs of which some are in the folder twice, plain and
// compressed. A load would read both, so the draft names such a pair.
func TestACopyOfALogInAnotherCompressionIsTold(t *testing.T) {
	for _, c := range []struct {
		name   string
		copies []string // name and ending
		prefix string   // of users; without one they are numbers that are no users
		want   string
	}{
		{"none", nil, "u", ""},
		{"of another folder", []string{"old/play-2014-09-24.csv .gz"}, "u", ""},
		{"of another day", []string{"play-2014-09-27.csv .gz"}, "u", ""},
		{"one", []string{"play-2014-09-24.csv .gz"}, "u", "play-2014-09-24.csv and play-2014-09-24.csv.gz are one log by their names"},
		{"one of a draft to fill in", []string{"play-2014-09-24.csv .gz"}, "", "play-2014-09-24.csv and play-2014-09-24.csv.gz are one log by their names"},
		{"three", []string{"play-2014-09-25.csv .gz", "play-2014-09-25.csv .zst", "play-2014-09-24.csv .zst"}, "u",
			"play-2014-09-24.csv and play-2014-09-24.csv.zst (and 2 other pairs) are one log by their names"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			text := func(day string) string {
				at, _ := time.Parse(time.DateOnly, day)
				return lines("user_id,time,title", 20, func(i int) string {
					return fmt.Sprintf("%s%d.5,%s,%d.25", c.prefix, i%7, at.Add(time.Duration(i)*time.Minute).Format(time.DateTime), i)
				})
			}
			for _, day := range []string{"2014-09-24", "2014-09-25", "2014-09-26"} {
				world{}.store(t, filepath.Join(dir, "logs", "play-"+day+".csv"), text(day))
			}
			for _, name := range c.copies {
				name, ending, _ := strings.Cut(name, " ")
				day := strings.TrimSuffix(name, ".csv")
				world{ending: ending}.store(t, filepath.Join(dir, "logs", name+ending), text(day[len(day)-len(time.DateOnly):]))
			}
			d := makeDraft(t, dir)
			if incomplete := d.Problem != nil; incomplete != (c.prefix == "") {
				t.Errorf("the draft is incomplete: %t\n%s", incomplete, d.Text)
			}
			got := ""
			for _, u := range d.Unsure {
				if strings.Contains(u, "by their names") {
					got = u
				}
			}
			if c.want != "" {
				c.want = "logs.path: " + c.want + ": a load reads both, and each event twice; remove one of the two, or write the path so that it matches only one"
			}
			if got != c.want || c.want != "" && !strings.Contains(d.Text, "# unsure: "+strings.TrimPrefix(c.want, "logs.path: ")+"\n") {
				t.Errorf("got %q, want %q\n%s", got, c.want, d.Text)
			}
		})
	}
}
