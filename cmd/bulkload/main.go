// Bulkload loads daily log files into a table. Package exit defines the exit statuses,
// and -h lists them.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log/slog"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/outcome"
	"usertrail/internal/run/quantity"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/live"
)

func main() {
	cli.Main(run)
}

// run is main with the streams as arguments. It returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	env := &cli.Env{Stdin: stdin, Stdout: stdout, Stderr: stderr, Began: time.Now(), Streams: streams(args)}
	return cli.Execute(ctx, env, newRoot(env), args)
}

func newRoot(env *cli.Env) *cobra.Command {
	o := &options{env: env}
	root := cli.New(env, "bulkload", "Load daily log files into a table",
		`Bulkload loads the log files of the days --from to --to into a table. If it runs again, it loads
only the files that are not loaded yet, for example files that were delivered late.

The last line of standard output is one JSON object, also after a failure.`)
	root.Example = `  bulkload --job usertrail.yaml --from 2014-09-01 --to 2014-09-10
  bulkload --from 2014-09-01 --to 2014-09-01 --types play,order --table ./trails --dry-run
  bulkload replay --job usertrail.yaml trails/quarantine/2014-09-01__play.csv.jsonl`
	o.addLoad(root)
	root.Flags().BoolVar(&o.dryRun, "dry-run", false, dryRunUsage)
	o.addSample(root, "amount of log text that --dry-run parses, such as 1GiB, or 0 to parse none")
	root.Flags().BoolVar(&o.each, "each-day", false, "load each day separately: a day that fails, or that lacks a required file, does not stop the others")
	root.Flags().BoolVar(&o.reread, "reread", false, rereadUsage)
	o.patience.add(root)
	root.RunE = func(c *cobra.Command, _ []string) error { return o.load(c.Context()) }
	env.Reports(root, bulkload.Result{})
	env.RunLog(written)
	env.Group(root, "load", "Load:", newInit(env), newCreateTable(env), newReplay(env), newImport(env), newSample(env))
	env.Group(root, "inspect", "Inspect:", newPreCheck(env), newVerify(env), newRuns(env), cli.Inspect(env))
	env.Group(root, "maintain", "Maintain a table:", newCompact(env), newDrop(env), newUndrop(env), newConvert(env), newRebuild(env), newForget(env))
	env.Group(root, "plan", "Plan a table, or a load in pieces:", newAdvise(env), newPlan(env), newRunPiece(env), newCommit(env), newToken(env))
	root.AddCommand(cli.Ended(env))
	return root
}

// dryRunUsage describes --dry-run of a load.
const dryRunUsage = "print what would be read and where it would be written, and write nothing"

// options are the flags of a load.
type options struct {
	env    *cli.Env
	flags  cli.Flags
	mode   string
	temp   string
	dryRun bool
	sample string
	each   bool // each day separately
	reread bool

	patience patience
}

// addLoad adds the flags of a load.
func (o *options) addLoad(c *cobra.Command) {
	o.flags.Add(c, bulkload.MinMemory)
	c.Flags().Lookup("types").Usage += " (default all)"
	c.Flags().StringVar(&o.mode, "mode", "", "how rows are written: hfile, put, or auto, which chooses the cheaper; a table of files accepts only hfile (default auto)")
	c.Flags().StringVar(&o.temp, "temp", "", "local directory for sorted runs (default tmp/ of a local table, else $TMPDIR), and for files until they are uploaded to HDFS (default $TMPDIR)")
	c.Flags().BoolVar(&o.flags.Verbose, "verbose", false, "log each loaded batch, and when HBase becomes busy or is no longer busy")
}

// addSample adds --sample.
func (o *options) addSample(c *cobra.Command, usage string) {
	c.Flags().StringVar(&o.sample, "sample", "", fmt.Sprintf("%s (default %s)", usage, cli.Size(load.DefaultSample)))
}

// sampleSize parses --sample. It returns 0 for the default, and -1 for no sample.
func (o *options) sampleSize() (int64, error) {
	if o.sample == "" {
		return 0, nil
	}
	n, err := humanize.ParseBytes(o.sample)
	if err != nil || n > 1<<40 {
		return 0, fmt.Errorf("%w: --sample %q is not a size such as 64MiB or 1GiB", cli.ErrUsage, o.sample)
	}
	if n == 0 {
		return -1, nil
	}
	return int64(n), nil
}

