package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/extract/ddl"
	"usertrail/internal/extract/place"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
)

// defaultTable is the default of --name.
const defaultTable = "trails"

// ddlOptions are the flags of the statements for an engine.
type ddlOptions struct {
	env          *cli.Env
	engine, name string
}

func newDDL(env *cli.Env) *cobra.Command {
	o := &ddlOptions{env: env}
	list := ddl.Names()
	c := &cobra.Command{
		Use:   "ddl DIR --for ENGINE",
		Short: "Print the SQL that makes a result a table of another program",
		Long: `Ddl prints the SQL that defines a table over the result of an extract, for ` + list + `.
The table reads the files where they are. The result must be Parquet. It may be partitioned.

Only the statements are on standard output. After a failure the last line is one JSON object.`,
		Example: `  extract ddl ./trails-any --for duckdb | duckdb trails.db
  extract ddl hdfs://nn:8020/trails-any --for spark --name shop.trails | spark-sql -f /dev/stdin`,
		Args: cli.OneArg("the directory of an extract"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	c.Flags().StringVar(&o.engine, "for", "", "program that reads the table: "+list)
	c.Flags().StringVar(&o.name, "name", defaultTable, "name of the table, such as trails or schema.trails")
	env.ReportsFailure(c)
	return c
}

func (o *ddlOptions) run(ctx context.Context, dir string) error {
	if o.engine == "" {
		return fmt.Errorf("%w: --for is missing: name the program that reads the table: %s", cli.ErrUsage, ddl.Names())
	}
	fs := cli.Files()
	m, err := manifest.ReadExtract(ctx, fs, dir)
	if err != nil {
		return err
	}
	at, err := dfs.Real(ctx, fs, dir)
	if err != nil {
		return err
	}
	damage, err := place.At(fs, at).Damage(ctx, m.Parts)
	if err != nil {
		return err
	}
	if damage != "" {
		return fmt.Errorf("%s: %w: %s: %s", dir, dfs.ErrDamaged, damage, m.Again(ctx, fs, at))
	}
	if err := m.CheckForeign(ctx, fs, at); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	sql, err := ddl.Statements(m, at, o.name, ddl.Engine(o.engine))
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if len(m.Parts) == 0 && ddl.Engine(o.engine) == ddl.DuckDB {
		fmt.Fprintf(o.env.Stderr, "extract: %s has no files yet, so the view has no rows: run extract ddl again when the result has files\n", dir)
	}
	_, err = fmt.Fprint(o.env.Stdout, sql)
	return err
}
