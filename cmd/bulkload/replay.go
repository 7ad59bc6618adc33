package main

import (
	"context"

	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/replay"
)

func newReplay(env *cli.Env) *cobra.Command {
	o := &options{env: env}
	c := &cobra.Command{
		Use:   "replay FILE",
		Short: "Load corrected records of a quarantine file",
		Long: `Replay loads the records of a quarantine file after you have corrected their "raw" text. Each record
gets the column ID that it would have had in its log. A record that was replayed before counts as a
duplicate. Records that are still bad are written to a new quarantine file, and the status is 65.`,
		Example: `  bulkload replay trails/quarantine/2014-09-01__play.csv.jsonl
  bulkload replay --job usertrail.yaml trails/quarantine/2014-09-01__play.csv.jsonl`,
		Args: cli.OneArg("one quarantine file"),
		RunE: func(c *cobra.Command, args []string) error { return o.replay(c.Context(), args[0]) },
	}
	env.Reports(c, bulkload.Result{})
	f := c.Flags()
	f.StringVar(&o.flags.Job, "job", "", "job file (default $USERTRAIL_JOB, then ./usertrail.yaml)")
	f.StringVar(&o.flags.Table, "table", "", "table: a directory, or hbase://zk1,zk2:2181/namespace:table (default the job file's)")
	f.StringVar(&o.flags.Memory, "memory", "1GiB", cli.MemoryUsage)
	f.IntVar(&o.flags.Workers, "workers", 1, "number of concurrent workers")
	o.flags.Waits.Add(c)
	o.flags.AddQuiet(c)
	return c
}

func (o *options) replay(ctx context.Context, file string) error {
	cfg, err := o.config(ctx)
	if err != nil {
		return o.env.Report(bulkload.Result{}, err)
	}
	defer cfg.Store.Close()
	remove, err := o.private(&cfg.Temp, cfg.Store.Address(), cfg.Log)
	if err != nil {
		return o.env.Report(bulkload.Result{}, err)
	}
	defer remove()
	r, err := replay.Run(ctx, replay.Config{Resources: cfg.Resources, Job: cfg.Job, Mode: cfg.Mode}, file)
	o.env.Outcome("replay of "+file+" into "+cfg.Store.Address(), err)
	printResult(o.env.Stdout, cfg.Store, r)
	return o.env.Report(r, err)
}
