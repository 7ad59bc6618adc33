package pieces_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/store/dfs/local"
)

// Jobs whose behaviour "rest" accepts the texts that no other behaviour has. The second job has
// a behaviour for a text that belongs to "rest" in the first job.
const (
	otherJob   = "table: trails\nlogs: {path: \"logs/{date}/*.csv\", behaviour: {column: kind}}\nuser: user\nfields: {n: int64}\nbehaviours:\n  play: {id: 1}\n  rest: {id: 2, other: true}\n"
	listedJob  = otherJob + "  log in: {id: 3}\n"
	otherFirst = "user,time,kind,n\na,2014-09-01 10:00:00,play,1\nb,2014-09-01 11:00:00,log in,2\nc,2014-09-01 11:00:01,\"x, y\",3\nc,2014-09-01 11:00:02,rest,4\n"
	otherNext  = "user,time,kind,n\na,2014-09-02 10:00:00,log in,5\nb,2014-09-02 11:00:00,log out,6\n"
)

// TestOtherTextsDoNotDependOnTheWay loads a table of files.
func TestOtherTextsDoNotDependOnTheWay(t *testing.T) {
	for _, way := range append([]string{"ranges"}, bulkloadtest.Ways...) {
		t.Run(way, func(t *testing.T) {
			y := bulkloadtest.New(t, otherJob)
			y.Write("2014-09-01/a.csv", otherFirst)
			y.WantCounts(y.LoadBy(way, nil, "2014-09-01"), 4, 4, 0, 0, 0)
			y.SetJob(listedJob)
			y.Write("2014-09-02/a.csv", otherNext)
			y.WantCounts(y.LoadBy(way, nil, "2014-09-01"), 4, 0, 0, 0, 4)
			y.WantCounts(y.LoadBy(way, nil, "2014-09-02"), 2, 2, 0, 0, 0)
			y.Plan(bulkload.ErrNothing, 60, "2014-09-01", "2014-09-02")
			y.Load(bulkload.ErrNothing, "2014-09-01", "2014-09-02")
			y.WantTrails(
				"a 2014-09-01 2014-09-01T10:00:00Z play n=1",
				"a 2014-09-02 2014-09-02T10:00:00Z log in n=5",
				"b 2014-09-01 2014-09-01T11:00:00Z rest n=2 text=log in",
				"b 2014-09-02 2014-09-02T11:00:00Z rest n=6 text=log out",
				"c 2014-09-01 2014-09-01T11:00:01Z rest n=3 text=x, y",
				"c 2014-09-01 2014-09-01T11:00:02Z rest n=4 text=rest",
			)
		})
	}
}

// TestOtherTextsOfHBaseDoNotDependOnTheWay loads a table in HBase.
func TestOtherTextsOfHBaseDoNotDependOnTheWay(t *testing.T) {
	var first, want []string
	for _, mode := range []bulkload.Mode{bulkload.HFile, bulkload.Put} {
		for _, inPieces := range []bool{false, true} {
			p := bulkloadtest.NewHBase(t)
			p.Write("2014-09-01/play.csv", otherFirst)
			p.Write("2014-09-02/order.csv", "user,time,kind,n\n")
			load := func(job, what string, loaded int64) []string {
				p.SetJob(job)
				r, err := loadedBy(t, p, mode, inPieces)
				if err != nil || r.Loaded != loaded {
					t.Fatalf("%s, %v, in pieces %t: %d records loaded, %v; want %d", what, mode, inPieces, r.Loaded, err, loaded)
				}
				return p.Cells()
			}
			before := load(otherJob, "the first job", 4)
			if again := load(listedJob, "the job that grew", 0); !slices.Equal(again, before) {
				t.Errorf("%v, in pieces %t: the job that grew changed cells that were loaded", mode, inPieces)
			}
			p.Write("2014-09-02/second.csv", otherNext)
			after := load(listedJob, "a new file", 2)
			if _, err := loadedBy(t, p, mode, inPieces); !errors.Is(err, bulkload.ErrNothing) {
				t.Errorf("%v, in pieces %t: the same load again: %v, want ErrNothing", mode, inPieces, err)
			}
			if want == nil {
				first, want = before, after
			}
			if !slices.Equal(before, first) || !slices.Equal(after, want) {
				t.Errorf("%v, in pieces %t: the table has\n%s\nwant\n%s", mode, inPieces, strings.Join(after, "\n"), strings.Join(want, "\n"))
			}
		}
	}
	if len(want) <= len(first) {
		t.Errorf("%d cells after the first load, %d after the second", len(first), len(want))
	}
}

// loadedBy loads both days into HBase, in one process or in pieces of a file.
func loadedBy(t *testing.T, p *bulkloadtest.HBase, mode bulkload.Mode, inPieces bool) (bulkload.Result, error) {
	t.Helper()
	if !inPieces {
		return p.LoadMode(mode, "2014-09-01", "2014-09-02")
	}
	parts, err := p.Cut(local.New(), mode, 1<<20)
	if err != nil {
		return bulkload.Result{}, err
	}
	for i := range parts {
		if _, err := p.DoPiece(t.Context(), local.New(), &parts[i]); err != nil {
			t.Fatal(err)
		}
	}
	return p.Publish(t.Context(), local.New(), parts)
}
