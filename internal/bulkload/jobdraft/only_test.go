package jobdraft_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/jobdraft"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// TestFilesOfTwoJobsHaveDifferentNamesInATable drafts two jobs of one folder, as init prints the commands. A file is known by
// its path below the root of its job, and so both roots must be the folder of the logs.
func TestFilesOfTwoJobsHaveDifferentNamesInATable(t *testing.T) {
	for _, c := range []struct {
		web, app string   // the folders of the logs of both jobs
		paths    []string // of both jobs
		names    []string // of both files
	}{
		{"web", "app", []string{"logs/[a]pp/{date}.log", "logs/[w]eb/{date}.log"}, []string{"app/2014-09-01.log", "web/2014-09-01.log"}},
		{"日志", "+a", []string{"logs/+[a]/{date}.log", "logs/[日]志/{date}.log"}, []string{"+a/2014-09-01.log", "日志/2014-09-01.log"}},
		{"eu/web", "eu/app", []string{"logs/[e]u/app/{date}.log", "logs/[e]u/web/{date}.log"}, []string{"eu/app/2014-09-01.log", "eu/web/2014-09-01.log"}},
	} {
		t.Run(c.web, func(t *testing.T) {
			dir := t.TempDir()
			write := func(folder, header, format string) {
				testkit.WriteFile(t, filepath.Join(dir, "logs", folder, "2014-09-01.log"), lines(header, 200, func(i int) string {
					return fmt.Sprintf(format, fmt.Sprintf("2014-09-01 %02d:00:00", i%24), fmt.Sprintf("u%d", i%40), []string{"view", "buy"}[i%2])
				}))
			}
			write(c.app, "", `{"time":%q,"user_id":%q,"event":%q}`)
			write(c.web, "time;user_id;event", "%s;%s;%s")
			cfg := jobdraft.Config{FS: local.New(), Logs: filepath.Join(dir, "logs"), Name: filepath.Join(dir, "usertrail.yaml"), Zone: "UTC"}
			var paths, names []string
			for range 2 {
				d, err := jobdraft.Make(t.Context(), cfg)
				if err != nil {
					t.Fatal(err)
				}
				j := jobOf(t, dir, d)
				found, err := j.Find(t.Context(), local.New(), behaviour.Span{From: behaviour.DateOf(2014, 9, 1), To: behaviour.DateOf(2014, 9, 1)}, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, in := range found.Inputs {
					names = append(names, in.Rel)
				}
				paths = append(paths, pathOf(dir, d))
				if len(d.Others) > 0 {
					cfg.Only = d.Others[0].Only
				}
			}
			slices.Sort(paths)
			slices.Sort(names)
			if !slices.Equal(paths, c.paths) || !slices.Equal(names, c.names) {
				t.Errorf("the paths are %q and the names %q, want %q and %q", paths, names, c.paths, c.names)
			}
		})
	}
}
