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

// TestMillisecondsAfterACommaAreRead drafts jobs of logs of log4j and of logging of Python. A comma before the milliseconds is
// no delimiter. A comma before another column is one.
func TestMillisecondsAfterACommaAreRead(t *testing.T) {
	words := []string{"cache", "hit", "for", "the", "order", "of", "a", "friend"}
	for _, c := range []struct {
		name, layout string
		millis       bool
		user         string
		line         func(r *rand.Rand, at, user, action string) string
	}{
		{"log4j", "2006-01-02 15:04:05,000", true, `{column: "$5", pattern: `, func(_ *rand.Rand, at, user, action string) string {
			return fmt.Sprintf("%s INFO  [main] user=%s action=%s", at, user, action)
		}},
		{"python", "2006-01-02 15:04:05,000", true, `{column: "$8", pattern: `, func(_ *rand.Rand, at, user, action string) string {
			return fmt.Sprintf("%s - root - INFO - user=%s action=%s", at, user, action)
		}},
		{"with a T", "2006-01-02T15:04:05,000", true, `{column: "$3", pattern: `, func(_ *rand.Rand, at, user, action string) string {
			return fmt.Sprintf("%s INFO user=%s action=%s", at, user, action)
		}},
		{"brackets", "2006-01-02 15:04:05,000", true, `{column: "$4", pattern: `, func(_ *rand.Rand, at, user, action string) string {
			return fmt.Sprintf("[%s] INFO user=%s action=%s", at, user, action)
		}},
		{"words before the user", "2006-01-02 15:04:05,000", true, `{column: $line, pattern: `, func(r *rand.Rand, at, user, action string) string {
			var some []string
			for range 1 + r.IntN(5) {
				some = append(some, words[r.IntN(len(words))])
			}
			return fmt.Sprintf("%s INFO [main] %s user=%s action=%s", at, strings.Join(some, " "), user, action)
		}},
		{"commas in the text", "2006-01-02 15:04:05,000", true, `{column: "$4", pattern: `, func(_ *rand.Rand, at, user, action string) string {
			return fmt.Sprintf("%s INFO user=%s, action=%s, took=7", at, user, action)
		}},
		{"pipes", "2006-01-02 15:04:05,000", true, `"$3"`, func(_ *rand.Rand, at, user, action string) string {
			return fmt.Sprintf("%s|INFO|%s|%s", at, user, action)
		}},
		{"a status of HTTP", "2006-01-02 15:04:05", false, `"$3"`, func(r *rand.Rand, at, user, action string) string {
			return fmt.Sprintf("%s,%s,%s,%s", at, []string{"200 OK", "304 Not Modified", "404 Not Found"}[r.IntN(3)], user, action)
		}},
		{"a number of three digits", "2006-01-02 15:04:05", false, `"$3"`, func(r *rand.Rand, at, user, action string) string {
			return fmt.Sprintf("%s,%03d,%s,%s", at, r.IntN(1000), user, action)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, r := t.TempDir(), rand.New(rand.NewPCG(1, 2))
			at := time.Date(2014, 12, 31, 0, 0, 0, 0, time.UTC)
			var want []int64
			testkit.WriteFile(t, filepath.Join(dir, "logs", "app.log.2014-12-31"), lines("", 300, func(i int) string {
				at = at.Add(time.Duration(r.IntN(100_000)) * time.Millisecond)
				read := at
				if !c.millis {
					read = at.Truncate(time.Second)
				}
				want = append(want, read.UnixMicro())
				return c.line(r, at.Format(c.layout), fmt.Sprintf("u%03d", i%70), []string{"play", "buy"}[i%2])
			}))
			d := makeDraft(t, dir)
			if !strings.Contains(d.Text, "\nuser: "+c.user) {
				t.Errorf("the user is not %s\n%s", c.user, d.Text)
			}
			got := loads(t, jobOf(t, dir, d))
			if got.bad > 0 || len(got.events) != len(want) {
				t.Fatalf("%d records, %d bad\n%s", len(got.events), got.bad, d.Text)
			}
			for i, e := range got.events {
				if at := strings.Split(e, "\x00")[2]; at != fmt.Sprint(want[i]) {
					t.Fatalf("record %d is of %s, want %d\n%s", i, at, want[i], d.Text)
				}
			}
		})
	}
}
