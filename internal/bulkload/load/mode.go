package load

import (
	"context"
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"

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
	// hfileShare is the size of HFiles relative to the logs. putShare is larger: the servers write
	// a put to the log uncompressed, flush it and compact it.
	hfileShare = 0.4
	putShare   = 2.0
	// leastFile is the least average size of a region's file, in bytes. The server opens each
	// file, and every read looks into it until a compaction removes it.
	leastFile = 1 << 20
)

// settleMode chooses the mode that loads delivered files of the given bytes.
func (l *load) settleMode(ctx context.Context, bytes int64) error {
	stager, files := table.As[table.Stager](l.target)
	putter, puts := table.As[table.Putter](l.target)
	c := &l.result.Choice
	c.Mode = l.cfg.Mode
	switch {
	case files && !puts && c.Mode != bulkload.Put:
		c.Mode = bulkload.HFile
	case c.Mode == bulkload.Put && puts, c.Mode == bulkload.HFile && files:
	case c.Mode == bulkload.Put || c.Mode == bulkload.HFile:
		return fmt.Errorf("%w: table %s cannot be loaded by --mode %s", bulkload.ErrRequest, l.cfg.Store.Address(), c.Mode)
	default:
		if err := l.chooseMode(ctx, stager, bytes); err != nil {
			return err
		}
	}
	if c.Mode == bulkload.Put {
		l.putter = putter
		return nil
	}
	l.stager, l.handsOver = stager, puts
	return nil
}

// chooseMode chooses between HFiles and puts for a table that takes both.
func (l *load) chooseMode(ctx context.Context, stager table.Stager, bytes int64) error {
	regions, err := l.target.Regions(ctx)
	if err != nil {
		return err
	}
	c := &l.result.Choice
	c.Estimates = estimates(bytes, len(regions))
	staged := c.Estimates[bulkload.HFile].Staged
	size := fmt.Sprintf("%s of logs for %d regions make HFiles of about %s each",
		humanize.IBytes(uint64(bytes)), len(regions), humanize.IBytes(uint64(staged/int64(len(regions)))))
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
		bulkload.HFile: {Seconds: startSeconds + callSeconds*float64(regions)/2 + b/hfileRate, Staged: int64(b * hfileShare), Written: int64(b * hfileShare)},
		bulkload.Put:   {Seconds: startSeconds + b/putRate, Written: int64(b * putShare)},
	}
}

// passes returns how many times the load reads the delivered files.
func (l *load) passes() int64 {
	if l.putter != nil {
		return 2
	}
	return 1
}

// batchBytes returns the approximate size of a batch in bytes.
func (l *load) batchBytes() int64 {
	switch {
	case l.cfg.Batch > 0:
		return l.cfg.Batch
	case l.handsOver:
		return handedBytes
	}
	return batchBytes
}
