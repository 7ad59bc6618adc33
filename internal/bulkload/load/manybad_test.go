package load_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/store/dfs"
)

// An openScratch counts the scratch files that are open at the same time.
type openScratch struct {
	dfs.FS
	made, open, most atomic.Int64
}

// Scratch implements dfs.FS.
func (o *openScratch) Scratch(ctx context.Context, name string) (dfs.Pending, error) {
	p, err := o.FS.Scratch(ctx, name)
	if err != nil {
		return nil, err
	}
	o.made.Add(1)
	n := o.open.Add(1)
	for most := o.most.Load(); n > most && !o.most.CompareAndSwap(most, n); most = o.most.Load() {
	}
	return &countedScratch{Pending: p, of: o}, nil
}

type countedScratch struct {
	dfs.Pending
	of     *openScratch
	closed bool
}

func (c *countedScratch) close() {
	if !c.closed {
		c.closed = true
		c.of.open.Add(-1)
	}
}

// Commit implements dfs.Pending.
func (c *countedScratch) Commit() error {
	defer c.close()
	return c.Pending.Commit()
}

// Abort implements dfs.Pending.
func (c *countedScratch) Abort() {
	defer c.close()
	c.Pending.Abort()
}

// TestFewFilesAreOpenForBadRecords loads many files with bad records in one batch. An open file takes memory and a descriptor.
func TestFewFilesAreOpenForBadRecords(t *testing.T) {
	const files = 200
	y := bulkloadtest.New(t, strings.ReplaceAll(bulkloadtest.TwoKinds, "50%", "90%"))
	for i := range files {
		y.Write(fmt.Sprintf("2014-09-01/play.csv.%d", i), strings.ReplaceAll(bulkloadtest.Plays, "one,", fmt.Sprint("t", i, ","))+fmt.Sprintf("x,2014-09-01 10:00:00,t,bad%d\ny,tomorrow,t,1\n", i))
	}
	fs := &openScratch{FS: y.Store.FS}
	cfg := y.Config("2014-09-01", "2014-09-01")
	cfg.FS, cfg.Workers = fs, 4
	r, err := load.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if r.Files != files || r.Quarantined != 2*files || r.Loads != 1 {
		t.Fatalf("%d files in %d loads, %d bad records, want %d in one load with %d", r.Files, r.Loads, r.Quarantined, files, 2*files)
	}
	// Each worker reads a file and parses a chunk, and a chunk of each waits.
	if most := fs.most.Load(); fs.made.Load() < files || most > int64(4*cfg.Workers) {
		t.Errorf("%d of %d scratch files were open at once, want at most %d", most, fs.made.Load(), 4*cfg.Workers)
	}
	for i := range files {
		y.Correct(fmt.Sprintf("2014-09-01/play.csv.%d", i), fmt.Sprint("bad", i), "7")
	}
}
