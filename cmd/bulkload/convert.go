package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/bulkload/convert"
	"usertrail/internal/format/layout"
	"usertrail/internal/run/quantity"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/live"
)

// A converting has the flags of convert.
type converting struct {
	options
	to, out string
	regions int
}

func newConvert(env *cli.Env) *cobra.Command {
	o := &converting{options: options{env: env}}
	c := &cobra.Command{
		Use:   "convert --to LAYOUT --out DIR",
		Short: "Copy a table of files into a new table with another layout",
		Long: `Convert copies a table of files into a new table with another layout. It does not need the logs. The
new table has the same schema, records, column IDs and loads, so it knows the delivered files, and
the next night can be loaded into it. Dropped days stay dropped. Bad records are copied too. Plans
that are not committed are not copied.

The layouts are
` + strings.Join(layout.Names(), ", ") + `.

Convert only reads the old table, without its lock. The new table becomes visible when it is complete.
If convert is killed, the same command continues, or starts again if the old table has changed. If
the layout cannot store a record, convert fails and names the user.

The regions of the new table are split as the layout requires, or else by the users in the rolls.`,
		Example: `  bulkload convert --to tall --out ./tall --table ./trails
  bulkload convert --to fixed/8 --out hdfs://nn:8020/fixed --table hdfs://nn:8020/trails --memory 4GiB`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := o.convert(c.Context())
			return o.env.Report(r, err)
		},
	}
	env.Reports(c, convert.Result{})
	o.flags.AddTableOfFiles(c)
	o.flags.AddRun(c, convert.MinMemory)
	f := c.Flags()
	f.StringVar(&o.to, "to", "", "layout of the new table")
	f.StringVarP(&o.out, "out", "o", "", "directory of the new table, local or hdfs://, new or empty")
	f.IntVar(&o.regions, "regions", 0, "number of regions of the new table (default as many as the old table has)")
	f.StringVar(&o.temp, "temp", "", "local directory for sorted runs (default tmp/ of a local --out, else $TMPDIR), and for files until they are uploaded to HDFS (default $TMPDIR)")
	f.BoolVar(&o.flags.Verbose, "verbose", false, "log when the files of each load are done")
	return c
}

func (o *converting) convert(ctx context.Context) (r convert.Result, err error) {
	r.Layout, r.Out = o.to, o.out
	cfg, err := o.conversion(ctx)
	if err != nil {
		return r, err
	}
	defer cfg.From.Close()
	defer cfg.Out.Close()
	remove, err := o.private(&cfg.Temp, o.out, cfg.Log)
	if err != nil {
		return r, err
	}
	defer remove()
	r, err = convert.Run(ctx, cfg)
	what := fmt.Sprintf("conversion of %s to %s in %s", cfg.From.Address(), o.to, cfg.Out.Address())
	o.env.Outcome(what, err)
	if err == nil {
		printConverted(o.env.Stdout, r)
	}
	return r, err
}

// conversion returns the conversion that the flags describe.
func (o *converting) conversion(ctx context.Context) (convert.Config, error) {
	cfg := convert.Config{
		FS: cli.FilesIn(o.temp), Layout: o.to, Regions: o.regions, Workers: o.flags.Workers, Log: o.flags.Log(o.env), Progress: o.flags.Progress(o.env),
	}
	switch {
	case o.to == "":
		return cfg, fmt.Errorf("%w: --to is missing: write --to LAYOUT, one of %s", cli.ErrUsage, strings.Join(layout.Names(), ", "))
	case o.out == "":
		return cfg, fmt.Errorf("%w: --out is missing: write --out DIR, the directory of the new table", cli.ErrUsage)
	case dfs.Scheme(o.out) == live.Scheme:
		return cfg, fmt.Errorf("%w: --out %s is in HBase: convert into a directory, and load that into HBase with bulkload import", cli.ErrUsage, o.out)
	case o.regions < 0 || o.regions > maxRegions:
		return cfg, fmt.Errorf("%w: --regions %d is not in 1..%d", cli.ErrUsage, o.regions, maxRegions)
	}
	var err error
	if cfg.Memory, err = o.flags.Limits(convert.MinMemory); err != nil {
		return cfg, err
	}
	if cfg.From, err = o.flags.StoreOfFiles(ctx, cfg.FS, "only a table of files can be converted"); err != nil {
		return cfg, err
	}
	cfg.Out, err = cli.StoreOfFiles(ctx, cfg.FS, o.out, nil, o.flags.Waits)
	if err == nil {
		cfg.Temp, err = o.tempFor(o.out)
	}
	return cfg, err
}

func printConverted(w io.Writer, r convert.Result) {
	fmt.Fprintf(w, "converted   %s of %s into %s, layout %s, %s\n",
		quantity.Of(r.Records, "record"), quantity.Of(r.Loads, "load"), r.Out, r.Layout, quantity.Of(r.Regions, "region"))
	fmt.Fprintf(w, "written     %s in %s, %s\n", quantity.Of(r.Cells, "cell"), quantity.Of(r.Files, "HFile"), humanize.IBytes(uint64(r.Bytes)))
	if r.Already > 0 {
		fmt.Fprintf(w, "continued   %d of the HFiles were written by an earlier run\n", r.Already)
	}
}
