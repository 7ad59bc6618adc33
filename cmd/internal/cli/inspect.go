package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"

	"github.com/spf13/cobra"

	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/inspect"
)

// printReport prints r as text or as JSON.
func printReport(w io.Writer, r *inspect.Report, asJSON bool) error {
	if !asJSON {
		return r.Text(w)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(r)
}

// Inspect returns the command that prints the contents of files and directories of usertrail.
func Inspect(env *Env) *cobra.Command {
	var asJSON bool
	var rows int
	c := &cobra.Command{
		Use:   "inspect PATH",
		Short: "Print what a file or directory that usertrail wrote contains",
		Long: `Inspect prints what PATH contains: a table, an HFile, a roll, a manifest, a ledger, a quarantine
file, a result of extract or one of its parts. If a file of a table or a result is missing or has
another size than the manifest says, or if the manifest of a table is older than its ledgers, the
status is 1.

After a failure the last line of standard output is one JSON object.`,
		Example: "  " + env.name + " inspect ./trails\n  " + env.name + " inspect ./trails/manifest.json --json",
		Args:    OneArg("one path"),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := inspect.Path(c.Context(), Files(), args[0], inspect.Options{Rows: cmp.Or(rows, -1)})
			if errors.Is(err, iofs.ErrNotExist) {
				step := cmp.Or(manifest.Replaced(c.Context(), Files(), args[0]), "name a file or a directory that usertrail wrote")
				return fmt.Errorf("%w: %w: %s", job.ErrNoInput, err, step)
			}
			if err != nil {
				return err
			}
			if err := printReport(env.Stdout, &r, asJSON); err != nil {
				return err
			}
			return r.Damage()
		},
	}
	env.ReportsFailure(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().IntVar(&rows, "rows", 10, "number of rows to show, from the first on")
	return c
}
