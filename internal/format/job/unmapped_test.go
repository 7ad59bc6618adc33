package job_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/job"
	"usertrail/internal/store/dfs/local"
)

// TestUnmappedListsFewFolders has 60 folders that name no behaviour, each with two folders of days. The folders of all texts are listed
// before the folders of days.
func TestUnmappedListsFewFolders(t *testing.T) {
	root := t.TempDir()
	names := []string{"logs/play/2014-09-01/a.csv"}
	for i := range 60 {
		names = append(names, fmt.Sprintf("logs/other%02d/2014-09-01/a.csv", i), fmt.Sprintf("logs/other%02d/2014-09-02/a.csv", i))
	}
	tree(t, root, strings.Join(names, " "))
	j, err := job.Parse(root+"/job.yaml", []byte("logs: logs/{behaviour}/{date}/*.csv\nbehaviours: {play: {id: 1}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		to    string
		files int
	}{{"2014-09-01", 40}, {"2014-09-02", 40}} {
		counted := &lister{FS: local.New()}
		found, err := j.Find(t.Context(), counted, behaviour.Span{From: date(t, "2014-09-01"), To: date(t, c.to)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		lists := counted.lists
		others, err := found.Unmapped(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n := counted.lists - lists; lists != 3 || n != 100 || others.Files() != c.files || !others.More {
			t.Errorf("to %s: Find listed %d folders and Unmapped %d, %d files, more: %t; want 3, 100, %d, true", c.to, lists, n, others.Files(), others.More, c.files)
		}
	}
}

// TestUnmappedFilesOfSeveralDays adds the files of another day with the same text, and once more the same files.
func TestUnmappedFilesOfSeveralDays(t *testing.T) {
	parse := func(s string) *job.UnmappedFiles {
		u := new(job.UnmappedFiles)
		if err := json.Unmarshal([]byte(s), u); err != nil {
			t.Fatal(err)
		}
		return u
	}
	u := new(job.UnmappedFiles)
	for _, s := range []string{
		`[{"text":"a","files":2,"example":"a/1"}]`, `[{"text":"a","files":2,"example":"a/1"}]`, `[{"text":"a","files":1,"example":"a/2"},{"text":"b","files":5,"example":"b/2"}]`,
	} {
		u.Merge(parse(s))
	}
	got, err := json.Marshal(u)
	if want := `[{"text":"b","files":5,"example":"b/2"},{"text":"a","files":3,"example":"a/1"}]`; string(got) != want || err != nil {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}
