package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/verify"
	"usertrail/internal/run/quantity"
	"usertrail/internal/tally"
)

func newVerify(env *cli.Env) *cobra.Command {
	o := &options{env: env}
	c := &cobra.Command{
		Use:   "verify",
		Short: "Compare a table with what its loads wrote",
		Long: `Verify reads a table and compares its cells with the tallies in the ledgers of its loads, by behaviour
and date and by range of rows. In a table of files it also checks every file: its bytes, the order of
its cells and its roll. If anything differs, verify prints it and ends with status 1. It changes
nothing. Verify warns if the manifest does not have the newest drop or undrop of the run log.

Verify needs no job file if --table names a table that knows its catalog. It takes no lock. If a load
is running or was killed, verify marks differences that this load may have caused. If cells of HBase
expire by age, verify reports days beyond that age as expired, not as different.`,
		Example: `  bulkload verify --table ./trails
  bulkload verify --job usertrail.yaml --from 2014-09-01 --to 2014-09-10 --types play,order
  bulkload verify --table hbase://zk1,zk2:2181/namespace:table --workers 8`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.verify(c.Context()) },
	}
	env.Reports(c, verify.Result{})
	o.flags.Add(c, minVerify)
	for name, usage := range map[string]string{
		"from": "first date to compare, YYYY-MM-DD (default the first date of the table)", "to": "last date to compare, inclusive, YYYY-MM-DD (default the last date of the table)",
		"types": "behaviours to compare, comma-separated (default all)", "workers": "number of regions or files to read concurrently (default one per CPU)",
	} {
		c.Flags().Lookup(name).Usage = usage
	}
	return c
}

func (o *options) verify(ctx context.Context) error {
	r, address, err := o.compare(ctx)
	if err == nil || errors.Is(err, verify.ErrDiffers) {
		printVerified(o.env.Stdout, address, r)
	}
	return o.env.Report(r, err)
}

// minVerify is the minimum of --memory. Each worker holds a block and an index.
const minVerify = 64 << 20

// compare verifies the table that the flags or the job name.
func (o *options) compare(ctx context.Context) (verify.Result, string, error) {
	fs := cli.Files()
	cfg := verify.Config{Types: o.flags.Behaviours(), Workers: o.flags.Workers, Progress: o.flags.Progress(o.env)}
	if _, err := o.flags.Limits(minVerify); err != nil {
		return verify.Result{}, "", err
	}
	from, to, err := o.flags.Dates()
	if err != nil {
		return verify.Result{}, "", err
	}
	span := behaviour.AllDays
	if from != nil {
		span.From, cfg.Span = *from, &span
	}
	if to != nil {
		span.To, cfg.Span = *to, &span
	}
	store, _, err := o.flags.Store(ctx, fs)
	if err != nil {
		return verify.Result{}, "", err
	}
	defer store.Close()
	cfg.Store = store
	r, err := verify.Run(ctx, cfg)
	if err == nil || errors.Is(err, verify.ErrDiffers) {
		o.warnOfRuns(ctx, fs, store.Catalog())
	}
	return r, store.Address(), err
}

// maxLines is the maximum number of differences that are printed.
const maxLines = 20

func printVerified(w io.Writer, address string, r verify.Result) {
	lines := slices.Concat(fileLines(r), dayLines(r), regionLines(r), foreignLines(r))
	for i, line := range lines {
		if i == maxLines {
			fmt.Fprintf(w, "            … and %s more\n", humanize.Comma(int64(len(lines)-i)))
			break
		}
		fmt.Fprintln(w, line)
	}
	if r.DifferingDays+r.DamagedFiles+r.MissingFiles > 0 && r.Unlocated != "" {
		fmt.Fprintf(w, "regions     not compared: %s\n", r.Unlocated)
	}
	if r.ExpiredDays > 0 {
		fmt.Fprintf(w, "expired     %s of day and behaviour, whose cells HBase removes by age\n", quantity.Of(r.ExpiredDays, "pair"))
	}
	if len(r.Unfinished) > 0 {
		fmt.Fprintf(w, "unfinished  %s loaded in part: %s\n", quantity.Of(len(r.Unfinished), "delivered file"), shortened(r.Unfinished))
	}
	if len(r.Since) > 0 {
		fmt.Fprintf(w, "meanwhile   %s committed\n", quantity.Of(len(r.Since), "load"))
	}
	if r.Note != "" {
		fmt.Fprintf(w, "note        %s\n", r.Note)
	}
	fmt.Fprintf(w, "verified    %s of %s, %s of day and behaviour, in %s\n",
		quantity.Of(r.Cells, "cell"), quantity.Of(r.Records, "record"), quantity.Of(r.Compared, "pair"), address)
}

func dayLines(r verify.Result) []string {
	var out []string
	for _, d := range r.Days {
		if d.Verdict == verify.Expired {
			continue
		}
		line := fmt.Sprintf("day         %s %s: %s: %s", d.Date, d.Behaviour, d.Verdict, change(d.Expected, d.Found))
		if d.Hidden > 0 {
			line += fmt.Sprintf("; %s are hidden by deletes", humanize.Comma(d.Hidden))
		}
		if d.Maybe {
			line += "; perhaps caused by an unfinished load"
		}
		out = append(out, line)
	}
	return out
}

func regionLines(r verify.Result) []string {
	var out []string
	for _, g := range r.Regions {
		out = append(out, fmt.Sprintf("region      %s: %s", g.Region.Words(), change(g.Expected, g.Found)))
	}
	return out
}

func fileLines(r verify.Result) []string {
	var out []string
	for _, f := range r.Files {
		why := "it is missing"
		if !f.Missing {
			why = f.Why.Error()
		}
		out = append(out, fmt.Sprintf("file        %s: %s", f.Name, why))
	}
	return out
}

func foreignLines(r verify.Result) []string {
	if r.ForeignCells == 0 {
		return nil
	}
	return []string{fmt.Sprintf("foreign     %s, in rows that belong to no behaviour, the first in %q", quantity.Of(r.ForeignCells, "cell"), r.Foreign.First)}
}

// change describes the difference between the loaded cells and the found cells.
func change(loaded, found tally.Tally) string {
	if loaded.Cells == found.Cells && loaded.Bytes == found.Bytes {
		return fmt.Sprintf("%s with the same number of bytes and another digest", quantity.Of(found.Cells, "cell"))
	}
	return fmt.Sprintf("%s and %s were loaded, the table has %s and %s",
		quantity.Of(loaded.Cells, "cell"), quantity.Of(loaded.Bytes, "byte"), humanize.Comma(found.Cells), humanize.Comma(found.Bytes))
}

// shortened returns the first three names.
func shortened(names []string) string {
	if len(names) > 3 {
		return strings.Join(names[:3], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
