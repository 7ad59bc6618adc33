package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/fit"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/format/job"
	"usertrail/internal/run/outcome"
	"usertrail/internal/run/quantity"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/live"
)

// A tableResult is the last line of create-table.
type tableResult struct {
	Table    string            `json:"table,omitempty"`
	Catalog  string            `json:"catalog,omitempty"`
	Family   string            `json:"family,omitempty"`
	Settings map[string]string `json:"settings,omitempty"` // of the family, as HBase writes them
	Layout   string            `json:"layout,omitempty"`
	Regions  int               `json:"regions"`
	Sampled  int               `json:"sampled"` // keys of users in the sample
	Made     bool              `json:"made"`
	Differs  []string          `json:"differs,omitempty"` // settings of the existing table that differ
}

// Counted implements outcome.Result.
func (tableResult) Counted() outcome.Counts { return nil }

// A creator has the flags of create-table.
type creator struct {
	options
	regions int
	ids     string
	print   bool
}

func newCreateTable(env *cli.Env) *cobra.Command {
	o := &creator{options: options{env: env}}
	c := &cobra.Command{
		Use:   "create-table",
		Short: "Create a table in HBase for user trails",
		Long: `Create-table creates the table that --table or the job names in HBase, for the job's layout:

  regions      split by a sample of the logs of --from to --to, or evenly over the users of --ids,
               or, for layout hashed, into equal parts of the key space
  versions     one, or as many as the layout needs
  Bloom filter over users, if rows begin with users of equal length, else over rows
  encoding     FAST_DIFF and small blocks, with the compression and ttl of the job
  catalog      its address is recorded in the table

The namespace must exist. --print prints the statement for HBase's shell and creates nothing. It needs
the address of the catalog: name a catalog in the job, or set $HADOOP_CONF_DIR.

Status 99 means that the table exists with these settings, 73 that it exists with other settings.`,
		Example: `  bulkload create-table --table hbase://zk1,zk2:2181/stb:trails --from 2014-09-01 --to 2014-09-03 --regions 64
  bulkload create-table --ids 0000000001..0062951396 --regions 64 --print`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.create(c.Context()) },
	}
	env.Reports(c, tableResult{})
	f := c.Flags()
	o.flags.AddTableInHBase(c)
	f.StringVar(&o.flags.From, "from", "", "first date of the logs to sample, YYYY-MM-DD")
	f.StringVar(&o.flags.To, "to", "", "last date of the logs to sample, inclusive, YYYY-MM-DD")
	f.StringSliceVar(&o.flags.Types, "types", nil, "behaviours to sample, comma-separated (default all)")
	f.IntVar(&o.regions, "regions", 0, "number of regions (default the job's, else one per 256 MiB of the logs, at most 64; 16 for layout hashed)")
	f.StringVar(&o.ids, "ids", "", "split evenly over the user IDs FIRST..LAST, instead of by a sample")
	f.BoolVar(&o.print, "print", false, "print the statement for HBase's shell, and create nothing")
	return c
}

func (o *creator) create(ctx context.Context) error {
	d, r, err := o.design(ctx)
	if err != nil || o.print {
		if err == nil {
			fmt.Fprintln(o.env.Stdout, d.Statement())
		}
		return o.env.Report(r, err)
	}
	there, differs, err := d.Make(ctx)
	r.Made, r.Differs = err == nil && !there, differs
	switch {
	case err != nil:
	case len(differs) > 0:
		err = fmt.Errorf("%w: table %s has other settings: %s; alter it in HBase's shell, or drop it", cli.ErrThere, d.Address(), strings.Join(differs, "; "))
	case there:
		err = fmt.Errorf("%w: table %s exists with these settings", bulkload.ErrNothing, d.Address())
	default:
		printTable(o.env.Stdout, r)
	}
	return o.env.Report(r, err)
}

// design returns the design of the table.
func (o *creator) design(ctx context.Context) (*live.Design, tableResult, error) {
	var r tableResult
	cfg, address, err := o.begin(ctx)
	if err != nil {
		return nil, r, err
	}
	if dfs.Scheme(address) != live.Scheme {
		return nil, r, fmt.Errorf("%w: %s is a table of files: its first load creates it; create-table is for hbase://zk1,zk2:2181/namespace:table", cli.ErrUsage, address)
	}
	if _, err := cli.Design(address, cfg.Job, o.flags.Waits, fit.Fit{}); err != nil {
		return nil, r, err // before the logs are read
	}
	cut, err := o.fit(ctx, cfg)
	if err != nil {
		return nil, r, err
	}
	d, err := cli.Design(address, cfg.Job, o.flags.Waits, cut)
	if err != nil {
		return nil, r, err
	}
	r = tableResult{Table: d.Address(), Catalog: d.Catalog(), Layout: cfg.Job.Layout, Regions: d.Regions(), Sampled: cut.Users}
	r.Family, r.Settings = d.Family()
	return d, r, nil
}

// fit splits the table as its layout requires, by IDs, or by logs.
func (o *creator) fit(ctx context.Context, cfg load.Config) (fit.Fit, error) {
	if o.regions < 0 || o.regions > maxRegions {
		return fit.Fit{}, fmt.Errorf("%w: --regions %d is not in 1..%d", cli.ErrUsage, o.regions, maxRegions)
	}
	logs := o.flags.From != "" || o.flags.To != "" || len(o.flags.Types) > 0
	cut, ok, err := fit.Layout(cfg.Job, o.regions)
	switch {
	case err != nil:
		return fit.Fit{}, err
	case ok && (logs || o.ids != ""):
		return fit.Fit{}, fmt.Errorf("%w: a table of layout %s is split into equal parts, without a sample of users: omit --from, --to, --types and --ids", cli.ErrUsage, cfg.Job.Layout)
	case ok:
		return cut, nil
	case o.ids == "":
		if cfg.Span, err = o.flags.Span(); err != nil {
			return fit.Fit{}, fmt.Errorf("%w; or --ids FIRST..LAST", err)
		}
		search, err := delivered.NewSearch(cfg.FS, cfg.Job, cfg.Span, cfg.Types)
		if err != nil {
			return fit.Fit{}, err
		}
		return fit.Logs(ctx, search, o.regions)
	case logs:
		return fit.Fit{}, fmt.Errorf("%w: --ids needs no logs: write --ids, or --from and --to", cli.ErrUsage)
	}
	return o.fitIDs(cfg.Job)
}

// fitIDs splits the table evenly over the IDs of the flag.
func (o *creator) fitIDs(j *job.Job) (fit.Fit, error) {
	ids, err := fit.ParseIDs(o.ids)
	if err != nil {
		return fit.Fit{}, err
	}
	n := cmp.Or(o.regions, j.Table.Regions)
	if n == 0 {
		return fit.Fit{}, fmt.Errorf("%w: --ids needs a number of regions: write --regions, or table: {regions: …} in the job", cli.ErrUsage)
	}
	return fit.IDs(j, ids, n)
}

// maxRegions is the maximum of --regions, and of regions in a job.
const maxRegions = 100_000

func printTable(w io.Writer, r tableResult) {
	by := "split by " + quantity.Of(r.Sampled, "user")
	if r.Sampled == 0 {
		by = "split as the layout requires"
	}
	fmt.Fprintf(w, "created     %s, %s, %s\n", r.Table, english.Plural(r.Regions, "region", ""), by)
	fmt.Fprintf(w, "layout      %s\n", r.Layout)
	fmt.Fprintf(w, "family      %s: %s\n", r.Family, listed(r.Settings))
	fmt.Fprintf(w, "catalog     %s\n", r.Catalog)
}
