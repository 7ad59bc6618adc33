package jobdraft_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/test/testkit"
)

// TestAColumnOfOneUserIsNotTheUser: nearly all records have the account of the service in the column user. The
// draft chooses another column, unless there is none.
func TestAColumnOfOneUserIsNotTheUser(t *testing.T) {
	for _, c := range []struct{ other, want string }{{"member", "member"}, {"", "user"}} {
		dir := t.TempDir()
		var text strings.Builder
		text.WriteString("time,user,page")
		if c.other != "" {
			text.WriteString("," + c.other)
		}
		text.WriteString("\n")
		for i := range 200 {
			user := "service"
			if i%80 == 79 {
				user = fmt.Sprint("u", i)
			}
			fmt.Fprintf(&text, "2014-09-01 10:%02d:%02d,%s,/p%d", i/60, i%60, user, i%9)
			if c.other != "" {
				fmt.Fprintf(&text, ",m%d", 100+i%23)
			}
			text.WriteString("\n")
		}
		name := filepath.Join(dir, "logs", "2014-09-01", "visit.csv")
		testkit.WriteFile(t, name, text.String())
		d := makeDraft(t, dir)
		j := jobOf(t, dir, d)
		if got := j.Format.Kinds[0].User.Name; got != c.want {
			t.Errorf("the user is %s, want %s\n%s", got, c.want, d.Text)
		}
	}
}
