package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"usertrail/internal/run/exit"
	"usertrail/internal/run/lineage"
	"usertrail/internal/run/outcome"
)

// A partOf marks a command line as a part of a run that a script does: plan, commit, or ended,
// which ends a run between the two. Metrics and OpenLineage get the run, not its parts.
type partOf struct {
	id    string // of the run; empty if the command line is a run by itself
	began int64  // seconds since 1970
}

// add adds the hidden flags. They are for the scripts of this repository.
func (p *partOf) add(c *cobra.Command) {
	f := c.PersistentFlags()
	f.StringVar(&p.id, "part-of-run", "", "UUID of the run of which this command line is a part")
	f.Int64Var(&p.began, "run-began", 0, "start of that run, in seconds since 1970-01-01 UTC")
	Unlist(f, "part-of-run", "run-began")
}

// check refuses a command that cannot be a part of a run.
func (p *partOf) check(c *cobra.Command) error {
	if p.id == "" {
		return nil
	}
	if !lineage.IsID(p.id) {
		return fmt.Errorf("%w: --part-of-run %q is not a UUID", ErrUsage, p.id)
	}
	switch c.Name() {
	case "plan", "commit", endedName:
		return nil
	}
	return fmt.Errorf("%w: --part-of-run: %s cannot be part of a run", ErrUsage, c.CommandPath())
}

// runName returns the name of the run of c. The name of a part is the name of the whole run.
func (p *partOf) runName(c *cobra.Command) string {
	if p.id == "" {
		return commandName(c)
	}
	return commandName(c.Root())
}

// begins reports whether the run begins with c. ends reports whether it ends with c and status.
func (p *partOf) begins(c *cobra.Command) bool { return p.id == "" || c.Name() == "plan" }

func (p *partOf) ends(c *cobra.Command, status exit.Status) bool {
	return p.id == "" || c.Name() != "plan" || status != exit.OK
}

// seconds returns the duration of the run.
func (p *partOf) seconds(end *outcome.Outcome) float64 {
	if p.id == "" || p.began == 0 {
		return end.Seconds
	}
	return outcome.Seconds(end.At.Sub(time.Unix(p.began, 0)))
}

const endedName = "ended"

// endedAs is the error of a run that a script has ended.
type endedAs struct {
	status exit.Status
	text   string
}

// Error implements error.
func (e *endedAs) Error() string { return e.text }

// Ended returns the command by which a script reports that its run has failed between its parts.
func Ended(env *Env) *cobra.Command {
	var as endedAs
	c := &cobra.Command{
		Use: endedName, Short: "Report that a run of several command lines has failed", Args: NoArgs, Hidden: true,
		RunE: func(*cobra.Command, []string) error {
			if env.shared().part.id == "" || as.status <= exit.OK || as.text == "" {
				return fmt.Errorf("%w: %s needs --part-of-run, --status and --error", ErrUsage, endedName)
			}
			if b := env.shared().part.began; b != 0 {
				env.Began = time.Unix(b, 0)
			}
			return env.Report(outcome.None{}, &as)
		},
	}
	c.Flags().IntVar((*int)(&as.status), "status", 0, "exit status of the run")
	c.Flags().StringVar(&as.text, "error", "", "error message of the run")
	c.Flags().String("table", "", "address of the run's table")
	env.Reports(c, outcome.None{})
	return c
}

// endedStatus returns the status of a run that a script has ended, and false for other errors.
func endedStatus(err error) (exit.Status, bool) {
	var e *endedAs
	if errors.As(err, &e) {
		return e.status, true
	}
	return 0, false
}
