package pieces_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/pieces"
	"usertrail/internal/run/piece"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/store/hbase/hbasetest"
	"usertrail/internal/test/testkit"
)

// plannedHBaseFixture is a fixture with a job file, whose pieces are planned.
func plannedHBaseFixture(t *testing.T, mode bulkload.Mode) (*bulkloadtest.HBase, []pieces.Piece) {
	t.Helper()
	p := bulkloadtest.NewHBase(t)
	parts, err := p.Cut(local.New(), mode, bulkloadtest.AFile)
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) != 2 || parts[0].Mode != mode {
		t.Fatalf("%d pieces, mode %s; want 2, %s", len(parts), parts[0].Mode, mode)
	}
	return p, parts
}

// TestPiecesGoIntoHBase loads pieces by HFiles and by puts. The table has the cells of one
// load, and its rolls have all users.
func TestPiecesGoIntoHBase(t *testing.T) {
	want := bulkloadtest.Undisturbed(t)
	for _, mode := range []bulkload.Mode{bulkload.HFile, bulkload.Put} {
		t.Run(string(mode), func(t *testing.T) {
			p, parts := plannedHBaseFixture(t, mode)
			for i := range parts {
				if r, err := p.DoPiece(t.Context(), local.New(), &parts[i]); err != nil || r.Already || r.Check() != nil || r.Loaded == 0 {
					t.Fatalf("piece %d: %+v, %v", i, r, err)
				}
			}
			if got := len(p.Cells()); (got > 0) != (mode == bulkload.Put) {
				t.Errorf("%d cells are there before the commit", got)
			}
			r, err := p.Publish(t.Context(), local.New(), parts)
			if err != nil || r.Loaded != 5 || r.Loads != 1 || r.Cells != int64(len(want)) {
				t.Fatalf("committed %+v, %v", r, err)
			}
			if _, err := p.Publish(t.Context(), local.New(), parts); !errors.Is(err, bulkload.ErrNothing) {
				t.Errorf("committed again: %v, want ErrNothing", err)
			}
			p.Ends(want)
			p.NamesAll("after the commit")
			p.Extracts("after the commit")
			if !p.ByRolls() {
				t.Error("rolls are not used: the table was taken to have rows of others")
			}
			p.LeavesNoPlan()
		})
	}
}

// TestAHandoverOfPiecesSurvivesEveryFailure makes each operation of the pieces and of their
// commit fail once (every second operation, or every tenth unless the run covers everything),
// and repeats the command.
func TestAHandoverOfPiecesSurvivesEveryFailure(t *testing.T) {
	want := bulkloadtest.Undisturbed(t)
	for _, mode := range []bulkload.Mode{bulkload.HFile, bulkload.Put} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			for n := 0; ; n += testkit.Pick(10, 2) {
				p, parts := plannedHBaseFixture(t, mode)
				fs := dfstest.FaultAt(local.New(), n, dfstest.Dead)
				err := finish(p, fs, parts)
				if fs.Count() <= n {
					break
				}
				if err != nil && !errors.Is(err, dfstest.ErrInjected) {
					t.Fatalf("operation %d: %v, want ErrInjected", n, err)
				}
				if err := finish(p, local.New(), parts); err != nil && !errors.Is(err, bulkload.ErrNothing) {
					t.Fatalf("operation %d: again: %v", n, err)
				}
				if got := p.Cells(); !slices.Equal(got, want) {
					t.Errorf("the table holds %q, want %q", got, want)
				}
				if p.LeavesNoPlan(); t.Failed() {
					t.Fatalf("after operation %d failed", n)
				}
			}
		})
	}
}

// finish does pieces and commits them, all over fs.
func finish(p *bulkloadtest.HBase, fs dfs.FS, parts []pieces.Piece) error {
	p.T.Helper()
	for i := range parts {
		if _, err := p.DoPiece(p.T.Context(), fs, &parts[i]); err != nil {
			return err
		}
	}
	_, err := p.Publish(p.T.Context(), fs, parts)
	return err
}

