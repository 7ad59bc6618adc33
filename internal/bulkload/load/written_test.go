package load_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/format/manifest"
	"usertrail/internal/table/precheck"
	"usertrail/internal/test/testkit"
)

// TestResultsAndTablesAreNoLogs puts a result of extract, a table and a folder of another program between the folders of the logs.
// A load reads only the other folder.
func TestResultsAndTablesAreNoLogs(t *testing.T) {
	y := bulkloadtest.New(t, strings.Replace(bulkloadtest.TwoKinds, "logs/{date}/{behaviour}.*", "logs/*/{date}/{behaviour}.*", 1))
	y.Write("server/2014-09-01/play.csv", bulkloadtest.Plays)
	y.Load(nil, "2014-09-01", "2014-09-01")
	logs := filepath.Join(y.Dir, "logs")
	for _, folder := range []string{"result", "table", "foreign", "other"} {
		y.Write(folder+"/2014-09-01/play.csv", bulkloadtest.Header+folder+",2014-09-01 10:00:00,one,1\n")
	}
	result := &manifest.Extract{Version: manifest.Version, Query: manifest.Query{Active: "any", Users: manifest.Everyone, Format: "csv", Types: []string{"play"}}}
	if err := manifest.Write(t.Context(), y.Store.FS, filepath.Join(logs, "result", manifest.ExtractName), result); err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(filepath.Join(y.Store.Dir, manifest.TableName))
	if err != nil {
		t.Fatal(err)
	}
	testkit.WriteFile(t, filepath.Join(logs, "table", manifest.TableName), string(table))
	testkit.WriteFile(t, filepath.Join(logs, "foreign", manifest.ExtractName), `{"entries": []}`)
	var log bytes.Buffer
	cfg := y.Config("2014-09-01", "2014-09-01")
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	checks, _, err := load.PreCheck(t.Context(), cfg)
	i := slices.IndexFunc(checks, func(c precheck.Check) bool { return c.Name == precheck.InputThere })
	if err != nil || i < 0 || checks[i].State != precheck.Warn || !strings.HasSuffix(checks[i].Detail, "are left out: result, table") {
		t.Errorf("pre-check: %+v, %v; want a warning that names the folders", checks, err)
	}
	r, err := load.Run(t.Context(), cfg)
	if err != nil || r.Files != 2 || r.Already != 1 || r.Loaded != 2 {
		t.Errorf("%+v, %v; want the two files of other folders", r, err)
	}
	if !strings.Contains(log.String(), "are left out") || !strings.Contains(log.String(), `folders="result, table"`) {
		t.Errorf("the log is %s; want the folders", &log)
	}
	for _, folder := range []string{"server", "foreign", "other"} {
		if err := os.RemoveAll(filepath.Join(logs, folder)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := load.Run(t.Context(), cfg); !errors.Is(err, bulkload.ErrNothing) {
		t.Errorf("only a result and a table: %v, want ErrNothing", err)
	}
	y.SetJob(strings.Replace(bulkloadtest.TwoKinds, "logs/{date}/{behaviour}.*", "logs/result/{date}/{behaviour}.*", 1))
	if r, err := load.Run(t.Context(), y.Config("2014-09-01", "2014-09-01")); err != nil || r.Loaded != 1 {
		t.Errorf("the path names the result: %+v, %v; want its record", r, err)
	}
}
