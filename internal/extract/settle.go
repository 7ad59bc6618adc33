package extract

import (
	"context"
	"errors"
	"time"

	"usertrail/internal/run/pipe"
	"usertrail/internal/run/progress"
	"usertrail/internal/table"
)

// settlePause is the pause between two looks at a table in which a load is in part.
const settlePause = time.Second

// Settle waits until t holds the committed state with which it was opened, and no load is
// in it in part. It fails with table.ErrChanged if t has to be opened again, and with
// table.ErrUnsettled after patience.
func Settle(ctx context.Context, t table.Table, patience time.Duration, say progress.Config) error {
	var p *progress.Progress
	defer func() { p.Done() }()
	for began := time.Now(); ; {
		err := table.Unchanged(ctx, t)
		left := patience - time.Since(began)
		if !errors.Is(err, table.ErrUnsettled) || left <= 0 {
			return err
		}
		if p == nil {
			p = progress.Start(say)
			p.Step("waiting until a load is in the table", "seconds", int64(patience/time.Second))
		}
		if err := pipe.Sleep(ctx, min(left, settlePause)); err != nil {
			return err
		}
		p.Add(int64(settlePause / time.Second))
	}
}
