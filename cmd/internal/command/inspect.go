package command

import (
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"

	"github.com/spf13/cobra"

	"usertrail/internal/inspect"
	"usertrail/internal/job"
)

// Inspect is the command that says what is in any file or directory we write.
func Inspect(env *Env) *cobra.Command {
	var asJSON bool
	var rows int
	c := &cobra.Command{
		Use:   "inspect PATH",
		Short: "Say what is in a file or directory that usertrail wrote",
		Long:  "Inspect says what is in a table, an HFile, a roll, a manifest, a ledger, a quarantine\nfile, an extract's directory or one of its parts.\n\nAfter a failure the last line of standard output is one JSON object.",
		Args:  OneArg("one path"),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := inspect.Path(c.Context(), Files(), args[0], inspect.Options{Rows: rows})
			if errors.Is(err, iofs.ErrNotExist) {
				return fmt.Errorf("%w: %w", job.ErrNoInput, err)
			}
			if err != nil {
				return err
			}
			if !asJSON {
				return r.Text(env.Stdout)
			}
			enc := json.NewEncoder(env.Stdout)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", " ")
			return enc.Encode(r)
		},
	}
	env.ReportsFailure(c)
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().IntVar(&rows, "rows", 10, "how many of the first rows to show")
	return c
}
