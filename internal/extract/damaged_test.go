package extract_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/test/testkit"
)

// TestContinuingWritesDamagedPartsAgain fails an extract at its end, and damages a file of a
// finished part, or the record of one. The same extract writes that part again, and those
// after it.
func TestContinuingWritesDamagedPartsAgain(t *testing.T) {
	h, q := extracttest.SeveralParts(t)
	for what, x := range map[string]struct {
		output query.Output
		file   string
	}{
		"a part":                   {file: "part-00001.parquet"},
		"a file of a part":         {query.Output{Format: query.JSONL, Partition: "behaviour"}, "behaviour=login/part-00001.jsonl"},
		"the record of a part":     {file: "_done-00001.json"},
		"the last part of several": {file: "part-00002.parquet"},
	} {
		u := extracttest.Turn{Name: "trails", Workers: 2, Memory: 64 << 20, Output: x.output}
		home := testkit.Scratch(t)
		clean := filepath.Join(home, "clean")
		if _, err := h.Extract(t.Context(), q, u, clean); err != nil {
			t.Fatal(err)
		}
		want := dfstest.Snapshot(t, h.FS, clean)
		for i, damage := range extracttest.Damages {
			if damage.Name == "changed" && strings.HasPrefix(x.file, "_") {
				continue // the record may still be one
			}
			t.Run(what+" is "+damage.Name, func(t *testing.T) {
				out := filepath.Join(home, fmt.Sprint("out", i))
				broken := *h
				broken.FS = extracttest.Refusing{FS: h.FS, Base: place.SuccessName}
				if _, err := broken.Extract(t.Context(), q, u, out); !errors.Is(err, dfstest.ErrInjected) {
					t.Fatalf("%v, want ErrInjected", err)
				}
				damage.Do(t, filepath.Join(home, "."+filepath.Base(out)+".partial", x.file))
				if _, err := h.Extract(t.Context(), q, u, out); err != nil {
					t.Fatal(err)
				}
				if diff := extracttest.Differ(dfstest.Snapshot(t, h.FS, out), want); diff != "" {
					t.Errorf("in the end %s", diff)
				}
			})
		}
	}
}
