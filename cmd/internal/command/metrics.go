package command

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"usertrail/internal/metrics"
)

// metered has the metrics of c's run written to a file at its end.
func (e *Env) metered(c *cobra.Command, file string) error {
	if file == "" {
		return nil
	}
	if _, reports := e.results[c]; !reports {
		return fmt.Errorf("%w: --metrics-file: %s counts nothing", ErrUsage, c.CommandPath())
	}
	if err := metrics.Check(file); err != nil {
		return fmt.Errorf("%w: --metrics-file: %w", ErrUsage, err)
	}
	e.AtEnd(func(_ context.Context, end End) error {
		r := metrics.Run{
			Program: e.name, Command: commandName(c), Table: e.shared().about().address, Ended: end.At, Seconds: end.Seconds, Status: end.Status,
			Success: end.Status == OK || end.Status == Nothing, Changed: end.Status == OK,
		}
		err := json.Unmarshal(end.Result, &r.Result)
		if err == nil {
			err = metrics.Write(file, r)
		}
		if err != nil {
			return fmt.Errorf("--metrics-file: %w", err)
		}
		return nil
	})
	return nil
}

// commandName is what a command does: a program by itself loads, or extracts.
func commandName(c *cobra.Command) string {
	switch {
	case c.HasParent():
		return c.Name()
	case c.Name() == "bulkload":
		return "load"
	}
	return c.Name()
}
