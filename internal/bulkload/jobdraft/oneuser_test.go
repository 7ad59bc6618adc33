package jobdraft_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload/jobdraft"
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

// TestAUserThatManyRecordsLackIsAGuess drafts jobs of logs with two columns for users. The draft skips the records without the
// first one, and is unsure if these are many, or if they have the second one.
func TestAUserThatManyRecordsLackIsAGuess(t *testing.T) {
	for _, c := range []struct {
		name   string
		of     int // one record of so many has no user
		second string
		want   string
	}{
		{"half have a member", 2, "member", "300 of 600 records have none, and a load skips them; most of these have member (30 texts in 300 records, such as "},
		{"a fifth have a member", 5, "member", "120 of 600 records have none, and a load skips them; most of these have member ("},
		{"half have nothing", 2, "", "300 of 600 records have none, and a load skips them"},
		{"half have a session", 2, "session_id", "300 of 600 records have none, and a load skips them"},
		{"a fifth are guests", 5, "", ""},
		{"a few are guests", 300, "member", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			header := "time,visitor,event"
			if c.second != "" {
				header += "," + c.second
			}
			d := draftOf(t, "2014-09-01.csv", lines(header, 600, func(i int) string {
				user, second := fmt.Sprintf("v%06x", i*7919%299), ""
				if i%c.of == c.of-1 {
					user, second = "", fmt.Sprintf("%06d", i/c.of%30)
				}
				line := fmt.Sprintf("2014-09-01 %02d:%02d:00,%s,%s", i/60, i%60, user, []string{"login", "view"}[i/7%2])
				if c.second != "" {
					line += "," + second
				}
				return line
			}), jobdraft.Config{Zone: "UTC"})
			got := ""
			for _, u := range d.Unsure {
				if strings.HasPrefix(u, "user: ") {
					got = u
				}
			}
			if got != "" && !strings.HasPrefix(got, "user: a guess: ") || (got == "") != (c.want == "") || !strings.Contains(got, c.want) || strings.Contains(got, "most of these") != (c.second == "member" && c.want != "") {
				t.Errorf("the comment is %q, want %q\n%s", got, c.want, d.Text)
			}
		})
	}
}

// TestAQuestionForTheUserOffersTheOtherColumn asks for the user of a log of which half have another column. The answer is the user.
func TestAQuestionForTheUserOffersTheOtherColumn(t *testing.T) {
	var choices []string
	d := draftOf(t, "2014-09-01.csv", lines("time,member,visitor,event", 600, func(i int) string {
		users := []string{fmt.Sprintf("%06d,", i/2%30), fmt.Sprintf(",v%06x", i*7919%299)}
		return fmt.Sprintf("2014-09-01 %02d:%02d:00,%s,%s", i/60, i%60, users[i%2], []string{"login", "view"}[i/7%2])
	}), jobdraft.Config{Zone: "UTC", Ask: func(q jobdraft.Question) (string, error) {
		if q.Key != "user" {
			return "", nil
		}
		for _, c := range q.Choices {
			choices = append(choices, c.Value)
		}
		return "member", nil
	}})
	if !slices.Equal(choices, []string{"visitor", "member"}) || !strings.Contains(d.Text, "\nuser: {column: member, empty: skip}\n") {
		t.Errorf("the choices are %q\n%s", choices, d.Text)
	}
}
