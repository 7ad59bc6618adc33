package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/pieces"
	"usertrail/internal/format/job"
	"usertrail/internal/run/quantity"
	"usertrail/internal/store/dfs"
)

func newPlan(env *cli.Env) *cobra.Command {
	o := &options{env: env}
	var size string
	c := &cobra.Command{
		Use:   "plan",
		Short: "Split a load into pieces, or estimate it with --dry-run",
		Long: `Plan splits the load of the same flags into pieces. It prints each piece as one line of JSON on standard
output, and nothing else there. The last line of standard error is the result. A piece is one or more
delivered files, or a range of a large file. Run each piece with bulkload run-piece, on any machine
that reaches the logs and the table, in any order. A piece may run more than once. Then bulkload commit
adds all pieces to the table. If plan runs again, the same files give the same lines, and finished
pieces stay finished. If there is nothing to do, plan prints no line and ends with status 99.

If the job names unique: keys for a behaviour, all files of the behaviour are in one piece.

With --dry-run, plan prints which files a load would read, which regions it would write and how much.
For a table in HBase it also prints the cost by HFiles and by puts. It then takes no lock and writes
nothing.`,
		Example: `  bulkload plan --from 2014-09-01 --to 2014-09-10 >pieces &&
  seq $(wc -l <pieces) | xargs -P 4 -I N sh -c 'sed -n Np pieces | bulkload run-piece --quiet' &&
  bulkload commit --pieces pieces

  bulkload plan --dry-run --from 2014-09-01 --to 2014-09-10`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.dryRun {
				return o.load(c.Context())
			}
			return o.plan(c.Context(), size)
		},
	}
	o.addLoad(c)
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, dryRunUsage)
	o.patience.add(c)
	c.Flags().StringVar(&size, "piece-size", "1GiB", "approximate size of a piece, in bytes of delivered files, such as 256MiB or 4GiB")
	env.Reports(c, planResult{})
	return c
}

// A planResult is the last line of plan.
type planResult struct {
	pieces.Planned
}

// streams reports whether standard output is only for pieces. It does not need valid flags,
// because the error of a wrong flag must not be printed among the pieces.
func streams(args []string) bool {
	return len(args) > 0 && args[0] == "plan" && !slices.Contains(args, "--dry-run") && !slices.Contains(args, "--dry-run=true")
}

func (o *options) plan(ctx context.Context, size string) error {
	all, planned, err := o.cut(ctx, size)
	if err == nil {
		err = o.printPieces(all)
	}
	if err == nil {
		o.explainPieces(planned)
	}
	return o.env.Report(planResult{planned}, err)
}

func (o *options) cut(ctx context.Context, size string) ([]pieces.Piece, pieces.Planned, error) {
	n, err := humanize.ParseBytes(size)
	if err != nil || n == 0 || n > 1<<50 {
		return nil, pieces.Planned{}, fmt.Errorf("%w: --piece-size %q is not a size such as 256MiB or 4GiB", cli.ErrUsage, size)
	}
	span, err := o.flags.Span()
	if err != nil {
		return nil, pieces.Planned{}, err
	}
	cfg, err := o.absolute(ctx)
	if err != nil {
		return nil, pieces.Planned{}, err
	}
	defer cfg.Store.Close()
	cfg.Span, cfg.PieceSize, cfg.Temp = span, int64(n), ""
	var planned pieces.Planned
	all, err := whenReady(ctx, o, cfg.Config, func(ctx context.Context, of load.Config) (all []pieces.Piece, err error) {
		cfg.Config = of
		all, planned, err = pieces.Plan(ctx, cfg)
		return all, err
	})
	return all, planned, err
}

// absolute returns the load with absolute names, so that workers can run in any directory.
func (o *options) absolute(ctx context.Context) (cfg pieces.Config, err error) {
	fs := cli.Files()
	j, err := o.flags.LoadJob(ctx, fs)
	if err != nil {
		return cfg, err
	}
	text, err := dfs.ReadFile(ctx, fs, j.Name)
	if err != nil {
		return cfg, err
	}
	if cfg.Source.Name, err = absolute(j.Name); err != nil {
		return cfg, err
	}
	cfg.Source.Text = string(text)
	if j, err = job.Parse(cfg.Source.Name, text); err != nil {
		return cfg, err
	}
	address := cmp.Or(o.flags.Table, j.Table.Address)
	if address == "" {
		return cfg, fmt.Errorf("%w: no table: write --table TABLE, or table: in the job file", cli.ErrUsage)
	}
	if cfg.Address, err = absolute(address); err != nil {
		return cfg, err
	}
	o.flags.Job, o.flags.Table = cfg.Source.Name, cfg.Address
	cfg.Config, err = o.config(ctx)
	cfg.Job = j
	return cfg, err
}

// absolute returns the absolute form of a local name. Other names stay as they are.
func absolute(name string) (string, error) {
	if dfs.Scheme(name) != "" {
		return name, nil
	}
	return filepath.Abs(name)
}

func (o *options) printPieces(all []pieces.Piece) error {
	lines, err := pieces.Lines(all)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(o.env.Stdout)
	for i := range lines {
		w.Write(append(lines[i].Text(), '\n'))
	}
	return w.Flush()
}

// explainPieces prints a summary of the plan on standard error.
func (o *options) explainPieces(p pieces.Planned) {
	if o.flags.Quiet {
		return
	}
	say := func(format string, args ...any) { fmt.Fprintf(o.env.Stderr, format+"\n", args...) }
	say("planned     %s of %s, %s; done: %d; files loaded already: %d, missing: %d",
		quantity.Of(p.Pieces, "piece"), quantity.Of(p.Files, "file"), humanize.IBytes(uint64(p.Bytes)), p.Done, p.Already, p.Missing)
	for _, f := range p.Failed {
		say("not loaded  %s", strings.ReplaceAll(f.Error, "\n", "; "))
	}
	for _, name := range p.Tied {
		say("note        all files of %s together are one piece, because a key must not repeat in another file", name)
	}
	if p.Cut > 0 {
		say("note        files larger than a piece, split into ranges: %d; one piece of each file computes the digests", p.Cut)
	}
	first, count := map[string]string{}, map[string]int{} // by reason
	for _, w := range p.Whole {
		if count[w.Why]++; count[w.Why] == 1 {
			first[w.Why] = w.Path
		}
	}
	for _, why := range slices.Sorted(maps.Keys(count)) {
		say("note        files larger than a piece, not split: %d, such as %s: %s", count[why], first[why], why)
	}
	if len(p.Estimates) > 0 {
		say("mode        %s: %s", p.Mode, p.Why)
	}
}
