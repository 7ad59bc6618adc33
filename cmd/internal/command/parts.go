package command

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"usertrail/internal/lineage"
)

// A partOf says that a command line is a part of a run that a script does: plan, commit, and
// ended, which ends a run between the two. Metrics and OpenLineage are told of the run and
// not of its parts.
type partOf struct {
	id    string // of the run; none if the command line is a run of its own
	began int64  // seconds since 1970
}

// add puts the flags on a command line. They are for scripts that come with this program.
func (p *partOf) add(c *cobra.Command) {
	f := c.PersistentFlags()
	f.StringVar(&p.id, "part-of-run", "", "UUID of the run of which this command line is a part")
	f.Int64Var(&p.began, "run-began", 0, "start of that run, in seconds since 1970-01-01 UTC")
	for _, name := range []string{"part-of-run", "run-began"} {
		if err := f.MarkHidden(name); err != nil {
			panic(err)
		}
	}
}

// check refuses a part that no script does.
func (p *partOf) check(c *cobra.Command) error {
	if p.id == "" {
		return nil
	}
	if !lineage.IsID(p.id) {
		return fmt.Errorf("%w: --part-of-run %q is no UUID", ErrUsage, p.id)
	}
	switch c.Name() {
	case "plan", "commit", endedName:
		return nil
	}
	return fmt.Errorf("%w: --part-of-run: %s is no part of a run", ErrUsage, c.CommandPath())
}

// runName is what the run of c is called: the command's name, or that of the program's work.
func (p *partOf) runName(c *cobra.Command) string {
	if p.id == "" {
		return commandName(c)
	}
	return commandName(c.Root())
}

// begins reports whether the run begins with c, and ends whether it ends with c and status.
func (p *partOf) begins(c *cobra.Command) bool { return p.id == "" || c.Name() == "plan" }

func (p *partOf) ends(c *cobra.Command, status int) bool {
	return p.id == "" || c.Name() != "plan" || status != OK
}

// seconds is how long the run took that ended so.
func (p *partOf) seconds(end End) float64 {
	if p.id == "" || p.began == 0 {
		return end.Seconds
	}
	return end.At.Sub(time.Unix(p.began, 0)).Round(time.Millisecond).Seconds()
}

const endedName = "ended"

// endedAs is the error of a run that a script ends.
type endedAs struct {
	status int
	text   string
}

// Error implements error.
func (e *endedAs) Error() string { return e.text }

// Ended is the command by which a script says that its run has failed between its parts.
func Ended(env *Env) *cobra.Command {
	var as endedAs
	c := &cobra.Command{
		Use: endedName, Short: "Report that a run of several command lines has failed", Args: NoArgs, Hidden: true,
		RunE: func(*cobra.Command, []string) error {
			if env.shared().part.id == "" || as.status <= OK || as.text == "" {
				return fmt.Errorf("%w: %s needs --part-of-run, --status and --error", ErrUsage, endedName)
			}
			if b := env.shared().part.began; b != 0 {
				env.Began = time.Unix(b, 0)
			}
			return env.Report(struct{}{}, &as)
		},
	}
	c.Flags().IntVar(&as.status, "status", 0, "exit status of the run")
	c.Flags().StringVar(&as.text, "error", "", "error message of the run")
	c.Flags().String("table", "", "address of the run's table")
	env.Reports(c, struct{}{})
	return c
}

// statusOf returns the status of a run that a script ended, 0 of other errors.
func statusOf(err error) int {
	var e *endedAs
	if errors.As(err, &e) {
		return e.status
	}
	return 0
}
