package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/run/exit"
	"usertrail/internal/run/outcome"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/runlog"
)

// A runsResult is the last line of runs.
type runsResult struct {
	Runs int `json:"runs"`
}

// Counted implements outcome.Result.
func (runsResult) Counted() outcome.Counts { return nil }

func newRuns(env *cli.Env) *cobra.Command {
	o := &options{env: env}
	var last int
	var asJSON bool
	c := &cobra.Command{
		Use:   "runs",
		Short: "List the runs on a table and how each ended",
		Long: `Runs lists the runs that changed a table or tried to, oldest first: when each run started, its command,
its counts and speed, and how it ended. A run that was killed is listed as died. The table keeps its
last ` + fmt.Sprint(runlog.Kept) + ` runs.`,
		Example: `  bulkload runs --table ./trails --last 7
  bulkload runs --job usertrail.yaml --json`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := o.runs(c.Context(), last, asJSON)
			return env.Report(r, err)
		},
	}
	env.Reports(c, runsResult{})
	o.flags.AddTable(c)
	c.Flags().IntVar(&last, "last", 20, "number of runs to list, the newest ones")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, one run per line")
	return c
}

// written reports whether a run of a command is recorded even if it ended before it had the
// table's lock.
func written(c *cobra.Command) bool {
	if cli.IsSet(c, "dry-run") {
		return false
	}
	switch c.Name() {
	case "bulkload", "replay", "import", "commit", "drop", "undrop", "compact", "forget", "rebuild":
		return true
	}
	return false
}

func (o *options) runs(ctx context.Context, last int, asJSON bool) (r runsResult, err error) {
	if last < 1 {
		return r, fmt.Errorf("%w: --last %d is not 1 or more", cli.ErrUsage, last)
	}
	fs := cli.Files()
	store, _, err := o.flags.Store(ctx, fs)
	if err != nil {
		return r, err
	}
	defer store.Close()
	dir := store.Catalog()
	runs, skipped, err := runlog.Last(ctx, fs, dir, last)
	if err != nil {
		return r, table.Unreadable(err)
	}
	for _, err := range skipped {
		o.flags.Log(o.env).Warn("a run is not listed", "why", err)
	}
	if len(runs) == 0 {
		switch _, err := catalog.Open(ctx, fs, dir); {
		case errors.Is(err, table.ErrNoManifest):
			return r, err
		case errors.Is(err, table.ErrNoTable):
			return r, fmt.Errorf("%w: %s: correct the name of the table, or load first", table.ErrNoTable, store.Address())
		}
	}
	r.Runs = len(runs)
	if asJSON {
		return r, printRunsJSON(o.env.Stdout, runs)
	}
	return r, printRuns(o.env.Stdout, runs)
}

func printRunsJSON(w io.Writer, runs []runlog.Run) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i := range runs {
		if err := enc.Encode(&runs[i]); err != nil {
			return err
		}
	}
	return nil
}

func printRuns(w io.Writer, runs []runlog.Run) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "began\twhat\tfiles\tread\tloaded\ttook\tspeed\thow it ended")
	for i := range runs {
		r := &runs[i]
		what := r.Command
		switch {
		case r.From != "" && r.From == r.To:
			what += " " + r.From
		case r.From != "":
			what += " " + r.From + ".." + r.To
		}
		fmt.Fprintf(out, "%s\t%s\t", r.Began.Local().Format(time.DateTime), what)
		if e := r.End; e != nil {
			fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t", humanize.Comma(e.Files), humanize.Comma(e.Read), humanize.Comma(e.Loaded),
				time.Duration(e.Seconds*float64(time.Second)).Round(100*time.Millisecond), speed(e))
		} else {
			fmt.Fprint(out, "\t\t\t\t\t")
		}
		fmt.Fprintln(out, howEnded(r))
	}
	return out.Flush()
}

// speed returns the speed of a load, in bytes of delivered files per second.
func speed(e *runlog.End) string {
	if e.Files == 0 || e.Seconds <= 0 {
		return "-"
	}
	return humanize.Bytes(uint64(float64(e.Bytes)/e.Seconds)) + "/s"
}

// maxError is the maximum length of an error in the list, in characters.
const maxError = 100

// howEnded returns how a run ended. If it has not ended, it returns the state and the process.
func howEnded(r *runlog.Run) string {
	who := fmt.Sprintf("process %d on %s", r.Process, r.Host)
	if r.End == nil {
		return fmt.Sprintf("%s: %s", r.State, who)
	}
	text, _, more := strings.Cut(r.End.Error, "\n")
	if short := []rune(text); len(short) > maxError {
		text, more = string(short[:maxError]), true
	}
	if more {
		text += " …"
	}
	switch r.End.Status {
	case exit.OK:
		return "done"
	case exit.Nothing:
		return text
	}
	return fmt.Sprintf("failed, status %d: %s", r.End.Status, text)
}
