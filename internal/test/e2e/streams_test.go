package e2e_test

import (
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/test/testkit"
)

// TestPythonReadsStreams has pyarrow and polars read Arrow and Parquet from a pipe, and compares
// the rows with the parts of a directory.
func TestPythonReadsStreams(t *testing.T) {
	_, out := samples(t)
	bin := testkit.Commands(t)
	var got map[string]struct {
		Rows, Wanted, Other int64
		Most                int64 // rows of the largest record batch; row groups of Parquet
		Schema, Sorting     bool
		Status              int
	}
	python(t, &got, "streams.py", filepath.Join(bin, "extract"), out, "--table", filepath.Join(testkit.Home(), "sample-table"), "--users", "all",
		"--from", "2014-09-01", "--to", "2014-09-06", "--types", strings.Join(sampleTypes, ","), "--active", "any", "--quiet")
	for _, name := range []string{"arrow", "arrow_polars", "parquet"} {
		r := got[name]
		if r.Rows != sampleRecords || r.Wanted != sampleRecords || r.Other != 0 || !r.Schema || r.Status != 0 {
			t.Errorf("%s: %+v, want the %d rows of the directory, and status 0", name, r, sampleRecords)
		}
	}
	if most := got["arrow"].Most; most == 0 || most > 32<<10 {
		t.Errorf("a record batch has %d rows, want 32768 at most", most)
	}
	if !got["parquet"].Sorting {
		t.Error("a row group of a stream does not say how it is sorted")
	}
}