func (o *options) load(ctx context.Context) error {
	span, err := o.flags.Span()
	if err != nil {
		return o.env.Report(bulkload.Result{}, err)
	}
	if o.sample != "" && !o.dryRun {
		return o.env.Report(bulkload.Result{}, fmt.Errorf("%w: --sample needs --dry-run: a load reads every record", cli.ErrUsage))
	}
	sample, err := o.sampleSize()
	if err != nil {
		return o.env.Report(bulkload.Result{}, err)
	}
	cfg, err := o.config(ctx)
	if err != nil {
		return o.env.Report(bulkload.Result{}, err)
	}
	defer cfg.Store.Close()
	cfg.Span, cfg.Sample = span, sample
	if o.reread {
		if err := o.alone(); err != nil {
			return o.env.Report(bulkload.Result{}, err)
		}
		return o.rereads(ctx, cfg, span)
	}
	if o.each && (o.patience.asked || o.dryRun) {
		return o.env.Report(bulkload.Result{}, fmt.Errorf("%w: --each-day can be combined with --settle, but not with --wait or --dry-run", cli.ErrUsage))
	}
	if o.dryRun {
		p, err := whenReady(ctx, o, cfg, load.DryRun)
		if err == nil {
			printPreview(o.env.Stdout, cfg, p)
			printSample(o.env.Stdout, p.Sample)
			if p.Sample != nil {
				printFailed(o.env.Stdout, p.Sample.Failed)
			}
		}
		return o.env.Report(dryResult{Preview: p}, err)
	}
	remove, err := o.private(&cfg.Temp, cfg.Store.Address(), cfg.Log)
	if err != nil {
		return o.env.Report(bulkload.Result{}, err)
	}
	defer remove()
	work := load.Run
	if o.each {
		work = load.Days
	}
	r, err := whenReady(ctx, o, cfg, work)
	o.env.Outcome("load of "+span.String()+" into "+cfg.Store.Address(), err)
	printDays(o.env.Stdout, r.Calendar)
	printResult(o.env.Stdout, cfg.Store, r)
	return o.env.Report(r, err)
}

// A dryResult has the fields of every load's last line, and the fields of the preview.
type dryResult struct {
	manifest.Counts
	Cells int64 `json:"cells"`
	load.Preview
}

// Counted implements outcome.Result.
func (r dryResult) Counted() outcome.Counts {
	c := r.Preview.Counted()
	maps.Copy(c, r.Counts.Counted())
	c[outcome.Cells] = float64(r.Cells)
	return c
}

// config returns the load that the flags and the job describe, without its dates.
func (o *options) config(ctx context.Context) (load.Config, error) {
	return o.configOf(ctx, cli.Store)
}

// configOf is config with the store that find returns.
func (o *options) configOf(ctx context.Context, find func(context.Context, dfs.FS, string, *job.Job, cli.Waits) (table.Store, error)) (load.Config, error) {
	cfg, address, err := o.begin(ctx)
	if err != nil {
		return cfg, err
	}
	if cfg.Memory, err = o.flags.Limits(bulkload.MinMemory); err != nil {
		return cfg, err
	}
	if cfg.Store, err = find(ctx, cfg.FS, address, cfg.Job, o.flags.Waits); err != nil {
		return cfg, err
	}
	switch cfg.Mode = bulkload.Mode(o.mode); cfg.Mode {
	case "", bulkload.Auto, bulkload.HFile:
	case bulkload.Put:
		if dfs.Scheme(address) != live.Scheme {
			return cfg, fmt.Errorf("%w: --mode put needs an HBase table; %s is a table of files: leave out the flag", cli.ErrUsage, address)
		}
	default:
		return cfg, fmt.Errorf("%w: --mode %q is none of hfile, put, auto", cli.ErrUsage, o.mode)
	}
	cfg.Temp, err = o.tempFor(address)
	return cfg, err
}

// resources returns the resources that the flags describe, without the memory, the store and the directory for
// sorted runs.
func (o *options) resources() bulkload.Resources {
	return bulkload.Resources{FS: cli.FilesIn(o.temp), Workers: o.flags.Workers, Log: o.flags.Log(o.env), Progress: o.flags.Progress(o.env)}
}

// begin loads the job, and returns the address of the table.
func (o *options) begin(ctx context.Context) (cfg load.Config, address string, err error) {
	cfg = load.Config{Resources: o.resources(), Types: o.flags.Behaviours()}
	o.flags.Bounds.Log = cfg.Log
	if cfg.Job, err = o.flags.LoadJob(ctx, cfg.FS); err != nil {
		return cfg, "", err
	}
	if address = cmp.Or(o.flags.Table, cfg.Job.Table.Address); address == "" {
		return cfg, "", fmt.Errorf("%w: no table: write --table TABLE, or table: in the job file", cli.ErrUsage)
	}
	return cfg, address, nil
}

// tempFor returns the directory for sorted runs: the directory of --temp, or a directory in
// a local table, or the system's.
func (o *options) tempFor(address string) (string, error) {
	switch {
	case dfs.Scheme(o.temp) != "":
		return "", fmt.Errorf("%w: --temp %s is not a local directory", cli.ErrUsage, o.temp)
	case o.inTable(address):
		return dfs.Join(address, catalog.TempName), nil
	}
	return cmp.Or(o.temp, os.TempDir()), nil
}

// inTable reports whether sorted runs are written into the table. Its lock protects them.
func (o *options) inTable(address string) bool { return o.temp == "" && dfs.Scheme(address) == "" }

