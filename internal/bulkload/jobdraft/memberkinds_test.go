package jobdraft_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"usertrail/internal/bulkload/jobdraft"
	"usertrail/internal/format/job"
)

// TestObjectsOfWhichEachRecordHasOneMayBeTheBehaviours drafts jobs of logs in JSON. If each record has one of several objects,
// the comment has a pattern that reads their names as the behaviours.
func TestObjectsOfWhichEachRecordHasOneMayBeTheBehaviours(t *testing.T) {
	one := map[string]any{"n": 1}
	for _, c := range []struct {
		name   string
		record func(i int) []any
		told   bool
	}{
		{"one of two", func(i int) []any { return []any{[]string{"login", "match"}[i%2], one} }, true},
		{"one of two, with null for the other", func(i int) []any {
			return []any{[]string{"login", "match"}[i%2], one, []string{"match", "login"}[i%2], (*int)(nil)}
		}, true},
		{"few records have none", func(i int) []any {
			if i == 7 {
				return nil
			}
			return []any{[]string{"login", "match"}[i%2], one}
		}, true},
		{"one object in all", func(int) []any { return []any{"login", one} }, false},
		{"two objects in some", func(i int) []any {
			if i%9 == 0 {
				return []any{"login", one, "match", one}
			}
			return []any{[]string{"login", "match"}[i%2], one}
		}, false},
		{"an object in half of the records", func(i int) []any {
			if i%2 == 0 {
				return nil
			}
			return []any{"geo", one}
		}, false},
		{"an object for each user", func(i int) []any { return []any{fmt.Sprint("m", i), one} }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			name := filepath.Join(dir, "logs", "2014-09-01.jsonl")
			world{}.store(t, name, lines("", 300, func(i int) string {
				at := fmt.Sprintf("2014-09-01 %02d:%02d:00", i/60, i%60)
				return object(append([]any{"ts", at, "player", map[string]any{"id": fmt.Sprintf("p%d", i%40)}}, c.record(i)...)...)
			}))
			d := makeDraft(t, dir)
			if told := strings.Contains(strings.Join(d.Unsure, "\n"), "behaviours: all records are one behaviour, but each has one of the objects login, match:"); told != c.told {
				t.Fatalf("the comment is there: %t\n%s", told, d.Text)
			}
			if c.told {
				checkMembers(t, dir, d)
			}
		})
	}
}

// checkMembers follows the comment of a draft, and reads the logs by the job.
func checkMembers(t *testing.T, dir string, d *jobdraft.Draft) {
	t.Helper()
	line := regexp.MustCompile(`behaviour: \{column.*\}`).FindString(d.Text)
	logs, _, _ := strings.Cut(d.Text, "\nbehaviours:")
	text := strings.Replace(logs, "logs:\n", "logs:\n  "+line+"\n", 1) + "\nbehaviours:\n  login: {id: 1}\n  match: {id: 2}\n"
	j, err := job.Parse(filepath.Join(dir, "usertrail.yaml"), []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	got := loads(t, j)
	n := map[string]int{}
	for _, e := range got.events {
		user, _, _ := strings.Cut(e, "\x00")
		n[user]++
	}
	if len(n) != 2 || n["login"] < 149 || n["match"] < 149 {
		t.Errorf("the job reads %v\n%s", n, text)
	}
}
