package notes_test

import (
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/reread"
	"usertrail/internal/extract"
	"usertrail/internal/extract/notes"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/layout"
	"usertrail/internal/store/dfs/local"
)

// TestDaysThatGainedValuesAreNamed reads a day again after it was extracted. An append of the next day names it in every layout, also if
// the values replace cells.
func TestDaysThatGainedValuesAreNamed(t *testing.T) {
	const one, two = "2014-09-01", "2014-09-02"
	for _, name := range layout.Names() {
		t.Run(name, func(t *testing.T) {
			y := bulkloadtest.New(t, strings.Replace(bulkloadtest.LaidOut(name), ", seconds: int64", "", 1))
			for _, day := range []string{one, two} {
				y.Write(day+"/play.csv", "user,time,title,seconds\n1,"+day+" 10:00:00,a,1\n")
			}
			y.Load(nil, one, one)
			y.SetJob(bulkloadtest.LaidOut(name))
			y.Load(nil, two, two)
			extracted := func(day string) string {
				t.Helper()
				opened, err := y.Store.Open(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer opened.Close()
				c := extract.Config{
					Spec:   query.Spec{Users: userlist.All(), Span: behaviour.Span{From: bulkloadtest.Date(t, day), To: bulkloadtest.Date(t, day)}, Types: []string{"play"}, Active: "any", Output: query.Output{Partition: "date"}},
					Target: place.Target{FS: local.New(), Out: filepath.Join(y.Dir, "out"), Append: true},
					Table:  opened, Workers: 1,
				}
				r, err := extract.Run(t.Context(), c)
				if err != nil {
					t.Fatal(err)
				}
				said, err := notes.For(t.Context(), opened, c, r)
				if err != nil {
					t.Fatal(err)
				}
				return strings.Join(said, "; ")
			}
			extracted(one)
			c := y.Config(one, two)
			if _, err := reread.Run(t.Context(), reread.Config{Resources: c.Resources, Job: c.Job, Span: c.Span}); err != nil {
				t.Fatal(err)
			}
			if said := extracted(two); !strings.Contains(said, "days of the result that gained records or values in the table after they were extracted: "+one+": --append does not add them: ") {
				t.Errorf("an append after the reread notes %q", said)
			}
		})
	}
}
