package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/tryout"
	"usertrail/internal/run/outcome"
	"usertrail/internal/table/precheck"
)

// A checkResult is the last line of pre-check.
type checkResult struct {
	OK      int              `json:"ok"`
	Warn    int              `json:"warn"`
	Fail    int              `json:"fail"`
	Skipped int              `json:"skipped"`
	Checks  []precheck.Check `json:"checks,omitempty"`
	Sample  *tryout.Report   `json:"sample,omitempty"` // nil if nothing was parsed
}

// Counted implements outcome.Result.
func (r checkResult) Counted() outcome.Counts {
	return outcome.Counts{outcome.Skipped: float64(r.Skipped)}
}

func newPreCheck(env *cli.Env) *cobra.Command {
	o := &options{env: env}
	var asJSON bool
	c := &cobra.Command{
		Use:   "pre-check",
		Short: "Check everything that a load needs, without loading",
		Long: `Pre-check checks what a load with the same flags needs, and prints one line per check: the input, the
table, the permissions and the free space. It takes no lock and writes nothing, except an empty file
in each directory that the load would write to, which it removes again. Every load runs the same
checks before it starts, except records-parse.

Records-parse parses a sample of every file that is not loaded yet, as a load would: its beginning,
middle and end, or the whole file if it is small. A compressed file is read from its beginning. For each
behaviour, pre-check prints how many records are good, bad and skipped, each reason with an example,
and what a load would do with the files. --sample sets the size of the sample.

If a check fails, the exit status is the status of that failure. Warnings do not change the status 0.`,
		Example: `  bulkload pre-check --from 2014-09-01 --to 2014-09-01`,
		Args:    cli.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return o.preCheck(c.Context(), asJSON) },
	}
	env.Reports(c, checkResult{})
	o.addLoad(c)
	o.addSample(c, "amount of log text to parse, such as 1GiB, or 0 to parse none")
	c.Flags().BoolVar(&asJSON, "json", false, "print the checks as JSON")
	return c
}

func (o *options) preCheck(ctx context.Context, asJSON bool) error {
	checks, sample, err := o.checks(ctx)
	if err != nil {
		return o.env.Report(checkResult{}, err)
	}
	if asJSON {
		err = printChecksJSON(o.env.Stdout, checks)
	} else {
		printChecks(o.env.Stdout, checks)
		printSample(o.env.Stdout, sample)
	}
	if err != nil {
		return o.env.Report(checkResult{}, err)
	}
	return o.env.Report(checkResult{
		OK: precheck.Count(checks, precheck.OK), Warn: precheck.Count(checks, precheck.Warn),
		Fail: precheck.Count(checks, precheck.Fail), Skipped: precheck.Count(checks, precheck.Skipped), Checks: checks, Sample: sample,
	}, precheck.Failure(checks))
}

func (o *options) checks(ctx context.Context) ([]precheck.Check, *tryout.Report, error) {
	span, err := o.flags.Span()
	if err != nil {
		return nil, nil, err
	}
	sample, err := o.sampleSize()
	if err != nil {
		return nil, nil, err
	}
	cfg, err := o.configOf(ctx, cli.Candidate)
	if err != nil {
		return nil, nil, err
	}
	defer cfg.Store.Close()
	remove, err := o.private(&cfg.Temp, cfg.Store.Address(), cfg.Log)
	if err != nil {
		return nil, nil, err
	}
	defer remove()
	cfg.Span, cfg.Sample = span, sample
	return load.PreCheck(ctx, cfg)
}

// printChecks prints a line for each check, and one for its advice.
func printChecks(w io.Writer, checks []precheck.Check) {
	for _, c := range checks {
		fmt.Fprintf(w, "%-19s %-8s %s\n", c.Name, c.State, strings.ReplaceAll(c.Detail, "\n", "; "))
		if c.Advice != "" {
			fmt.Fprintf(w, "%-28s %s\n", "", c.Advice)
		}
	}
}

func printChecksJSON(w io.Writer, checks []precheck.Check) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(checks)
}

// listed returns settings in the order of their names.
func listed(settings map[string]string) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		out = append(out, key+" "+settings[key])
	}
	return strings.Join(out, ", ")
}
