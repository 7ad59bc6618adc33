package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/extract/notes"
	"usertrail/internal/extract/pieces"
	"usertrail/internal/run/quantity"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
	"usertrail/internal/table/live"
)

// newPlan returns the command that splits a query into pieces.
func newPlan(env *cli.Env) *cobra.Command {
	o := &options{env: env, plans: true}
	c := &cobra.Command{
		Use:   "plan",
		Short: "Split an extract into pieces",
		Long: `Plan splits the extract of the same flags into pieces. It prints each piece as one line of JSON on
standard output, and nothing else there. The last line of standard error is the result. A piece is a
range of users. Run each piece with extract run-piece, on any machine that reaches the table and --out,
in any order. A piece may run more than once. Then extract commit publishes --out, with the same bytes
as one extract with the same --piece-size.

If plan runs again, the same flags give the same lines, and finished pieces stay finished. If --out
already has the result of this plan, or with --append the dates, plan prints no line and ends with
status 99.`,
		Example: `  extract plan --users all --from 2014-09-01 --to 2014-09-10 --types play,order --out ./trails-pieces >pieces &&
  tr '\n' '\0' <pieces | xargs -0 -n 1 -P 4 extract run-piece --quiet --piece &&
  extract commit --pieces pieces`,
		Args: cli.NoArgs,
	}
	o.add(c)
	o.addAppend(c.Flags())
	o.output.pieceSize = pieces.Size
	size := c.Flags().Lookup("piece-size")
	size.Usage, size.DefValue = "approximate size of a piece, in events of users who may be active, such as 500000 or 4M", o.output.pieceSize.String()
	c.Flags().Lookup("out").Usage = "directory to create (default trails-FROM-TO)"
	c.RunE = func(c *cobra.Command, _ []string) error { return o.cut(c.Context()) }
	env.Reports(c, pieces.PlanResult{})
	return c
}

// A pieceSize is the value of --piece-size: a number of events, such as 4M.
type pieceSize int64

// String implements pflag.Value.
func (n *pieceSize) String() string {
	switch {
	case *n == 0:
		return ""
	case *n%1_000_000 == 0:
		return strconv.FormatInt(int64(*n)/1_000_000, 10) + "M"
	}
	return strconv.FormatInt(int64(*n), 10)
}

// Type implements pflag.Value.
func (n *pieceSize) Type() string { return "events" }

// Set implements pflag.Value.
func (n *pieceSize) Set(s string) error {
	v, err := humanize.ParseBytes(s)
	if err != nil || v == 0 || v > 1<<50 || strings.ContainsAny(s, "iIbB") {
		return fmt.Errorf("%q is not a number of events such as 500000 or 4M", s)
	}
	*n = pieceSize(v)
	return nil
}

func (o *options) cut(ctx context.Context) error {
	lines, r, err := o.pieces(ctx)
	if err == nil {
		err = o.printPieces(lines)
	}
	say(o.env, r.Notes)
	if err == nil && !o.flags.Quiet {
		fmt.Fprintf(o.env.Stderr, "planned     %s for %s; done: %d\n", quantity.Of(r.Pieces, "piece"), r.Out, r.Done)
	}
	return o.env.Report(r, err)
}

func (o *options) pieces(ctx context.Context) ([]pieces.Piece, pieces.PlanResult, error) {
	nothing := pieces.PlanResult{}
	switch {
	case o.output.out == standardOutput:
		return nil, nothing, fmt.Errorf("%w: --out -: commit publishes pieces as a directory; write --out DIR, or run extract without plan", cli.ErrUsage)
	case fetch.Plan(o.plan) == fetch.Snapshot && o.snapshot == "":
		return nil, nothing, fmt.Errorf("%w: --plan snapshot: all pieces must read the same snapshot: create one in HBase's shell: snapshot 'TABLE', 'NAME'; then write --snapshot NAME", cli.ErrUsage)
	}
	var all []pieces.Piece
	var r pieces.PlanResult
	err := o.ofOneState(func() (err error) {
		all, r, err = o.planOnce(ctx)
		return err
	})
	return all, r, err
}

// planOnce opens the table and splits the query.
func (o *options) planOnce(ctx context.Context) ([]pieces.Piece, pieces.PlanResult, error) {
	nothing := pieces.PlanResult{}
	a, err := o.ask(ctx)
	if err != nil {
		return nil, nothing, err
	}
	defer a.close()
	if a.config.Out, err = absolute(a.config.Out); err != nil {
		return nil, nothing, err
	}
	address, err := absolute(a.store.Address())
	if err != nil {
		return nil, nothing, err
	}
	access, err := o.access(a)
	if err != nil {
		return nil, nothing, err
	}
	lines, r, err := pieces.Plan(ctx, a.config, address, access)
	if err == nil && o.append {
		var more []string
		more, err = notes.Appended(ctx, a.loader, a.config)
		r.Notes = append(r.Notes, more...)
	}
	return lines, r, err
}

// absolute returns the absolute form of a local name. Other names stay as they are.
func absolute(name string) (string, error) {
	if dfs.Scheme(name) != "" {
		return name, nil
	}
	return filepath.Abs(name)
}

// access returns how workers open the table: with the same settings as here, from the job and
// the flags. Workers may lack the permission to read the settings from HBase.
func (o *options) access(a *asking) (pieces.Access, error) {
	at := pieces.Access{Snapshot: o.snapshot}
	if a.job != nil {
		at.Protection = a.job.Kerberos.Protection
	}
	s, ok := a.store.(*live.Store)
	if !ok {
		return at, nil
	}
	at.Family = a.loader.Info().Family
	if a.job != nil {
		at.Root, at.Others = a.job.Table.Root, a.job.Table.Others
	}
	if known := table.Known(a.loader); known != nil && len(known.Loads) == 0 {
		at.Schema, at.Layout = a.loader.Info().Schema, a.loader.Info().Layout.Name()
	}
	var err error
	at.Catalog, err = absolute(s.Catalog())
	return at, err
}

// printPieces prints one piece per line.
func (o *options) printPieces(lines []pieces.Piece) error {
	w := bufio.NewWriter(o.env.Stdout)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for i := range lines {
		if err := e.Encode(&lines[i]); err != nil {
			return err
		}
	}
	return w.Flush()
}
