package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/arrival"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/format/job"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs"
)

// A patience is the time that a load waits for logs and for the lock.
type patience struct {
	wait    time.Duration
	settle  time.Duration
	asked   bool // --wait is set
	settles bool // --settle is
}

// lockEvery is the interval of attempts to take the table's lock.
const lockEvery = time.Second

func (p *patience) add(c *cobra.Command) {
	f := c.Flags()
	f.DurationVar(&p.wait, "wait", 0, "how long to wait for late logs, and for another run to end, such as 4h (default 0s)")
	f.DurationVar(&p.settle, "settle", time.Minute, "watch the logs for this time before they are loaded, and leave out logs that change; applies only to jobs without a marker, and only with --wait or if this flag is given")
	before := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		p.asked, p.settles = f.Changed("wait"), f.Changed("settle")
		if p.wait < 0 || p.settle < 0 {
			return fmt.Errorf("%w: --wait and --settle must not be negative", cli.ErrUsage)
		}
		if before != nil {
			return before(c, args)
		}
		return nil
	}
}

// errMoved is wrapped if logs have changed while a load waited for the table's lock, and
// there is time to wait for them again.
var errMoved = errors.New("logs have changed again")

// whenReady calls work when the logs have arrived and no other run holds the table. The work
// checks the logs again when it has the lock.
func whenReady[R any](ctx context.Context, o *options, cfg load.Config, work func(context.Context, load.Config) (R, error)) (R, error) {
	if !o.patience.asked && (!o.patience.settles || cfg.Job.Marker != nil) { // the load looks for the marker
		return work(ctx, cfg)
	}
	var none R
	until := time.Now().Add(o.patience.wait)
	p := progress.Start(progress.Config{Quiet: true, Board: cfg.Progress.Board})
	defer p.Done()
	w, err := o.watch(cfg)
	if err != nil {
		return none, err
	}
	cfg.Unsettled = o.unsettled(w, until)
	for {
		if err := o.arrive(ctx, cfg, w, p); err != nil {
			return none, err
		}
		r, err := whenFree(ctx, o, cfg, p, until, work)
		if !errors.Is(err, errMoved) {
			return r, err
		}
	}
}

// whenFree calls work until no other run holds the table, or until the time is over. It
// returns the result of the last call.
func whenFree[R any](ctx context.Context, o *options, cfg load.Config, p *progress.Progress, until time.Time, work func(context.Context, load.Config) (R, error)) (R, error) {
	for logged := false; ; logged = true {
		r, err := work(ctx, cfg)
		left := time.Until(until)
		if !errors.Is(err, dfs.ErrLocked) || left <= 0 {
			return r, err
		}
		if !logged {
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

// watch returns the wait for logs that the flags describe.
func (o *options) watch(cfg load.Config) (*arrival.Watch, error) {
	kinds, err := kindsOf(cfg.Job, cfg.Types)
	if err != nil {
		return nil, err
	}
	c := arrival.Config{
		FS: cfg.FS, Job: cfg.Job, Span: cfg.Span, Kinds: kinds, For: o.patience.wait, Settle: o.patience.settle, Say: o.say, At: func(string) {},
	}
	if !o.patience.asked {
		c.Standing, c.For = true, 2*c.Settle
	} else if cfg.Job.Marker == nil && c.For < c.Settle {
		return nil, fmt.Errorf("%w: --wait %s is shorter than --settle %s: no log could be loaded", cli.ErrUsage, c.For, c.Settle)
	}
	return arrival.New(c), nil
}

// unsettled returns a function that a load calls when it has the table's lock. The function
// returns the logs that are new or have changed since w saw them. If there is time to wait
// for them, it returns errMoved, which ends the load.
func (o *options) unsettled(w *arrival.Watch, until time.Time) func([]job.Input) (map[string]error, error) {
	return func(files []job.Input) (map[string]error, error) {
		out := map[string]error{}
		for _, in := range w.Unsettled(files) {
			if time.Until(until) > o.patience.settle {
				return nil, fmt.Errorf("%s: %w", in.Path, errMoved)
			}
			out[in.Path] = fmt.Errorf("%s: %w, or may be: it has %d bytes, and has changed in the last %s: load it later", in.Path, bulkload.ErrGrowing, in.Size, o.patience.settle)
		}
		return out, nil
	}
}

// arrive waits for the logs. Without --wait it returns at once if all logs are loaded.
func (o *options) arrive(ctx context.Context, cfg load.Config, w *arrival.Watch, p *progress.Progress) error {
	if w.Standing {
		if fresh, err := load.Fresh(ctx, cfg); err == nil && !fresh {
			return nil
		}
	}
	at := p.Worker("waiting")
	defer at.End()
	w.At = func(text string) { at.At("%s", text) }
	return w.Wait(ctx)
}

// say prints a message on standard error, unless --quiet is set.
func (o *options) say(text string) {
	if !o.flags.Quiet {
		fmt.Fprintf(o.env.Stderr, "bulkload: %s\n", text)
	}
}

// kindsOf returns the behaviours of --types, or all. It skips names that the job does not
// have; the load refuses them.
func kindsOf(j *job.Job, types []string) ([]int, error) {
	var kinds []int
	for k, kind := range j.Schema.Kinds {
		if len(types) == 0 || slices.Contains(types, kind.Name) || slices.Contains(types, kind.As) {
			kinds = append(kinds, k)
		}
	}
	if len(kinds) == 0 {
		return nil, fmt.Errorf("%w: --types: the job has none of these behaviours", cli.ErrUsage)
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
