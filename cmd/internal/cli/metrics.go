package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"usertrail/internal/run/exit"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/run/metrics"
	"usertrail/internal/run/outcome"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/live"
)

const metricsFlag = "metrics-file"

// metered makes c's run write its metrics to a file at its end.
func (e *Env) metered(c *cobra.Command, file string) error {
	e.shared().metered = true
	if file == "" {
		return nil
	}
	if _, reports := e.results[c]; !reports {
		return fmt.Errorf("%w: %s has no metrics: leave out --metrics-file", ErrUsage, c.CommandPath())
	}
	if err := metrics.Check(file); err != nil {
		return fmt.Errorf("%w: --metrics-file: %w", ErrUsage, err)
	}
	e.shared().setNamed(namedTable(c))
	part := &e.shared().part
	e.AtEnd(func(_ context.Context, end *outcome.Outcome) error {
		if !part.ends(c, end.Status) {
			return nil
		}
		err := metrics.Write(file, metrics.Run{
			Program: e.name, Command: part.runName(c), Table: e.shared().table(), Ended: end.At, Seconds: part.seconds(end), Status: end.Status,
			Success: end.Status == exit.OK || end.Status == exit.Nothing, Changed: end.Status == exit.OK, Counts: end.Counts(),
		})
		if err != nil {
			return fmt.Errorf("--metrics-file: %w", err)
		}
		return nil
	})
	return nil
}

// meteredLate makes c's run write its metrics if the run failed before metered was called, for
// example because a flag is wrong.
func (e *Env) meteredLate(c *cobra.Command, args []string) error {
	if e.shared().metered {
		return nil
	}
	file := ""
	eachValue(args, metricsFlag, func(value string) { file = value })
	return e.metered(c, file)
}

// namedTable returns the table that the command line of c names, or "".
func namedTable(c *cobra.Command) string {
	name := "table"
	if commandName(c) == "convert" {
		name = "out" // the new table
	}
	if f := c.Flags().Lookup(name); f != nil {
		return tableLabel(f.Value.String())
	}
	return ""
}

// tableLabel returns the address of the store of a table called name.
func tableLabel(name string) string {
	if dfs.Scheme(name) != live.Scheme {
		return strings.TrimRight(name, "/")
	}
	conf, err := hadoopconf.FromEnv()
	if err != nil {
		return name
	}
	if a, err := live.ParseAddress(name, conf); err == nil {
		return a.String()
	}
	return name
}

// commandName returns the name of a command: load, reread or extract for a program without a
// subcommand.
func commandName(c *cobra.Command) string {
	switch {
	case c.HasParent():
		return c.Name()
	case IsSet(c, "reread"):
		return "reread"
	case c.Name() == "bulkload":
		return "load"
	}
	return c.Name()
}