// TestAKilledCommitIsFinishedByTheNextCommand kills a commit. Another load or the same commit
// finishes it.
func TestAKilledCommitIsFinishedByTheNextCommand(t *testing.T) {
	want := bulkloadtest.Undisturbed(t)
	for _, who := range []string{"the same commit", "another load"} {
		t.Run(who, func(t *testing.T) {
			p, parts := plannedHBaseFixture(t, bulkload.HFile)
			for i := range parts {
				if _, err := p.DoPiece(t.Context(), local.New(), &parts[i]); err != nil {
					t.Fatal(err)
				}
			}
			ctx, kill := context.WithCancel(t.Context())
			p.Cluster.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
				if c.Method == "BulkLoadHFile" {
					kill()
					return hbasetest.Fault{Skip: true}
				}
				return hbasetest.Fault{}
			}})
			if _, err := p.Publish(ctx, local.New(), parts); !errors.Is(err, context.Canceled) {
				t.Fatalf("a killed commit: %v, want it cancelled", err)
			}
			p.Cluster.SetHooks(hbasetest.Hooks{})
			if who == "another load" {
				if r, err := p.Run(local.New()); err != nil || r.Finished != 1 {
					t.Fatalf("another load: %+v, %v; want it to finish the commit", r, err)
				}
				if _, err := p.Publish(t.Context(), local.New(), parts); !errors.Is(err, bulkload.ErrNothing) {
					t.Errorf("the commit then: %v, want ErrNothing", err)
				}
			} else if r, err := p.Publish(t.Context(), local.New(), parts); err != nil || r.Finished != 1 || r.Loaded != 5 {
				t.Errorf("the commit again: %+v, %v; want all of it", r, err)
			}
			p.Ends(want)
			p.LeavesNoPlan()
		})
	}
}

// TestALoadTakesOverWhatAPieceBeganToPut kills a worker that has put some cells but written no
// report. Readers see these cells. A load of the same file makes the plan out of date.
func TestALoadTakesOverWhatAPieceBeganToPut(t *testing.T) {
	one := bulkloadtest.NewHBase(t)
	p := bulkloadtest.NewHBase(t)
	for _, p := range []*bulkloadtest.HBase{one, p} {
		p.Write("2014-08-31/play.csv", "user,time,title,seconds\nq,2014-08-31 10:00:00,one,1\n")
		if _, err := p.Puts(t.Context(), "2014-08-31", "2014-08-31", 1); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := one.Puts(t.Context(), "2014-09-01", "2014-09-02", 1); err != nil {
		t.Fatal(err)
	}
	parts, err := p.Cut(local.New(), bulkload.Put, bulkloadtest.AFile)
	if err != nil || len(parts) != 2 {
		t.Fatalf("%d pieces, %v; want 2", len(parts), err)
	}
	killAfterFirstPut(t, p, &parts[0])
	seesAll(p, "after a piece was killed")
	if _, err := p.Puts(t.Context(), "2014-09-01", "2014-09-01", 1); err != nil {
		t.Fatal(err)
	}
	seesAll(p, "after a load of the same file")
	if r, err := p.DoPiece(t.Context(), local.New(), &parts[1]); err != nil || r.Loaded != 2 {
		t.Fatalf("the other piece: %+v, %v", r, err)
	}
	for range 2 {
		if _, err := p.Publish(t.Context(), local.New(), parts); !errors.Is(err, pieces.ErrStale) {
			t.Errorf("commit: %v, want ErrStale", err)
		}
	}
	again, err := p.Cut(local.New(), bulkload.Put, bulkloadtest.AFile)
	if err != nil || len(again) != 1 {
		t.Fatalf("planned again: %d pieces, %v; want one", len(again), err)
	}
	if _, err := p.Publish(t.Context(), local.New(), again); !errors.Is(err, piece.ErrMissing) {
		t.Errorf("before it is done: %v, want ErrMissing", err)
	}
	if err := finish(p, local.New(), again); err != nil {
		t.Fatal(err)
	}
	if got, want := p.Cells(), one.Cells(); !slices.Equal(got, want) {
		t.Errorf("the table holds %q, want %q", got, want)
	}
	p.Extracts("in the end")
	p.LeavesNoPlan()
	seesAll(p, "in the end")
}

// killAfterFirstPut does a piece until the servers have executed its first puts.
func killAfterFirstPut(t *testing.T, p *bulkloadtest.HBase, part *pieces.Piece) {
	t.Helper()
	var calls atomic.Int32
	ctx, kill := context.WithCancel(t.Context())
	p.Cluster.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
		if c.Method == "Multi" && calls.Add(1) == 1 {
			return hbasetest.Fault{Executed: kill, Drop: true}
		}
		return hbasetest.Fault{}
	}})
	if _, err := p.DoPiece(ctx, local.New(), part); !errors.Is(err, context.Canceled) {
		t.Fatalf("a killed piece: %v, want it cancelled", err)
	}
	p.Cluster.Settle()
	p.Cluster.SetHooks(hbasetest.Hooks{})
	if len(p.Rows("2014-09-01", "2014-09-01")) == 0 {
		t.Fatal("the killed piece put nothing")
	}
}

