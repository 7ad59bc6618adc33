package load_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"

	"usertrail/internal/format/layout"
)

// TestValuesStayUnderTheirFields loads and replays by jobs whose fields were inserted,
// dropped and reordered, in every layout.
func TestValuesStayUnderTheirFields(t *testing.T) {
	for _, name := range layout.Names() {
		for _, syntax := range []string{"csv", "jsonl"} {
			t.Run(name+" "+syntax, func(t *testing.T) {
				y := bulkloadtest.New(t, bulkloadtest.ListJob(syntax, name, bulkloadtest.FieldLists[0]))
				var want []string
				for i, fields := range bulkloadtest.FieldLists {
					day := fmt.Sprintf("2014-09-%02d", i+1)
					file := day + "/play.log"
					y.SetJob(bulkloadtest.ListJob(syntax, name, fields))
					text, trails, corrected := bulkloadtest.ListLog(syntax, i+1, fields)
					y.Write(file, text)
					y.WantCounts(y.Load(nil, day, day), 4, 3, 1, 0, 0)
					y.Correct(file, "never", day+" 10:00:02")
					y.WantCounts(y.Replay(nil, file), 1, 1, 0, 0, 0)
					want = append(append(want, trails...), corrected)
				}
				y.WantTrails(want...)
			})
		}
	}
}

// TestPutsKeepValuesUnderTheirFields is the same test for a table in HBase that is loaded by
// puts.
func TestPutsKeepValuesUnderTheirFields(t *testing.T) {
	p := bulkloadtest.NewHBase(t)
	files := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	var want []string
	for i, fields := range bulkloadtest.FieldLists {
		day := fmt.Sprintf("2014-09-%02d", i+1)
		text, trails, _ := bulkloadtest.ListLog("csv", i+1, fields)
		want = append(want, trails...)
		for _, y := range []*bulkloadtest.Fixture{p.Fixture, files} {
			y.SetJob(bulkloadtest.ListJob("csv", layout.Default, fields))
			y.Write(day+"/play.log", text)
		}
		files.Load(nil, day, day)
		if r, err := p.Puts(t.Context(), day, day, 2); err != nil || r.Loaded != 3 {
			t.Fatalf("%d records were put, %v; want 3", r.Loaded, err)
		}
	}
	files.WantTrails(want...)
	got := p.Cells()
	slices.Sort(got)
	if held := files.Cells(); !slices.Equal(got, held) {
		t.Errorf("puts make\n%s\nwant what files hold\n%s", strings.Join(got, "\n"), strings.Join(held, "\n"))
	}
}
