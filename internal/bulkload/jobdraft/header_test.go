package jobdraft_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/test/testkit"
)

// TestAHeaderMayHaveAnEmptyName drafts jobs of logs whose header has one column without a name, as to_csv of pandas
// writes it. A log without a header, whose first line has an empty column, has none.
func TestAHeaderMayHaveAnEmptyName(t *testing.T) {
	for _, c := range []struct {
		header, line, leftOut string // line with the number of the user, of the record and of a second
	}{
		{",user_id,time,fee,event", "%[2]d,u%[1]d,2014-09-01 10:00:%02[3]d,%[1]d.5,play", "$1"},
		{",card,stamp,fee,event", "%[2]d,u%[1]d,2014-09-01 10:00:%02[3]d,%[1]d.5,play", "$1"},
		{"n,user_id,time,fee,event,", "%[2]d,u%[1]d,2014-09-01 10:00:%02[3]d,%[1]d.5,play,", "$6"},
		{"user_id,time,,fee", "u%[1]d,2014-09-01 10:00:%02[3]d,x%[2]d,%[1]d.5", "$3"},
	} {
		t.Run(c.header, func(t *testing.T) {
			dir := t.TempDir()
			testkit.WriteFile(t, filepath.Join(dir, "logs", "2014-09-01.csv"), lines(c.header, 300, func(i int) string {
				return fmt.Sprintf(c.line, i%40, i, i%60)
			}))
			d := makeDraft(t, dir)
			want := "    # without a name in the header, and so left out: " + c.leftOut + "\n"
			if d.Problem != nil || d.Good != 300 || d.Bad > 0 || strings.Contains(d.Text, "header: false") || !strings.Contains(d.Text, want) || strings.Contains(d.Text, `column: ""`) {
				t.Errorf("%v %+v\n%s", d.Problem, d.Summary, d.Text)
			}
			if slices.ContainsFunc(d.Unsure, func(u string) bool { return strings.HasPrefix(u, "logs.format") }) {
				t.Errorf("%q", d.Unsure)
			}
		})
	}
	dir := t.TempDir()
	testkit.WriteFile(t, filepath.Join(dir, "logs", "2014-09-01.csv"), lines("", 300, func(i int) string {
		price := ""
		if i%3 > 0 {
			price = "1.5"
		}
		return fmt.Sprintf("u%d,play,%s,Mon 1 Sep", i%40, price)
	}))
	if d := makeDraft(t, dir); !strings.Contains(d.Text, "header: false") {
		t.Errorf("a log without a header\n%s", d.Text)
	}
}

// TestARepeatedHeaderIsNoRecordOfTheDraft drafts jobs of logs that were joined with their headers. The names of the columns are
// no behaviours, no users and no values of fields.
func TestARepeatedHeaderIsNoRecordOfTheDraft(t *testing.T) {
	for _, c := range []struct {
		name  string
		every int // records between two headers
	}{{"two logs", 150}, {"a log for each hour", 10}} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			header := "time,user_id,event,room"
			for day := range 3 {
				testkit.WriteFile(t, filepath.Join(dir, "logs", fmt.Sprintf("2014-09-%02d.csv", day+1)), lines(header, 300, func(i int) string {
					line := fmt.Sprintf("2014-09-%02d %02d:%02d:00,%06d,%s,%d", day+1, i/15, i%60, i*7%90, []string{"in", "out"}[i%2], i)
					if i%c.every == 0 && i > 0 {
						return header + "\n" + line
					}
					return line
				}))
			}
			d := makeDraft(t, dir)
			if !slices.Equal(d.Behaviours, []string{"in", "out"}) || !strings.Contains(d.Text, "\n  room: int64\n") || !strings.Contains(d.Text, "\ntime: time\n") {
				t.Errorf("the behaviours are %q\n%s", d.Behaviours, d.Text)
			}
		})
	}
}
