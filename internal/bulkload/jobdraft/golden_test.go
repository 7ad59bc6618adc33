package jobdraft_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/rogpeppe/go-internal/txtar"

	"usertrail/internal/bulkload/jobdraft"
	"usertrail/internal/format/job"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// TestDrafts prints the drafts of unusual logs. draft zone=ZONE only=PATTERN first=ID reads files in the format of
// txtar, and prints the draft, and why it is incomplete.
func TestDrafts(t *testing.T) {
	datadriven.RunTest(t, "testdata/drafts", func(t *testing.T, d *datadriven.TestData) string {
		dir := t.TempDir()
		for _, f := range txtar.Parse([]byte(d.Input)).Files {
			name := filepath.Join(dir, "logs", filepath.FromSlash(f.Name))
			testkit.WriteFile(t, name, string(f.Data))
		}
		cfg := jobdraft.Config{FS: local.New(), Logs: filepath.Join(dir, "logs"), Name: filepath.Join(dir, "usertrail.yaml")}
		d.MaybeScanArgs(t, "zone", &cfg.Zone)
		d.MaybeScanArgs(t, "first", &cfg.FirstID)
		if d.HasArg("only") {
			cfg.Only = make([]string, 1)
			d.ScanArgs(t, "only", &cfg.Only[0])
		}
		out, err := jobdraft.Make(t.Context(), cfg)
		text := ""
		if err == nil {
			text, err = out.Text, out.Problem
			if err != nil && !errors.Is(err, job.ErrJob) {
				t.Errorf("%v does not wrap ErrJob", err)
			}
		}
		if err != nil {
			text += "error: " + err.Error() + "\n"
		}
		return strings.ReplaceAll(text, dir+"/", "")
	})
}

// TestADraftOfOneFileNamesItsFolder drafts a job of a file from the tests of record.
func TestADraftOfOneFileNamesItsFolder(t *testing.T) {
	logs := "../../format/record/testdata/plays.csv.bz2"
	d, err := jobdraft.Make(t.Context(), jobdraft.Config{FS: local.New(), Logs: logs, Name: "usertrail.yaml", Zone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	if d.Problem != nil || d.Bad != 0 || d.Good == 0 || d.SkippedFiles != 0 || !strings.Contains(d.Text, "\n  path: "+logs+"\n") {
		t.Errorf("%+v, %v\n%s", d.Summary, d.Problem, d.Text)
	}
}
