package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/extract/estimate"
	"usertrail/internal/extract/explain"
)

// newExplain returns the command that estimates a query.
func newExplain(env *cli.Env) *cobra.Command {
	o := &options{env: env, explains: true}
	c := &cobra.Command{
		Use:   "explain",
		Short: "Estimate what a query would read, without running it",
		Long: `Explain has the flags of an extract. It prints the possible plans, what each plan would read, about
how long it would take, which plan extract would choose, and why. Explain reads the rolls, the ledgers
and the locations of regions, but no row. It prints which rows and cells the plan reads in the table's
layout, what the servers or files filter out, and why the plan reads more than twice what the result
needs, if it does. It also reports whether reading the raw logs would be cheaper.

The last line of standard output is one JSON object, also after a failure.`,
		Example: `  extract explain --users all --from 2014-09-01 --to 2014-09-10 --types play,order,visit,login
  extract explain --users users.txt --from 2014-09-01 --to 2014-09-10 --types play,order --where 'play.seconds >= 600'
  extract explain --users all --from 2014-09-01 --to 2014-09-10 --types play | tail -n 1 | jq .plans`,
		Args: cli.NoArgs,
	}
	o.add(c)
	c.RunE = func(c *cobra.Command, _ []string) error { return o.explain(c.Context()) }
	env.Reports(c, explain.None())
	return c
}

func (o *options) explain(ctx context.Context) error {
	a, err := o.ask(ctx)
	if err != nil {
		return err
	}
	defer a.close()
	x, err := explain.Estimate(ctx, a.config, a.loader)
	say(o.env, x.Notes)
	if err == nil {
		err = writeExplanation(o.env.Said(), &x)
	}
	return o.env.Report(x, err)
}

// pageWidth is the width of the output, in columns.
const pageWidth = 80

// writeExplanation prints the number of users, the table of plans, and the reasons.
func writeExplanation(w io.Writer, x *explain.Explanation) error {
	var b strings.Builder
	fold(&b, x.String(), "")
	b.WriteString("\n")
	writePlans(&b, x)
	b.WriteString("\n")
	for _, reason := range x.Why {
		fold(&b, reason, "  ")
	}
	fold(&b, "The times are estimates: they are computed from rates that were measured on another machine.", "  ")
	_, err := io.WriteString(w, b.String())
	return err
}

// writePlans prints a line for each plan. An arrow marks the chosen plan. The lines are
// shorter than pageWidth.
func writePlans(b *strings.Builder, x *explain.Explanation) {
	const form = "%-2s %-8s  %-13s  %9s  %6s  %6s  %8s  %7s  %6s\n"
	fmt.Fprintf(b, form, "", "plan", "decided by", "users", "rows", "cells", "bytes", "calls", "time")
	for i, p := range x.Plans {
		mark := ""
		if i == x.Chosen {
			mark = "->"
		}
		fmt.Fprintf(b, form, mark, p.Name, p.DecidedBy, short(p.Users), short(p.Rows), short(p.Cells),
			humanize.IBytes(uint64(max(p.Bytes, 0))), short(p.Calls), estimate.About(p.Seconds))
	}
}

// short formats a number in at most six columns.
func short(n int64) string {
	if n < 10_000 {
		return humanize.Comma(n)
	}
	return strings.ReplaceAll(humanize.SIWithDigits(float64(n), 1, ""), " ", "")
}

// fold writes text in lines of pageWidth. Every line but the first begins with indent.
func fold(b *strings.Builder, text, indent string) {
	at := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i > 0 && at+1+len(word) > pageWidth:
			b.WriteString("\n" + indent)
			at = len(indent)
		case i > 0:
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	b.WriteString("\n")
}
