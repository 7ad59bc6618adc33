package jobdraft_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload/jobdraft"
	"usertrail/internal/format/job"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// draftOf drafts the job of one file.
func draftOf(t *testing.T, name, text string, cfg jobdraft.Config) *jobdraft.Draft {
	t.Helper()
	dir := t.TempDir()
	logs := filepath.Join(dir, name)
	testkit.WriteFile(t, logs, text)
	cfg.FS, cfg.Logs, cfg.Name = local.New(), logs, filepath.Join(dir, "usertrail.yaml")
	d, err := jobdraft.Make(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestALongFileIsSampledAtItsEndToo drafts a job of a file whose kinds change on the way.
func TestALongFileIsSampledAtItsEndToo(t *testing.T) {
	var b strings.Builder
	b.WriteString("user_id,time,event\n")
	for i := range 9000 {
		fmt.Fprintf(&b, "u%03d,2014-09-01 %02d:%02d:%02d,%s\n", i%90, i/3600, i/60%60, i%60, []string{"open", "read", "close"}[i/3000])
	}
	d := draftOf(t, "log.csv", b.String(), jobdraft.Config{})
	if want := []string{"close", "open", "read"}; !slices.Equal(d.Behaviours, want) || d.Read < 900 || d.Read > 1000 || d.Bad > 0 || d.Skipped > 0 {
		t.Errorf("%v of %d records, %d bad, %d skipped; want %v\n%s", d.Behaviours, d.Read, d.Bad, d.Skipped, want, d.Text)
	}
}

// TestMoreRecordsShowMoreKinds collects the behaviours over all records that are read.
func TestMoreRecordsShowMoreKinds(t *testing.T) {
	var b strings.Builder
	for i := range 20_000 {
		event := "view"
		if i%5000 == 3777 {
			event = fmt.Sprintf("rare%d", i/5000)
		}
		fmt.Fprintf(&b, `{"uid":"u%03d","ts":%d,"event":%q,"note":%q}`+"\n", i%90, 1409536800+i, event, strings.Repeat("x", 100))
	}
	d := draftOf(t, "log.jsonl", b.String(), jobdraft.Config{Records: 50_000, Zone: "UTC"})
	if len(d.Behaviours) != 5 || d.Read != 20_000 || d.Good != d.Read {
		t.Errorf("%v of %d records, %d good; want five", d.Behaviours, d.Read, d.Good)
	}
}

// TestADraftAllowsBadRecordsOfAKnownReason sets max_bad from the sample, and a load of the
// file keeps to it.
func TestADraftAllowsBadRecordsOfAKnownReason(t *testing.T) {
	for _, c := range []struct {
		every int // one line in so many is cut
		want  string
	}{{200, ""}, {40, "5%"}, {10, "15%"}, {2, ""}} {
		var b strings.Builder
		b.WriteString("user_id,time,n\n")
		for i := range 400 {
			if i%c.every == c.every-1 {
				b.WriteString("u1,2014\n")
			} else {
				fmt.Fprintf(&b, "u%02d,2014-09-01 10:%02d:%02d,%d\n", i%30, i/60, i%60, i)
			}
		}
		d := draftOf(t, "log.csv", b.String(), jobdraft.Config{Zone: "UTC"})
		j, err := job.Parse("usertrail.yaml", []byte(d.Text))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(d.Text, "max_bad: "+c.want+" # bad records of the sample: wrong width"); got != (c.want != "") || d.Bad != int64(400/c.every) {
			t.Errorf("one in %d: %d bad\n%s", c.every, d.Bad, d.Text)
		}
		if c.want != "" && j.MaxBad.Exceeded(d.Read, d.Bad) {
			t.Errorf("one in %d: a load would refuse the file:\n%s", c.every, d.Text)
		}
	}
}

// TestAnInsertedColumnIsNotLoaded drafts the job of a log without a header. In the log of the next day, a column is
// inserted before the user. With the draft, its records are bad, and nobody is loaded as another user.
func TestAnInsertedColumnIsNotLoaded(t *testing.T) {
	write := func(inserted string) string {
		var b strings.Builder
		for i := range 200 {
			fmt.Fprintf(&b, "2014-09-01 10:%02d:%02d,%sapp_%02d,10.0.0.%d\n", i/60, i%60, inserted, i%40, i%17)
		}
		return b.String()
	}
	d := draftOf(t, "log.csv", write(""), jobdraft.Config{Zone: "UTC"})
	if d.Good != 200 || d.Bad != 0 {
		t.Fatalf("%d good, %d bad\n%s", d.Good, d.Bad, d.Text)
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "log.csv")
	testkit.WriteFile(t, name, write("shop_1,"))
	j, err := job.Parse(filepath.Join(dir, "usertrail.yaml"), []byte(regexp.MustCompile(`path: .*`).ReplaceAllString(d.Text, "path: log.csv")))
	if err != nil {
		t.Fatal(err)
	}
	if got := loads(t, j); got.bad != 200 || !got.refused {
		t.Errorf("%d of %d records are bad, refused %t\n%s", got.bad, got.read, got.refused, d.Text)
	}
}

// TestRareTextsForNullAreNoUsers drafts the job of a log in which few records have null, None or undefined in place of the
// user. The draft leaves the same texts in other columns.
func TestRareTextsForNullAreNoUsers(t *testing.T) {
	for _, user := range []bool{true, false} {
		var b strings.Builder
		for i := range 900 {
			id, note := fmt.Sprintf("u%02d", i%40), fmt.Sprintf("note %d", i)
			if i%300 == 200 {
				text := []string{"null", "None", "undefined"}[i/300]
				if user {
					id = text
				} else {
					note = text
				}
			}
			fmt.Fprintf(&b, `{"user_id":%q,"time":"2014-09-01 10:%02d:%02d","note":%q}`+"\n", id, i/60, i%60, note)
		}
		d := draftOf(t, "log.jsonl", b.String(), jobdraft.Config{Zone: "UTC"})
		const nulls = "  nulls: [None, \"null\", undefined] # unsure: these texts mean null in every column\n"
		if strings.Contains(d.Text, nulls) != user || !user && strings.Contains(d.Text, "nulls:") {
			t.Errorf("null in place of the user is %t\n%s", user, d.Text)
		}
		if want := map[bool]int64{true: 3}[user]; d.Bad != want || d.Good != 900-want || !strings.Contains(d.Text, "\nuser: user_id\n") {
			t.Errorf("null in place of the user is %t: %d good, %d bad, want %d\n%s", user, d.Good, d.Bad, want, d.Text)
		}
	}
}

// TestAnswersAreTaken asks every question that a log without names leaves open.
func TestAnswersAreTaken(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "%d|%d|%d|09-0%d 10:%02d:%02d\n", 500+i%40, 7000+i%70, i%3, 1+i%3, i/60, i%60)
	}
	var asked []string
	answers := map[string][]string{"behaviour": {"$9", "$3"}, "user": {"nobody", "$2"}, "zone": {"Shanghai", "Asia/Shanghai"}, "year": {"last", "2014"}}
	d := draftOf(t, "log.txt", b.String(), jobdraft.Config{Ask: func(q jobdraft.Question) (string, error) {
		if (q.Wrong != "") != (slices.Contains(asked, q.Key)) {
			t.Errorf("%s: asked with %q", q.Key, q.Wrong)
		}
		asked = append(asked, q.Key)
		if len(answers[q.Key]) == 0 {
			t.Fatalf("%s is asked once more", q.Key)
		}
		answer := answers[q.Key][0]
		answers[q.Key] = answers[q.Key][1:]
		return answer, nil
	}})
	if want := []string{"behaviour", "behaviour", "user", "user", "zone", "zone", "year", "year"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %v, want %v", asked, want)
	}
	for _, want := range []string{`column: "$3"`, `user: "$2"`, "zone: Asia/Shanghai", "year: 2014"} {
		if !strings.Contains(d.Text, want) {
			t.Errorf("the draft lacks %s:\n%s", want, d.Text)
		}
	}
	if d.Problem != nil || d.Good != 300 || strings.Contains(d.Text, "unsure") {
		t.Errorf("%v, %d good\n%s", d.Problem, d.Good, d.Text)
	}
}
