package main

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"

	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/extract/report"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/quantity"
	"usertrail/internal/store/dfs"
)

// defaultPage is the default of --out.
const defaultPage = "report.html"

// reportOptions are the flags of a report.
type reportOptions struct {
	env       *cli.Env
	flags     cli.Flags
	out       string
	asJSON    bool
	overwrite bool
	set       func(flag string) bool
}

func newReport(env *cli.Env) *cobra.Command {
	o := &reportOptions{env: env}
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "Draw a result of extract on one HTML page",
		Long: `Report reads the directory that an extract wrote and draws it on one HTML page that loads nothing from
elsewhere. The page shows how many users were requested, found and active, the events by day and
behaviour, the lengths of trails, which behaviour follows which, the steps of --sequence with the
times between them, and ten sample trails on a time line.

With --json the last line of standard output has the same numbers, and report writes a page only if
--out names one.`,
		Example: `  extract report ./trails-any -o report.html
  extract report ./trails-any --json | tail -n 1 | jq .lengths`,
		Args: cli.OneArg("the directory of an extract"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	f.StringVarP(&o.out, "out", "o", "", "HTML file to write (default "+defaultPage+", or none with --json)")
	o.set = func(flag string) bool { return f.Changed(flag) }
	f.BoolVar(&o.asJSON, "json", false, "print the numbers in the last line of standard output")
	f.BoolVar(&o.overwrite, "overwrite", false, "replace --out if it exists")
	o.flags.AddWorkers(c, "number of parts to read concurrently")
	o.flags.AddQuiet(c)
	env.Reports(c, pageResult{})
	return c
}

// A pageResult is the last line of a report, without --json.
type pageResult struct {
	report.Counts
	Out string `json:"out"`
}

func (o *reportOptions) run(ctx context.Context, dir string) error {
	r, err := o.make(ctx, dir)
	if err != nil {
		return err
	}
	if o.out != "" {
		fmt.Fprintf(o.env.Stdout, "%s of %s in %s\n", quantity.Of(r.Events, "event"), quantity.Of(r.Kept, "user"), o.out)
	}
	if o.asJSON {
		return o.env.Report(r, nil)
	}
	return o.env.Report(pageResult{r.Counts, o.out}, nil)
}

// make reads a result and writes its page.
func (o *reportOptions) make(ctx context.Context, dir string) (*report.Report, error) {
	if o.flags.Workers < 1 {
		return nil, fmt.Errorf("%w: --workers %d is not 1 or more", cli.ErrUsage, o.flags.Workers)
	}
	if o.out == "-" {
		return nil, fmt.Errorf("%w: --out -: the page cannot be written to standard output; --json prints the numbers there", cli.ErrUsage)
	}
	if o.out == "" && !o.asJSON {
		o.out = defaultPage
	}
	fs := cli.Files()
	if err := o.checkOut(ctx, fs); err != nil {
		return nil, err
	}
	r, err := report.Make(ctx, report.Config{FS: fs, Dir: dir, Workers: o.flags.Workers, Progress: o.flags.Progress(o.env)})
	if errors.Is(err, report.ErrUnfit) {
		return nil, fmt.Errorf("%w: %w", cli.ErrUsage, err)
	}
	if err != nil {
		return nil, err
	}
	if o.out == "" {
		return r, nil
	}
	return r, writePage(ctx, fs, o.out, r)
}

// checkOut refuses an --out inside a table or a result, also of an extract that is not finished. It refuses an --out that exists, unless it is a
// page of extract report and --overwrite is given. It runs before anything is read.
func (o *reportOptions) checkOut(ctx context.Context, fs dfs.FS) error {
	if o.out == "" {
		return nil
	}
	around, err := manifest.Around(ctx, fs, o.out)
	if err != nil {
		return fmt.Errorf("check --out: %w", err)
	}
	if why := around.Why("name another"); why != "" {
		return fmt.Errorf("%w: --out %s is inside %s", cli.ErrUsage, o.out, why)
	}
	if around.Dir != "" {
		return fmt.Errorf("%w: --out %s is inside the table %s: name another", cli.ErrUsage, o.out, around.Dir)
	}
	f, err := dfs.OpenRegular(ctx, fs, o.out)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	if errors.Is(err, dfs.ErrSpecial) {
		return fmt.Errorf("--out %s: %w: %w: choose another", o.out, cli.ErrThere, dfs.ErrSpecial)
	}
	if err != nil {
		return fmt.Errorf("check --out: %w", err)
	}
	defer f.Close()
	if !o.overwrite {
		return fmt.Errorf("--out %s: %w: choose another, or add --overwrite", o.out, cli.ErrThere)
	}
	ours, err := report.IsPage(f)
	if err != nil {
		return fmt.Errorf("check --out: %w", err)
	}
	if !ours {
		return fmt.Errorf("--out %s: %w, and --overwrite does not replace it: it is not a page of extract report: choose another", o.out, cli.ErrThere)
	}
	return nil
}

// writePage writes a page completely or not at all.
func writePage(ctx context.Context, fs dfs.FS, name string, r *report.Report) error {
	f, err := fs.Create(ctx, name)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := r.HTML(f); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return f.Commit()
}
