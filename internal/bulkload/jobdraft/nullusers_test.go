package jobdraft_test

import (
	"fmt"
	"strings"
	"testing"

	"usertrail/internal/bulkload/jobdraft"
)

// TestTextsForNullThatAPatternSelectsAreNoUsers drafts jobs of logs with the user inside a text. Guests have a text for null in
// place of it. The draft lists the text under nulls, as for a column that is the user.
func TestTextsForNullThatAPatternSelectsAreNoUsers(t *testing.T) {
	for _, c := range []struct {
		guest       string
		every       int // one record of so many is of a guest
		user        string
		nulls, skip string
	}{
		{"null", 3, "u%03d", `  nulls: ["null"]`, ", empty: skip"},
		{"None", 3, "u%03d", "  nulls: [None]", ", empty: skip"},
		{"-", 3, "u%03d", `  nulls: ["-"]`, ", empty: skip"},
		{"unknown", 3, "u%03d", "", ""},
		{"unknown", 3, "%d", "  nulls: [unknown]", ", empty: skip"},
		{"null", 300, "u%03d", `  nulls: ["null"]`, ""},
		{"-", 300, "u%03d", "", ""},
		{"u000", 3, "u%03d", "", ""},
	} {
		for _, json := range []bool{false, true} {
			t.Run(fmt.Sprint(c.guest, c.every, c.user, json), func(t *testing.T) {
				name := "app.log"
				text := lines("", 900, func(i int) string {
					user := fmt.Sprintf(c.user, i%70)
					if i%c.every == c.every/2 {
						user = c.guest
					}
					at := fmt.Sprintf("2014-12-31 10:%02d:%02d", i/60, i%60)
					if json {
						return fmt.Sprintf(`{"time":%q,"msg":"user=%s took=%d","action":%q}`, at, user, i%50, []string{"play", "buy"}[i%2])
					}
					return fmt.Sprintf("%s INFO [main] user=%s action=%s took=%d", at, user, []string{"play", "buy"}[i%2], i%50)
				})
				if json {
					name = "app.jsonl"
				}
				d := draftOf(t, name, text, jobdraft.Config{Zone: "UTC"})
				nulls, user := "", ""
				for line := range strings.Lines(d.Text) {
					line, _, _ = strings.Cut(strings.TrimRight(line, "\n"), " #")
					if strings.HasPrefix(line, "  nulls:") {
						nulls = line
					}
					if strings.HasPrefix(line, "user:") {
						user = line
					}
				}
				if nulls != c.nulls || !strings.HasSuffix(user, `user=([^ &;,\"]+)"`+c.skip+"}") {
					t.Errorf("the draft has %q and %q\n%s", nulls, user, d.Text)
				}
				if c.nulls != "" && strings.Contains(d.Text, "such as "+c.guest+",") {
					t.Errorf("the text for null is an example of a user\n%s", d.Text)
				}
			})
		}
	}
}
