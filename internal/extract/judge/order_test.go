package judge_test

import (
	"path/filepath"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/notfound"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/test/testworld"
)

// TestEveryUserOfABatchIsFound extracts a list of users from a table in which only rows show which
// users exist. In one batch, a screen excludes b, and the rows that exist exclude d. Both are
// found. The users c and e are found, too, and their trails are in the result.
func TestEveryUserOfABatchIsFound(t *testing.T) {
	h := extracttest.New(t, `logs: logs/{date}/{behaviour}.csv
table: trails
behaviours:
  play: {id: 1, fields: {seconds: int64, title: string}}
  order: {id: 2}
`)
	day := behaviour.DateOf(2014, 9, 1)
	h.Deliver(t,
		testworld.File{Name: day.String() + "/play.csv", Text: []byte("user_id,time,seconds,title\nb,2014-09-01 10:00:00,1,x\nc,2014-09-01 10:00:00,9,x\ne,2014-09-01 10:00:00,9,x\n")},
		testworld.File{Name: day.String() + "/order.csv", Text: []byte("user_id,time\nb,2014-09-01 11:00:00\nc,2014-09-01 11:00:00\nd,2014-09-01 11:00:00\ne,2014-09-01 11:00:00\n")})
	q := testworld.Query{Users: []string{"b", "c", "d", "e", "nobody"}, Span: behaviour.Span{From: day, To: day}, Kinds: []string{"play", "order"}, Active: "all"}
	q.Conditions.Having.Text = "sum(play.seconds) > 5"
	h.Load(t, extracttest.Plain, q.Span)
	c := h.Query(t, q, table.Unrolled(extracttest.Narrow{Table: h.Opened(t, extracttest.Plain.Name)}))
	r, err := extract.Run(t.Context(), c)
	if err != nil || r.Found != 4 || r.Active != 3 || r.Kept != 2 || r.NotFound != 1 {
		t.Errorf("%+v, %v; want 4 users found, 3 active, 2 kept, 1 not found", r, err)
	}
	names, err := dfs.ReadFile(t.Context(), h.FS, filepath.Join(c.Out, notfound.FileName))
	if err != nil || string(names) != "nobody\n" {
		t.Errorf("not found are %q, %v, want nobody", names, err)
	}
}
