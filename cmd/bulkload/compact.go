package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/run/quantity"
)

// A keeping has the flags of compact, drop and undrop.
type keeping struct {
	options
	keepFor  time.Duration
	fileSize string
	before   string
	all      bool
}

func newCompact(env *cli.Env) *cobra.Command {
	o := &keeping{options: options{env: env}}
	c := &cobra.Command{
		Use:   "compact",
		Short: "Merge the files of many loads into a few",
		Long: `Compact merges the HFiles of a table of files: the files of one region and month become one file with
its roll. It rewrites a merged file only when enough new data has been added, so it can run every
night. It commits month by month. If it is killed, the same command continues with the next month.

Compact holds the table's lock, so no load runs at the same time. Extracts can run: replaced files are
kept for --keep-for, and the first load, compact or drop after that removes them. Until then the
table needs the space of the old and the new files. The result of every query stays the same.

Status 99 means that there is nothing to merge.`,
		Example: `  bulkload compact --table ./trails
  bulkload compact --table hdfs://nn:8020/trails --dry-run
  bulkload compact --job usertrail.yaml --memory 4GiB --keep-for 48h`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := o.compact(c.Context())
			return o.env.Report(r, err)
		},
	}
	env.Reports(c, upkeep.Compacted{Months: []upkeep.MonthDone{}})
	o.add(c)
	c.Flags().StringVar(&o.fileSize, "file-size", "16GiB", "HFiles of this size or more are not merged, and no larger files are written")
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "print which files would be merged, and change nothing")
	return c
}

// add adds the flags that all three commands have.
func (o *keeping) add(c *cobra.Command) {
	o.flags.AddTableOfFiles(c)
	o.flags.AddRun(c, upkeep.MinMemory)
	c.Flags().DurationVar(&o.keepFor, "keep-for", upkeep.DefaultKeepFor, "how long replaced files are kept; choose a longer time than the longest extract takes")
	c.Flags().BoolVar(&o.flags.Verbose, "verbose", false, "log when each month is done")
}

// config returns the configuration of the upkeep. instead is the advice for a table in HBase.
func (o *keeping) config(ctx context.Context, instead string) (upkeep.Config, error) {
	cfg := upkeep.Config{FS: cli.Files(), KeepFor: o.keepFor, Workers: o.flags.Workers, Log: o.flags.Log(o.env), Progress: o.flags.Progress(o.env)}
	if o.keepFor < 0 {
		return cfg, fmt.Errorf("%w: --keep-for %s is negative", cli.ErrUsage, o.keepFor)
	}
	var err error
	if cfg.Memory, err = o.flags.Limits(upkeep.MinMemory); err != nil {
		return cfg, err
	}
	cfg.Store, err = o.flags.StoreOfFiles(ctx, cfg.FS, instead)
	return cfg, err
}

func (o *keeping) compact(ctx context.Context) (upkeep.Compacted, error) {
	none := upkeep.Compacted{Months: []upkeep.MonthDone{}}
	cfg, err := o.config(ctx, "HBase merges the files itself: to change how, use alter in HBase's shell")
	if err != nil {
		return none, err
	}
	defer cfg.Store.Close()
	size, err := humanize.ParseBytes(o.fileSize)
	if err != nil || size == 0 || size > 1<<50 {
		return none, fmt.Errorf("%w: --file-size %q is not a size such as 512MiB or 16GiB", cli.ErrUsage, o.fileSize)
	}
	cfg.FileSize = int64(size)
	do, verb := upkeep.Compact, "merged"
	if o.dryRun {
		do, verb = upkeep.WouldCompact, "would merge"
	}
	r, err := do(ctx, cfg)
	if r.Months == nil {
		r.Months = none.Months
	}
	printCompacted(o.env.Stdout, r, verb, cfg.Store.Address())
	return r, err
}

func printCompacted(w io.Writer, r upkeep.Compacted, verb, address string) {
	for _, m := range r.Months {
		fmt.Fprintf(w, "%-11s %s, %s, into %d\n", m.Month, quantity.Of(m.Merged, "file"), humanize.IBytes(uint64(m.Bytes)), m.Made)
	}
	if len(r.Months) > 0 {
		fmt.Fprintf(w, "%-11s %d of %s of %s into %d, %s\n", verb, r.Before-r.Kept, quantity.Of(r.Before, "file"), address, r.After-r.Kept, quantity.Of(r.Merges, "record"))
	}
}