// private creates a directory below temp that only this user can read, and sets temp to it.
// If sorted runs are written into the table at address, it does nothing. remove removes the
// directory.
func (o *options) private(temp *string, address string, log *slog.Logger) (remove func(), err error) {
	if o.inTable(address) {
		return func() {}, nil
	}
	p, err := local.MakePrivate(*temp)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, fmt.Errorf("%w: no directory %s for sorted runs: create it, or name another with --temp or $TMPDIR", cli.ErrUsage, *temp)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: name another directory with --temp or $TMPDIR", err)
	}
	*temp = p.Name()
	return func() {
		if err := p.Remove(); err != nil {
			log.Warn("sorted runs were not removed", "dir", p.Name(), "err", err)
		}
	}, nil
}

func printPreview(w io.Writer, cfg load.Config, p load.Preview) {
	fmt.Fprintf(w, "would read  %d %s, %s, in %d %s; %d are loaded already, %d missing\n",
		p.Files, english.PluralWord(p.Files, "file", ""), humanize.IBytes(uint64(p.Bytes)), p.Splits, english.PluralWord(p.Splits, "part", ""), p.Already, p.Missing)
	printMissing(w, p.NoFile, p.Missing)
	for _, f := range p.Failed {
		fmt.Fprintf(w, "not loaded  %s\n", strings.ReplaceAll(f.Error, "\n", "; "))
	}
	how := "exists"
	if p.New {
		how = "would be created"
	}
	fmt.Fprintf(w, "table       %s %s, layout %s, %s\n", cfg.Store.Address(), how, cfg.Job.Layout, english.Plural(len(p.Regions), "region", ""))
	printChoice(w, p.Choice)
	for i, b := range p.Batches {
		when := "files without a date"
		if b.Span != nil {
			when = b.Span.String()
		}
		fmt.Fprintf(w, "batch %-5d %s: %d %s, %s\n", i+1, when, b.Files, english.PluralWord(b.Files, "file", ""), humanize.IBytes(uint64(b.Bytes)))
	}
	for i, r := range p.Regions {
		fmt.Fprintf(w, "region %-4d %s: about %.1f %%, %s\n", i, r.Rows, 100*r.Share, humanize.IBytes(uint64(r.Bytes)))
	}
}

// printMissing prints the first of n days and behaviours without a file.
func printMissing(w io.Writer, first []string, n int) {
	if n > 0 {
		fmt.Fprintf(w, "missing     %s\n", bulkload.FewOf(first, n))
	}
}

// printChoice prints how a load would write rows into a table in HBase.
func printChoice(w io.Writer, c bulkload.Choice) {
	if len(c.Estimates) == 0 {
		return
	}
	fmt.Fprintf(w, "mode        %s: %s\n", c.Mode, c.Why)
	for _, m := range []bulkload.Mode{bulkload.HFile, bulkload.Put} {
		e := c.Estimates[m]
		fmt.Fprintf(w, "as %-8s about %.0f s, %s staged, %s written by the servers\n",
			m, e.Seconds, humanize.IBytes(uint64(e.Staged)), humanize.IBytes(uint64(e.Written)))
	}
}

// maxFailed is the maximum number of failed files that are printed.
const maxFailed = 10

// printFailed prints the files that were not loaded.
func printFailed(w io.Writer, failed []bulkload.Failed) {
	for i, f := range failed {
		if i == maxFailed {
			fmt.Fprintf(w, "            … and %d more\n", len(failed)-i)
			break
		}
		fmt.Fprintf(w, "not loaded  %s\n", strings.ReplaceAll(f.Error, "\n", "; "))
	}
}

func printResult(w io.Writer, store table.Store, r bulkload.Result) {
	printFailed(w, r.Failed)
	if r.Files+r.Already > 0 {
		printMissing(w, r.NoFile, r.Missing)
	}
	if r.Files == 0 {
		return
	}
	fmt.Fprintf(w, "loaded      %s of %s from %s into %s\n",
		humanize.Comma(r.Loaded), quantity.Of(r.Read, "record"), quantity.Of(r.Files, "file"), store.Address())
	if r.Quarantined > 0 {
		fmt.Fprintf(w, "quarantined %s bad %s: %s\n", humanize.Comma(r.Quarantined), english.PluralWord(int(r.Quarantined), "record", ""), dfs.Dir(store.Quarantine("x")))
	}
	if r.Duplicate > 0 || r.Skipped > 0 {
		why := ""
		if r.Skipped > 0 {
			why = fmt.Sprintf(" (%s)", r.Skips)
		}
		fmt.Fprintf(w, "skipped     %s%s, and %s\n", quantity.Of(r.Skipped, "record"), why, quantity.Of(r.Duplicate, "duplicate"))
	}
	if texts := r.Unmapped.Describe(r.Skips.Unknown); texts != "" {
		fmt.Fprintf(w, "unmapped    %s\n", texts)
	}
	if r.Mode == bulkload.Put {
		fmt.Fprintf(w, "put         %s\n", quantity.Of(r.Cells, "cell"))
		return
	}
	fmt.Fprintf(w, "written     %s in %s\n", quantity.Of(r.Cells, "cell"), quantity.Of(r.HFiles, "HFile"))
}
