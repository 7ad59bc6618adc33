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

// TestTimesOfUsualPrograms drafts jobs of logs whose times are written as programs usually write them. The draft reads each.
func TestTimesOfUsualPrograms(t *testing.T) {
	for _, layout := range []string{
		"02-Jan-2006 03:04 PM", "02-Jan-2006 15:04", "02-Jan-2006 03:04:05 PM", "2006-01-02 03:04:05 PM", "2006-01-02 03:04 PM",
		"02 January 2006 15:04", "2 January 2006 15:04:05", "02 Jan 2006 15:04",
		"Jan 02, 2006 03:04 PM", "Jan 2, 2006, 3:04:05 PM", "Jan 2, 2006 15:04", "January 2, 2006 3:04 PM",
		"2006-01-02-15.04.05", "2006-01-02-15.04.05.000000", "02-Jan-06 03.04.05.000000 PM",
		"Monday, January 02, 2006 03:04 PM", "02/01/2006 15h04", "2006/01/02 15.04.05", "15:04 02/01/2006", "15:04:05 01/02/2006",
	} {
		for _, month := range []time.Month{time.May, time.December} {
			t.Run(fmt.Sprint(layout, month), func(t *testing.T) {
				dir, r := t.TempDir(), rand.New(rand.NewPCG(1, 2))
				day := time.Date(2014, month, 27, 0, 0, 0, 0, time.UTC)
				var want []int64
				testkit.WriteFile(t, filepath.Join(dir, "logs", day.Format("play-2006-01-02.csv")), lines("user_id,time,n", 200, func(i int) string {
					at := day.Add(time.Duration(r.IntN(86400)) * time.Second)
					text := at.Format(layout)
					if strings.HasPrefix(layout, "02-Jan-06") {
						text = strings.ToUpper(text)
					}
					read, _ := time.Parse(layout, at.Format(layout))
					want = append(want, read.UnixMicro())
					return fmt.Sprintf("u%d,%q,%d", r.IntN(80), text, i)
				}))
				d := makeDraft(t, dir)
				j := jobOf(t, dir, d)
				got := loads(t, j)
				if got.bad > 0 || len(got.events) != len(want) {
					t.Fatalf("%d records, %d bad\n%s", len(got.events), got.bad, d.Text)
				}
				for i, e := range got.events {
					if at := strings.Split(e, "\x00")[2]; at != fmt.Sprint(want[i]) {
						t.Fatalf("record %d is of %s, want %d\n%s", i, at, want[i], d.Text)
					}
				}
				both := strings.Contains(layout, "January") && !strings.Contains(layout, "Monday") || layout == "02 Jan 2006 15:04" || layout == "Jan 02, 2006 03:04 PM" || layout == "Jan 2, 2006 15:04"
				if told := strings.Contains(d.Text, "May is the short and the long name of the month"); told != (both && month == time.May) {
					t.Errorf("the comment on May is there: %t\n%s", told, d.Text)
				}
			})
		}
	}
}
