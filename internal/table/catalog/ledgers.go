package catalog

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"sync"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// ledgersAtOnce is how many ledgers are read at once. A table has one for each night, and reading
// one on HDFS is mostly waiting.
const ledgersAtOnce = 8

// EachLedger calls f with the ledger of each load, the oldest first. It removes the days that were dropped. The regions of a
// ledger still count the cells of these days. It ends with the first error of f, or with the error of the oldest ledger
// that cannot be read. It holds at most ledgersAtOnce ledgers that f has not seen.
func (c *Catalog) EachLedger(ctx context.Context, f func(*manifest.Load) error) error {
	m := c.Manifest()
	ctx, stop := context.WithCancel(ctx)
	var readers sync.WaitGroup
	defer readers.Wait()
	defer stop()
	queue := make(chan chan readLedger, ledgersAtOnce-1) // in order of the loads
	readers.Go(func() {
		defer close(queue)
		for i := range m.Loads {
			one := make(chan readLedger, 1)
			select {
			case queue <- one:
			case <-ctx.Done():
				return
			}
			readers.Go(func() {
				l, err := c.Ledger(ctx, &m.Loads[i])
				one <- readLedger{l, err}
			})
		}
	})
	for one := range queue {
		r := <-one
		if r.err != nil {
			return r.err
		}
		r.load.Days = m.Kept(r.load.Days)
		if err := f(r.load); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// A readLedger is the result of reading a ledger.
type readLedger struct {
	load *manifest.Load
	err  error
}

// Ledger reads the ledger of one load and checks it against ref.
func (c *Catalog) Ledger(ctx context.Context, ref *manifest.LoadRef) (*manifest.Load, error) {
	l, err := manifest.ReadLedger(ctx, c.fs, c.dir, ref)
	return l, table.Unreadable(err)
}

// writeLedger writes a ledger and fails if the file exists. Sweep removes every ledger that no
// manifest names. If the file exists, another process took the lock meanwhile and wrote it.
func (c *Catalog) writeLedger(ctx context.Context, ref *manifest.LoadRef, load *manifest.Load) error {
	err := manifest.WriteLedger(ctx, c.fs, c.dir, ref, load)
	if errors.Is(err, iofs.ErrExist) {
		// It is not wrapped: status 73 would be wrong.
		return fmt.Errorf("commit load %d: %w: another run has written %s: run the same command again", load.Number, dfs.ErrLockLost, dfs.Join(c.dir, ref.Name))
	}
	if err != nil {
		return fmt.Errorf("write ledger: %w", unwritable(dfs.InTheWay(err)))
	}
	return nil
}
