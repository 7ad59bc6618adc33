package bulkload

import (
	"context"
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"

	"usertrail/internal/table"
)

// A Choice is how cells get into the table, and why so.
type Choice struct {
	Mode Mode   `json:"mode,omitempty"`
	Why  string `json:"why,omitempty"` // empty where there was nothing to choose
	// Estimates are for a live table, by mode.
	Estimates map[Mode]Estimate `json:"estimates,omitempty"`
}

// An Estimate is about what a load costs.
type Estimate struct {
	Seconds float64 `json:"seconds"` // with the servers otherwise idle
	Staged  int64   `json:"staged"`  // bytes of HFiles on HBase's file system
	Written int64   `json:"written"` // bytes that the servers write, the log and compactions included
}

// What estimates go by, measured with `make bench-hbase`: logs that are read once
// and written as HFiles; logs that are read twice and put; and for each region,
// which flushes before it takes a file in.
const (
	hfileRate    = 60 << 20 // bytes of logs a second
	putRate      = 12 << 20
	callSeconds  = 0.1
	startSeconds = 1.0
	// hfileShare is how large HFiles are beside the logs. What is put is written to
	// the log plain, flushed and compacted.
	hfileShare = 0.4
	putShare   = 2.0
	// leastFile is how large a region's file should at least be on average: each
	// one is opened, and looked into by every read until it is compacted away.
	leastFile = 1 << 20
)

// settleMode chooses how bytes of delivered files get into the table.
func (l *load) settleMode(ctx context.Context, bytes int64) error {
	stager, files := l.target.(table.Stager)
	putter, puts := l.target.(table.Putter)
	c := &l.result.Choice
	c.Mode = l.cfg.Mode
	switch {
	case files && !puts && c.Mode != Put:
		c.Mode = HFile
	case c.Mode == Put && puts, c.Mode == HFile && files:
	case c.Mode == Put || c.Mode == HFile:
		return fmt.Errorf("%w: table %s cannot be loaded by --mode %s", ErrRequest, l.cfg.Store.Address(), c.Mode)
	default:
		if err := l.chooseMode(ctx, stager, bytes); err != nil {
			return err
		}
	}
	if c.Mode == Put {
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
	staged := c.Estimates[HFile].Staged
	size := fmt.Sprintf("%s of logs for %d regions make HFiles of about %s each",
		humanize.IBytes(uint64(bytes)), len(regions), humanize.IBytes(uint64(staged/int64(len(regions)))))
	if staged < leastFile*int64(len(regions)) {
		c.Mode, c.Why = Put, size+", too small to be worth a file"
		return nil
	}
	_, err = stager.FileOptions(ctx)
	switch {
	case errors.Is(err, table.ErrUnfit):
		c.Mode, c.Why = Put, err.Error()
		return nil
	case err != nil:
		return err
	}
	c.Mode, c.Why = HFile, size
	return nil
}

func estimates(bytes int64, regions int) map[Mode]Estimate {
	b := float64(bytes)
	return map[Mode]Estimate{
		HFile: {Seconds: startSeconds + callSeconds*float64(regions)/2 + b/hfileRate, Staged: int64(b * hfileShare), Written: int64(b * hfileShare)},
		Put:   {Seconds: startSeconds + b/putRate, Written: int64(b * putShare)},
	}
}

// passes is how often the delivered files are read.
func (l *load) passes() int64 {
	if l.putter != nil {
		return 2
	}
	return 1
}

// batchBytes is about how much a batch holds.
func (l *load) batchBytes() int64 {
	switch {
	case l.cfg.Batch > 0:
		return l.cfg.Batch
	case l.handsOver:
		return handedBytes
	}
	return batchBytes
}
