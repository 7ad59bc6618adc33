package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/importer"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/files"
	"usertrail/internal/table/live"
)

// An importing has the flags of import.
type importing struct {
	options
	from string
}

func newImport(env *cli.Env) *cobra.Command {
	o := &importing{options: options{env: env}}
	c := &cobra.Command{
		Use:   "import --from DIR --table hbase://…",
		Short: "Bulk-load a table of files into a table in HBase",
		Long: `Import bulk-loads a table of files into a table in HBase, and splits the files at its regions. It copies
the ledgers too, so the table in HBase knows the delivered files, and the records keep their column
IDs. Import skips what the table has already, so the same command continues where it was stopped.

Status 99 means that everything was imported before.`,
		Example: `  bulkload import --from ./trails --table hbase://zk1,zk2:2181/namespace:table`,
		Args:    cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := o.run(c.Context())
			return o.env.Report(r, err)
		},
	}
	env.Reports(c, bulkload.Result{})
	f := c.Flags()
	f.StringVar(&o.from, "from", "", "directory of the table of files to import, local or hdfs://")
	o.flags.AddTableInHBase(c)
	o.flags.AddRun(c, bulkload.MinMemory)
	return c
}

func (o *importing) run(ctx context.Context) (r bulkload.Result, err error) {
	if o.from == "" || dfs.Scheme(o.from) == live.Scheme {
		return r, fmt.Errorf("%w: --from must be the directory of a table of files", cli.ErrUsage)
	}
	memory, err := o.flags.Limits(bulkload.MinMemory)
	if err != nil {
		return r, err
	}
	fs := cli.Files()
	from, err := files.Open(ctx, fs, o.from)
	if err != nil {
		return r, err
	}
	defer from.Close()
	store, _, err := o.flags.Store(ctx, fs)
	if err != nil {
		return r, err
	}
	defer store.Close()
	if dfs.Scheme(store.Address()) != live.Scheme {
		return r, fmt.Errorf("%w: --table %s is not in HBase; copy a table of files as a directory", cli.ErrUsage, store.Address())
	}
	log, temp := o.flags.Log(o.env), os.TempDir()
	remove, err := o.private(&temp, store.Address(), log)
	if err != nil {
		return r, err
	}
	defer remove()
	with := bulkload.Resources{FS: fs, Store: store, Temp: temp, Workers: o.flags.Workers, Memory: memory, Progress: o.flags.Progress(o.env), Log: log}
	r, err = importer.Run(ctx, with, from)
	o.env.Outcome("import of "+o.from+" into "+store.Address(), err)
	printResult(o.env.Stdout, store, r)
	return r, err
}
