package main

import (
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/samplelog"
	"usertrail/internal/run/quantity"
)

func newSample(env *cli.Env) *cobra.Command {
	cfg := samplelog.Config{}
	var from string
	var gz bool
	c := &cobra.Command{
		Use:   "sample DIR",
		Short: "Generate sample logs of a set-top-box service",
		Long: `Sample generates logs of plays, orders, visits and logins below DIR, one CSV file for each day and
behaviour. The same seed gives the same logs. A few users have many records and many users have few;
with --each all users have the same number.`,
		Example: `  bulkload sample ./logs
  bulkload sample ./logs --from 2014-09-01 --days 3 --records 1000000 --gz`,
		Args: cli.OneArg("one directory"),
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if cfg.From, err = behaviour.ParseDate(from); err != nil {
				return env.Report(samplelog.Summary{}, fmt.Errorf("%w: --from: %w", cli.ErrUsage, err))
			}
			if cfg.Records < 1 || cfg.Days < 1 || cfg.Users < 0 || cfg.Bad < 0 || cfg.Bad > 1 {
				return env.Report(samplelog.Summary{}, fmt.Errorf("%w: --records and --days are at least 1, --bad is a fraction from 0 to 1", cli.ErrUsage))
			}
			switch f := c.Flags(); {
			case f.Changed("each") && cfg.Each < 1:
				return env.Report(samplelog.Summary{}, fmt.Errorf("%w: --each %d: write the number of records of a user, at least 1", cli.ErrUsage, cfg.Each))
			case cfg.Each > 0 && cfg.Users > 0:
				return env.Report(samplelog.Summary{}, fmt.Errorf("%w: --users and --each cannot be combined: with --each, --records determines the number of users", cli.ErrUsage))
			}
			if gz {
				cfg.Compress = "gz"
			}
			s, err := samplelog.Write(c.Context(), cli.Files(), args[0], cfg)
			if err == nil {
				fmt.Fprintf(env.Stdout, "generated %s, %d of them bad, in %s, %s, below %s\n",
					quantity.Of(s.Records, "record"), s.Bad, quantity.Of(s.Files, "file"), humanize.IBytes(uint64(s.Bytes)), args[0])
			}
			return env.Report(s, err)
		},
	}
	env.Reports(c, samplelog.Summary{})
	f := c.Flags()
	f.Int64Var(&cfg.Records, "records", 100_000, "number of records")
	f.IntVar(&cfg.Users, "users", 0, "number of users (default one per 50 records)")
	f.IntVar(&cfg.Each, "each", 0, "number of records of each user, spread evenly (default a few users have most of the records)")
	f.BoolVar(&cfg.Numeric, "numeric", false, "generate user IDs of eight digits, as layout fixed/8 needs them")
	f.IntVar(&cfg.Days, "days", 10, "number of days")
	f.StringVar(&from, "from", samplelog.DefaultFrom.String(), "first date, YYYY-MM-DD")
	f.Uint64Var(&cfg.Seed, "seed", 1, "seed of the random generator")
	f.Float64Var(&cfg.Bad, "bad", samplelog.DefaultBad, "fraction of bad lines, 0 to 1")
	f.BoolVar(&gz, "gz", false, "compress the files with gzip")
	f.BoolVar(&cfg.Wide, "wide", false, "generate longer records: about 205 bytes instead of 147")
	return c
}
