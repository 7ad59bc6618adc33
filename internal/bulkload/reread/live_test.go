package reread_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/reread"
	"usertrail/internal/bulkload/verify"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/store/hbase/hbasetest"
)

// inHBase reads the files of both days again, into HBase.
func inHBase(ctx context.Context, p *bulkloadtest.HBase) (bulkload.Result, error) {
	p.T.Helper()
	store := p.Connect(local.New())
	defer store.Close()
	c := p.Config("2014-09-01", "2014-09-02")
	return reread.Run(ctx, reread.Config{Resources: bulkload.Resources{FS: local.New(), Store: store, Workers: 2, Temp: c.Temp}, Job: c.Job, Span: c.Span})
}

// verifiedInHBase compares the table in HBase with its ledgers.
func verifiedInHBase(t *testing.T, p *bulkloadtest.HBase) {
	t.Helper()
	store := p.Connect(local.New())
	defer store.Close()
	if r, err := verify.Run(t.Context(), verify.Config{Store: store}); err != nil {
		t.Errorf("verify: %v: %+v", err, r)
	}
}

// grownInHBase returns a table in HBase that was loaded without a field of plays.
func grownInHBase(t *testing.T, layout string, mode bulkload.Mode) *bulkloadtest.HBase {
	t.Helper()
	p := bulkloadtest.NewHBase(t)
	p.SetJob(strings.Replace(bulkloadtest.LaidOut(layout), ", seconds: int64", "", 1))
	p.Loaded(mode, "2014-09-01", "2014-09-02")
	p.SetJob(bulkloadtest.LaidOut(layout))
	return p
}

// wholeInHBase returns the cells of a table that was loaded with all fields.
func wholeInHBase(t *testing.T, layout string) []string {
	t.Helper()
	p := bulkloadtest.NewHBase(t)
	p.SetJob(bulkloadtest.LaidOut(layout))
	p.Loaded(bulkload.HFile, "2014-09-01", "2014-09-02")
	return p.Cells()
}

// lacking returns how many of the cells want are not in got.
func lacking(got, want []string) (n int) {
	for _, c := range want {
		if !slices.Contains(got, c) {
			n++
		}
	}
	return n
}

// inRows are layouts whose tables in HBase need no settings. In tall, wide and game-time the values replace cells.
var inRows = []string{"reversed", "tall", "wide", "game-time"}

// newCells returns how many cells three values add to a table.
func newCells(layout string) int64 {
	if layout == "reversed" {
		return 3
	}
	return 0
}

// TestARereadIntoHBase reads files again that were loaded by HFiles and by puts. The table has the cells of a load by the longer job.
func TestARereadIntoHBase(t *testing.T) {
	for _, layout := range inRows {
		want := wholeInHBase(t, layout)
		for _, mode := range []bulkload.Mode{bulkload.HFile, bulkload.Put} {
			p := grownInHBase(t, layout, mode)
			if n := lacking(p.Cells(), want); n != 3 {
				t.Errorf("%s, %s: %d cells differ before", layout, mode, n)
			}
			r, err := inHBase(t.Context(), p)
			if err != nil || r.Reread.Records != 3 || r.Cells != newCells(layout) || r.Files != 1 || r.Check() != nil {
				t.Fatalf("%s, %s: %+v, %+v, %v", layout, mode, r, r.Reread, err)
			}
			verifiedInHBase(t, p)
			if _, err := inHBase(t.Context(), p); !errors.Is(err, bulkload.ErrNothing) {
				t.Errorf("%s, %s: again: %v, want ErrNothing", layout, mode, err)
			}
			p.Ends(want)
		}
	}
}

// TestAKilledRereadIsFinished kills a reread when it puts the n-th request. The same reread then finishes it, also if a load runs in
// between.
func TestAKilledRereadIsFinished(t *testing.T) {
	for _, layout := range inRows {
		want := wholeInHBase(t, layout)
		for n := range int64(4) {
			p := grownInHBase(t, layout, bulkload.HFile)
			killed := killPut(p, n)
			if !killed {
				p.Ends(want)
				break
			}
			if n > 0 && lacking(p.Cells(), want) == 3 {
				t.Errorf("%s, kill %d: no value was put", layout, n)
			}
			p.Write("2014-09-01/play.late.csv", "user,time,title,seconds\nb,2014-09-01 23:00:00,late,9\n")
			p.Loaded(bulkload.Put, "2014-09-01", "2014-09-01")
			r, err := inHBase(t.Context(), p)
			if err != nil || r.Reread.Records != 3 || r.Cells != newCells(layout) {
				t.Fatalf("%s, kill %d: %+v, %+v, %v", layout, n, r, r.Reread, err)
			}
			verifiedInHBase(t, p)
			if got := p.Cells(); int64(len(got)) != int64(len(want))+1+newCells(layout)/3 || lacking(got, want) > 0 {
				t.Errorf("%s, kill %d: the table holds\n%s", layout, n, strings.Join(got, "\n"))
			}
		}
	}
}

// killPut runs a reread, and cancels it when n requests of puts were executed and there is another one. It reports whether there was one.
func killPut(p *bulkloadtest.HBase, n int64) bool {
	ctx, kill := context.WithCancel(p.T.Context())
	defer kill()
	var puts, executed atomic.Int64
	killIfDue := func() {
		if puts.Load() > n && executed.Load() >= n {
			kill()
		}
	}
	p.Cluster.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
		switch {
		case c.Method != "Multi":
			return hbasetest.Fault{}
		case puts.Add(1) > n:
			killIfDue()
			return hbasetest.Fault{Skip: true}
		}
		return hbasetest.Fault{Executed: func() { executed.Add(1); killIfDue() }}
	}})
	_, err := inHBase(ctx, p)
	killed := puts.Load() > n
	if killed && !errors.Is(err, context.Canceled) || !killed && err != nil {
		p.T.Fatalf("a cancelled reread: %v, want context.Canceled", err)
	}
	p.Cluster.SetHooks(hbasetest.Hooks{})
	return killed
}

// TestAKilledRereadOfDaysWithoutAValueIsFinished reads a log again whose second day has a value in another column only, and then by the
// other column. It kills the second reread when it puts the n-th request. The same reread then finishes it.
func TestAKilledRereadOfDaysWithoutAValueIsFinished(t *testing.T) {
	for _, layout := range []string{"reversed", "tall"} {
		for n := range int64(4) {
			p := bulkloadtest.NewHBase(t)
			p.Write("a.jsonl", orders(first, `"amount":5`, `"amount":6`)+orders(second, `"total":7`, `"total":8`))
			p.SetJob(strings.Replace(renamedJob(layout, "*.jsonl", "x"), ", price: {type: double, column: x}", "", 1))
			p.Loaded(bulkload.HFile, first, second)
			p.SetJob(renamedJob(layout, "*.jsonl", "amount"))
			if r, err := inHBase(t.Context(), p); err != nil || r.Reread.Records != 2 {
				t.Fatalf("%s, kill %d: %+v, %v", layout, n, r.Reread, err)
			}
			p.SetJob(renamedJob(layout, "*.jsonl", "total"))
			killed := killPut(p, n)
			if killed {
				if r, err := inHBase(t.Context(), p); err != nil || r.Reread.Records != 2 {
					t.Fatalf("%s, kill %d: %+v, %v", layout, n, r.Reread, err)
				}
			}
			verifiedInHBase(t, p)
			if _, err := inHBase(t.Context(), p); !errors.Is(err, bulkload.ErrNothing) {
				t.Errorf("%s, kill %d: again: %v, want ErrNothing", layout, n, err)
			}
			if !killed {
				break
			}
		}
	}
}
