package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/jobdraft"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/samplelog"
	"usertrail/internal/format/job"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/files"
	"usertrail/internal/test/document"
	"usertrail/internal/test/testkit"
)

// loadDraft drafts a job from logs and loads all logs with it.
func loadDraft(t *testing.T, logs, zone, dir string, s behaviour.Span) bulkload.Result {
	t.Helper()
	disk := local.New()
	d, err := jobdraft.Make(t.Context(), jobdraft.Config{FS: disk, Logs: logs, Name: filepath.Join(dir, "usertrail.yaml"), Zone: zone})
	if err != nil {
		t.Fatal(err)
	}
	if d.Problem != nil || d.Good != d.Read || d.SkippedFiles > 0 {
		t.Errorf("%+v, %v\n%s", d.Summary, d.Problem, d.Text)
	}
	j, err := job.Parse(filepath.Join(dir, "usertrail.yaml"), []byte(d.Text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := load.Run(t.Context(), load.Config{
		Resources: bulkload.Resources{FS: disk, Store: files.Store{FS: disk, Dir: filepath.Join(dir, "trails")}, Workers: 2, Temp: filepath.Join(dir, "trails", catalog.TempName), Progress: progress.Config{Quiet: true}},
		Job:       j, Span: s,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestDraftsOfTheRealLogsGiveTheRightResults loads tables with drafted jobs, and compares
// their content with the numbers in data/README.md.
func TestDraftsOfTheRealLogsGiveTheRightResults(t *testing.T) {
	for _, c := range []struct {
		logs, zone, from, to  string
		types                 []string
		loaded                int64
		found, active, events int64
	}{
		{"journey", "America/New_York", "2016-11-14", "2017-12-31", []string{"purchase", "coupon_redeemed", "campaign_received"}, 75_000 + 2_102 + 6_589, 2_379, 410, 30_074},
		{"launch", "UTC", "2016-05-01", "2016-05-10", []string{"gameStarted", "newPlayer"}, 9_829, 2_702, 2_003, 8_713},
	} {
		t.Run(c.logs, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := span(t, c.from, c.to)
			loaded := loadDraft(t, filepath.Join(testkit.Shared(t, "data/logs"), c.logs), c.zone, dir, s)
			if loaded.Quarantined != 0 || c.logs == "journey" && loaded.Loaded != c.loaded {
				t.Errorf("loaded %d, %d bad; want %d", loaded.Loaded, loaded.Quarantined, c.loaded)
			}
			r := extractAll(t, filepath.Join(dir, "trails"), filepath.Join(dir, "out"), s, c.types, "all")
			if r.Found != c.found || r.Active != c.active || r.Events != c.events {
				t.Errorf("found %d, active %d, events %d; want %d, %d, %d", r.Found, r.Active, r.Events, c.found, c.active, c.events)
			}
		})
	}
}

// TestADraftOfTheSampleLoadsWhatItsJobLoads compares a draft with jobs/settopbox.yaml,
// including bad records.
func TestADraftOfTheSampleLoadsWhatItsJobLoads(t *testing.T) {
	dir := t.TempDir()
	logs := filepath.Join(dir, "logs")
	cfg := samplelog.Config{Records: 20_000, Days: 4, Bad: 0.005, Compress: "gz"}
	if _, err := samplelog.Write(t.Context(), local.New(), logs, cfg); err != nil {
		t.Fatal(err)
	}
	s := behaviour.Span{From: samplelog.DefaultFrom, To: samplelog.DefaultFrom + 4}
	d, err := jobdraft.Make(t.Context(), jobdraft.Config{FS: local.New(), Logs: logs, Name: filepath.Join(dir, "usertrail.yaml"), Zone: samplelog.Zone})
	if err != nil {
		t.Fatal(err)
	}
	if d.Bad == 0 || d.Bad*100 > d.Read || len(d.Unsure) > 0 {
		t.Errorf("%+v\n%s", d.Summary, d.Text)
	}
	j, err := job.Parse(filepath.Join(dir, "usertrail.yaml"), []byte(d.Text))
	if err != nil {
		t.Fatal(err)
	}
	disk := local.New()
	got, err := load.Run(t.Context(), load.Config{
		Resources: bulkload.Resources{FS: disk, Store: files.Store{FS: disk, Dir: filepath.Join(dir, "drafted")}, Workers: 2, Temp: filepath.Join(dir, "drafted", catalog.TempName), Progress: progress.Config{Quiet: true}},
		Job:       j, Span: s,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := loadJob(t, "settopbox.yaml", "../demo/logs/{date}/{behaviour}.csv", logs+"/{date}/{behaviour}.csv.gz", filepath.Join(dir, "right"), s)
	if got.Counts != want.Counts || got.Cells != want.Cells {
		t.Errorf("the draft loads %+v, %d cells; its job %+v, %d cells", got.Counts, got.Cells, want.Counts, want.Cells)
	}
	types := []string{"play", "order", "visit", "login"}
	a := extractAll(t, filepath.Join(dir, "drafted"), filepath.Join(dir, "a"), s, types, "min:3")
	b := extractAll(t, filepath.Join(dir, "right"), filepath.Join(dir, "b"), s, types, "min:3")
	if a.Active != b.Active || a.Events != b.Events || a.Events == 0 {
		t.Errorf("by the draft %d users with %d behaviours, by the job %d with %d", a.Active, a.Events, b.Active, b.Events)
	}
}

// TestFirstNightRuns runs docs/tutorial/first-night.md in the clone in which README's demo ran, and
// compares the output.
func TestFirstNightRuns(t *testing.T) {
	dir, _ := readmeRun(t)
	text := document.Read(t, "docs/tutorial/first-night.md")
	var said strings.Builder
	for _, m := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```").FindAllStringSubmatch(text, -1) {
		c := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", m[1])
		c.Dir, c.Env = dir, append(os.Environ(), "LC_ALL=C")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("docs/tutorial/first-night.md's\n%s\nends with %v:\n%s", m[1], err, out)
		}
		said.Write(out)
	}
	for _, language := range []string{"text", "yaml"} {
		for _, shown := range document.Blocks(t, text, language) {
			if !strings.Contains(said.String(), shown) {
				t.Errorf("docs/tutorial/first-night.md shows\n%s\nand its commands say\n%s", shown, said.String())
			}
		}
	}
	for _, name := range []string{"both/_SUCCESS", "trails/manifest.json"} {
		if _, err := os.Stat(filepath.Join(dir, "demo", "first", filepath.FromSlash(name))); err != nil {
			t.Errorf("the job by hand left no %s: %v", name, err)
		}
	}
}
