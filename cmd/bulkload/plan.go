package main

import (
	"github.com/spf13/cobra"

	"usertrail/cmd/internal/command"
)

func newPlan(env *command.Env) *cobra.Command {
	o := &options{env: env, dryRun: true}
	c := &cobra.Command{
		Use:   "plan --dry-run",
		Short: "Say what a load would do, and what it would cost",
		Long: `Plan says which files a load with the same flags would read, into which regions they would go, how
large, and, of a table in HBase, what it would cost by HFiles and by puts. It takes no lock and writes
nothing: it is bulkload --dry-run.`,
		Example: `  bulkload plan --dry-run --from 2014-09-01 --to 2014-09-10`,
		Args:    command.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return o.load(c.Context()) },
	}
	env.Reports(c, dryResult{})
	o.addLoad(c)
	c.Flags().Bool("dry-run", true, "there is nothing else that plan does")
	return c
}
