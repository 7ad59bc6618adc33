package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"usertrail/cmd/internal/command"
	"usertrail/internal/arrival"
	"usertrail/internal/bulkload"
	"usertrail/internal/dfs"
	"usertrail/internal/job"
	"usertrail/internal/progress"
)

// A patience is how long a load waits for what it needs.
type patience struct {
	wait   time.Duration
	settle time.Duration
	asked  bool // --wait is given
}

// lockEvery is how often a load that waits tries the table's lock.
const lockEvery = 5 * time.Second

func (p *patience) add(c *cobra.Command) {
	f := c.Flags()
	f.DurationVar(&p.wait, "wait", 0, "wait so long for logs that come late, and for another run to end")
	f.DurationVar(&p.settle, "settle", time.Minute, "with --wait, where the job names no marker: a log is whole once it has stood still so long")
	before := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		p.asked = f.Changed("wait")
		if p.wait < 0 || p.settle < 0 {
			return fmt.Errorf("%w: --wait and --settle must not be negative", command.ErrUsage)
		}
		if before != nil {
			return before(c, args)
		}
		return nil
	}
}

// whenReady loads once the logs have arrived and no other run holds the table.
func (o *options) whenReady(ctx context.Context, cfg bulkload.Config) (bulkload.Result, error) {
	if !o.patience.asked {
		return bulkload.Run(ctx, cfg)
	}
	began := time.Now()
	p := progress.Start(progress.Config{Quiet: true, Board: cfg.Progress.Board})
	defer p.Done()
	if err := o.arrive(ctx, cfg, p); err != nil {
		return bulkload.Result{}, err
	}
	return o.whenFree(ctx, cfg, p, began.Add(o.patience.wait))
}

// previewed says what a load would do, once the logs have arrived. For locks it does not
// wait: it takes none.
func (o *options) previewed(ctx context.Context, cfg bulkload.Config) (bulkload.Preview, error) {
	if o.patience.asked {
		p := progress.Start(progress.Config{Quiet: true, Board: cfg.Progress.Board})
		defer p.Done()
		if err := o.arrive(ctx, cfg, p); err != nil {
			return bulkload.Preview{}, err
		}
	}
	return bulkload.DryRun(ctx, cfg)
}

// whenFree loads once no other run holds the table, or ends as the last attempt did.
func (o *options) whenFree(ctx context.Context, cfg bulkload.Config, p *progress.Progress, until time.Time) (bulkload.Result, error) {
	for said := false; ; said = true {
		r, err := bulkload.Run(ctx, cfg)
		left := time.Until(until)
		if !errors.Is(err, dfs.ErrLocked) || left <= 0 {
			return r, err
		}
		if !said {
			_, who, _ := strings.Cut(err.Error(), dfs.ErrLocked.Error())
			o.say(fmt.Sprintf("waiting, for %s at the most: another run has %s%s", left.Round(100*time.Millisecond), cfg.Store.Address(), who))
		}
		at := p.Worker("waiting")
		at.At("%v", err)
		err = sleep(ctx, min(lockEvery, left))
		at.End()
		if err != nil {
			return r, err
		}
	}
}

// arrive waits for the logs.
func (o *options) arrive(ctx context.Context, cfg bulkload.Config, p *progress.Progress) error {
	kinds, err := kindsOf(cfg.Job, cfg.Types)
	if err != nil {
		return err
	}
	if cfg.Job.Marker == nil && o.patience.wait < o.patience.settle {
		return fmt.Errorf("%w: --wait %s is over before a log has stood still for --settle %s", command.ErrUsage, o.patience.wait, o.patience.settle)
	}
	at := p.Worker("waiting")
	defer at.End()
	return arrival.Wait(ctx, arrival.Config{
		FS: cfg.FS, Job: cfg.Job, Span: cfg.Span, Kinds: kinds, For: o.patience.wait, Settle: o.patience.settle,
		Say: o.say, At: func(text string) { at.At("%s", text) },
	})
}

// say says on standard error what a person who watches wants to know.
func (o *options) say(text string) {
	if !o.flags.Quiet {
		fmt.Fprintf(o.env.Stderr, "bulkload: %s\n", text)
	}
}

// kindsOf are the behaviours of --types, or all. What the job does not have is left to
// the load, which refuses it.
func kindsOf(j *job.Job, types []string) ([]int, error) {
	var kinds []int
	for k, kind := range j.Schema.Kinds {
		if len(types) == 0 || slices.Contains(types, kind.Name) {
			kinds = append(kinds, k)
		}
	}
	if len(kinds) == 0 {
		return nil, fmt.Errorf("%w: --types: the job has none of these behaviours", command.ErrUsage)
	}
	return kinds, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
