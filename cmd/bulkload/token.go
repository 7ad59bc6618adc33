package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/bulkload"
	"usertrail/internal/run/outcome"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/secure/token"
	"usertrail/internal/table/live"
)

func newToken(env *cli.Env) *cobra.Command {
	o := &options{env: env}
	var out, renewer string
	var also []string
	c := &cobra.Command{
		Use:   "token",
		Short: "Write delegation tokens for runs without Kerberos to a file",
		Long: `Token gets delegation tokens for the table's HBase, for the HDFS of its catalog and of HBase, and for
the HDFS of the job's logs, and writes them to a file. A run that has the file's name in
$` + token.Variable + ` uses them and needs neither a keytab nor a ticket: for example a
piece on another machine. If an extract writes --out to another HDFS, name it with --also.

Anyone with the file can act as its user until the tokens expire. Its mode is 0600. HDFS's tokens are
valid for a day if nobody renews them, HBase's for a week, unless the clusters have other settings. Run
token again for later runs.

Status 99 means that the clusters have no Kerberos, so no tokens are needed.`,
		Example: `  bulkload token --job usertrail.yaml --keytab loader.keytab --out tokens
  HADOOP_TOKEN_FILE_LOCATION=$PWD/tokens bulkload run-piece <piece.json`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := o.tokens(c.Context(), out, renewer, also)
			return env.Report(r, err)
		},
	}
	env.Reports(c, tokenResult{})
	o.flags.AddTable(c)
	c.Flags().StringVarP(&out, "out", "o", "", "local file to write; an existing one is replaced")
	c.Flags().StringVar(&renewer, "renewer", "", "user or principal that may renew the tokens of HDFS (default nobody)")
	c.Flags().StringArrayVar(&also, "also", nil, "another directory that needs a token if it is on HDFS, such as --out of an extract; may be repeated")
	return c
}

// A tokenResult is the last line of token.
type tokenResult struct {
	Out    string       `json:"out"`
	Tokens []shownToken `json:"tokens,omitempty"`
}

// A shownToken has the public fields of a token.
type shownToken struct {
	Kind    string    `json:"kind"`
	Service string    `json:"service"`
	User    string    `json:"user"`
	Expires time.Time `json:"expires"` // it cannot be renewed beyond this time
}

// Counted implements outcome.Result.
func (tokenResult) Counted() outcome.Counts { return nil }

func (o *options) tokens(ctx context.Context, out, renewer string, also []string) (r tokenResult, err error) {
	switch {
	case out == "":
		return r, fmt.Errorf("%w: --out FILE is missing; see bulkload token -h", cli.ErrUsage)
	case dfs.Scheme(out) != "":
		return r, fmt.Errorf("%w: --out %s: tokens are written to a local file", cli.ErrUsage, out)
	}
	all, err := o.delegated(ctx, renewer, also)
	if err != nil {
		return r, err
	}
	if len(all) == 0 {
		return r, fmt.Errorf("%w: neither HBase nor HDFS has Kerberos, so no tokens are needed", bulkload.ErrNothing)
	}
	if err := token.Save(out, all); err != nil {
		return r, err
	}
	r.Out = out
	for _, t := range all {
		owner, err := t.Owner()
		if err != nil {
			return r, err
		}
		r.Tokens = append(r.Tokens, shownToken{t.Kind, t.Service, owner.User, owner.Expires.UTC()})
	}
	printTokens(o.env.Stdout, r)
	return r, nil
}

// delegated returns the tokens for the table, the job's logs, and the directories also.
func (o *options) delegated(ctx context.Context, renewer string, also []string) ([]token.Token, error) {
	fs := cli.Files()
	store, j, err := o.flags.Store(ctx, fs)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	var all []token.Token
	places := []string{store.Catalog()}
	if s, ok := store.(*live.Store); ok {
		if all, err = s.Tokens(ctx); err != nil {
			return nil, err
		}
		places = s.Places()
	}
	if j != nil && j.Pattern != nil {
		places = append(places, j.Pattern.Root)
	}
	files, err := dfs.DelegateAll(ctx, fs, append(places, also...), renewer)
	return append(all, files...), err
}

func printTokens(w io.Writer, r tokenResult) {
	for _, t := range r.Tokens {
		fmt.Fprintf(w, "token       %s for %s, of %s, at most until %s\n", t.Kind, t.Service, t.User, t.Expires.Format(time.RFC3339))
	}
	fmt.Fprintf(w, "written     %s\n", r.Out)
}