// TestANewBehaviourOfPiecesIsKnown puts the pieces of a plan with a new behaviour and a new
// field. Extracts of the older behaviours still work. Another load does not reuse the place of
// the new field.
func TestANewBehaviourOfPiecesIsKnown(t *testing.T) {
	const plays = `
logs: {path: "logs/{date}/{behaviour}.csv"}
user: user
behaviours:
  play: {id: 1, fields: {title: string%s}}
%s`
	p := bulkloadtest.NewHBase(t)
	for _, day := range []string{"2014-08-31", "2014-09-01", "2014-09-03"} {
		p.Write(day+"/play.csv", "user,time,title,channel,device\na,"+day+" 10:00:00,one,news,box\n")
	}
	p.SetJob(fmt.Sprintf(plays, "", ""))
	if _, err := p.Puts(t.Context(), "2014-08-31", "2014-08-31", 1); err != nil {
		t.Fatal(err)
	}
	p.SetJob(fmt.Sprintf(plays, ", channel: string", "  order: {id: 2, fields: {price: double}}\n"))
	parts, err := p.Cut(local.New(), bulkload.Put, bulkloadtest.AFile)
	if err != nil {
		t.Fatal(err)
	}
	for i := range parts {
		if _, err := p.DoPiece(t.Context(), local.New(), &parts[i]); err != nil {
			t.Fatal(err)
		}
	}
	seesAll(p, "before the commit")
	p.Extracts("before the commit")
	p.SetJob(fmt.Sprintf(plays, ", device: string", ""))
	if _, err := p.Puts(t.Context(), "2014-09-03", "2014-09-03", 1); err != nil {
		t.Fatal(err)
	}
	p.Extracts("after another load")
	if got, want := fields(p, "play"), []string{"title", "channel", "device"}; !slices.Equal(got, want) {
		t.Errorf("the fields of play are %v, want %v: the pieces put values of their new field in the second place", got, want)
	}
	if _, err := p.Publish(t.Context(), local.New(), parts); err != nil {
		t.Fatal(err)
	}
	p.Extracts("in the end")
}

// fields returns the fields of a behaviour of the table.
func fields(p *bulkloadtest.HBase, behaviour string) []string {
	p.T.Helper()
	opened, done := p.Open()
	defer done()
	var out []string
	if k, ok := opened.Info().Schema.Kind(behaviour); ok {
		for _, f := range opened.Info().Schema.Kinds[k].Fields {
			out = append(out, f.Name)
		}
	}
	return out
}

// seesAll fails unless the rolls have every user who has rows.
func seesAll(p *bulkloadtest.HBase, when string) {
	p.T.Helper()
	p.NamesAll(when)
	if !p.ByRolls() {
		p.T.Errorf("%s: rolls are not used", when)
	}
}
