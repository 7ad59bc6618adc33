package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"usertrail/internal/bulkload"
	"usertrail/internal/table"
)

// Figures for estimates, measured with `make bench-hbase`. hfileRate is for logs that are read
// once and written as HFiles. putRate is for logs that are read twice and put. callSeconds is for
// the regions: a region flushes before it loads a file.
const (
	hfileRate    = 60 << 20 // bytes of logs a second
	putRate      = 12 << 20
	callSeconds  = 0.1
	startSeconds = 1.0
	// HFileShare is the size of HFiles relative to the logs.
	HFileShare = 0.4
	// putShare is larger than HFileShare: the servers write a put to the log uncompressed, flush
	// it and compact it.
	putShare = 2.0
	// leastFile is the least average size of a region's file, in bytes. The server opens each
	// file, and every read looks into it until a compaction removes it.
	leastFile = 1 << 20
)

const (
	// batchBytes is about the size of a batch. It is large enough that the files of its
	// regions are not tiny, and small enough to stay in memory.
	batchBytes = 320 << 20
	// HandedBytes is about the size of a batch for HBase in bytes of delivered files. A region with
	// many files is slow to read, and accepts no puts from 16 files on.
	HandedBytes = 8 << 30
)

// SetMode chooses the mode that loads delivered files of the given bytes. asked is the mode that the
// user requests. The Choice is also valid if SetMode returns an error.
func (t *Table) SetMode(ctx context.Context, asked bulkload.Mode, bytes int64) (bulkload.Choice, error) {
	stager, files := table.As[table.Stager](t.Loader)
	putter, puts := table.As[table.Putter](t.Loader)
	c := bulkload.Choice{Mode: asked}
	switch {
	case files && !puts && asked != bulkload.Put:
		c.Mode = bulkload.HFile
	case asked == bulkload.Put && puts, asked == bulkload.HFile && files:
	case asked == bulkload.Put || asked == bulkload.HFile:
		return c, fmt.Errorf("%w: table %s cannot be loaded by --mode %s: leave out --mode", bulkload.ErrRequest, t.Address, c.Mode)
	default:
		if err := t.choose(ctx, stager, bytes, &c); err != nil {
			return c, err
		}
	}
	if c.Mode == bulkload.Put {
		t.Putter = putter
	} else {
		t.Stager, t.handsOver = stager, puts
	}
	return c, nil
}

// choose chooses between HFiles and puts for a table that accepts both.
func (t *Table) choose(ctx context.Context, stager table.Stager, bytes int64, c *bulkload.Choice) error {
	regions, err := t.Regions(ctx)
	if err != nil {
		return err
	}
	c.Estimates = estimates(bytes, len(regions))
	staged := c.Estimates[bulkload.HFile].Staged
	size := fmt.Sprintf("%s of logs for %s make HFiles of about %s each",
		humanize.IBytes(uint64(bytes)), english.Plural(len(regions), "region", ""), humanize.IBytes(uint64(staged/int64(len(regions)))))
	if staged < leastFile*int64(len(regions)) {
		c.Mode, c.Why = bulkload.Put, size+", too small to be worth a file"
		return nil
	}
	_, err = stager.FileOptions(ctx)
	switch {
	case errors.Is(err, table.ErrUnfit):
		c.Mode, c.Why = bulkload.Put, err.Error()
		return nil
	case err != nil:
		return err
	}
	c.Mode, c.Why = bulkload.HFile, size
	return nil
}

func estimates(bytes int64, regions int) map[bulkload.Mode]bulkload.Estimate {
	b := float64(bytes)
	return map[bulkload.Mode]bulkload.Estimate{
		bulkload.HFile: {Seconds: startSeconds + callSeconds*float64(regions)/2 + b/hfileRate, Staged: int64(b * HFileShare), Written: int64(b * HFileShare)},
		bulkload.Put:   {Seconds: startSeconds + b/putRate, Written: int64(b * putShare)},
	}
}

// Passes returns how many times a load reads the delivered files.
func (t *Table) Passes() int64 {
	if t.Putter != nil {
		return 2
	}
	return 1
}

// BatchBytes returns the approximate size of a batch in bytes. asked is the size that the caller
// requests for, or 0.
func (t *Table) BatchBytes(asked int64) int64 {
	if t.handsOver {
		return cmp.Or(asked, HandedBytes)
	}
	return cmp.Or(asked, batchBytes)
}
