package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/bulkload"
	"usertrail/internal/run/outcome"
	"usertrail/internal/table"
	"usertrail/internal/table/live"
)

func newForget(env *cli.Env) *cobra.Command {
	o := &options{env: env}
	var keepRows bool
	c := &cobra.Command{
		Use:   "forget",
		Short: "Move the catalog of an emptied HBase table away",
		Long: `Forget moves the catalog of a table in HBase away if the table has lost its rows: the table was dropped
and created again, truncated, or restored from an older snapshot. The ledgers, rolls and bad records
move to the folder "forgotten" of the catalog. The next load then counts as the first and loads every
file of its dates. Forget refuses a table that has rows, because a second load of the same files would
duplicate them: truncate the table first.

Forget changes nothing in HBase. It holds the table's lock, so no load runs at the same time. The moved
rolls and ledgers can be moved back by hand.

Status 99 means that there is no catalog.`,
		Example: `  bulkload forget --table hbase://zk1,zk2:2181/stb:trails
  bulkload forget --job usertrail.yaml`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := o.forget(c.Context(), keepRows)
			return env.Report(r, err)
		},
	}
	env.Reports(c, forgetResult{})
	o.flags.AddTableInHBase(c)
	c.Flags().BoolVar(&keepRows, "keep-rows", false, "accept a table that has rows; use it only if no load wrote these rows")
	return c
}

// A forgetResult is the last line of forget.
type forgetResult struct {
	Forgotten string `json:"forgotten"` // folder
}

// Counted implements outcome.Result.
func (forgetResult) Counted() outcome.Counts { return nil }

func (o *options) forget(ctx context.Context, keepRows bool) (r forgetResult, err error) {
	store, _, err := o.flags.Store(ctx, cli.Files())
	if err != nil {
		return r, err
	}
	defer store.Close()
	s, ok := store.(*live.Store)
	if !ok {
		return r, nothingToForget(ctx, store)
	}
	r.Forgotten, err = s.Forget(ctx, keepRows)
	if errors.Is(err, table.ErrNoTable) {
		return r, fmt.Errorf("%w: %v", bulkload.ErrNothing, err) // not ErrNoTable, which has another status
	}
	if err == nil {
		fmt.Fprintf(o.env.Stdout, "moved       the catalog of %s to %s\n", s.Address(), r.Forgotten)
	}
	return r, err
}

// nothingToForget returns the error for an address that is not in HBase.
func nothingToForget(ctx context.Context, s table.Store) error {
	t, err := s.Open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(fmt.Errorf("%w: %s is a table of files, which contains its catalog: forget is for tables in HBase", cli.ErrUsage, s.Address()), t.Close())
}
