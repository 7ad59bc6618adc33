package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/job"
	"usertrail/internal/run/exit"
	"usertrail/internal/run/outcome"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/runlog"
)

// RunLog records every run that takes a table's lock in the table's run log. If refused
// reports true for a command, its runs that end before they have the lock are recorded too.
func (e *Env) RunLog(refused func(*cobra.Command) bool) { e.shared().refused = refused }

// recorded prepares the run log's entry for a command line, and returns the context for its
// run. The lock of a table writes the entry.
func (e *Env) recorded(ctx context.Context, args []string) context.Context {
	s := e.shared()
	if s.refused == nil || s.running == nil {
		return ctx
	}
	c := s.running
	k := runlog.NewKeeper(func() runlog.Run {
		r := runlog.Run{
			Command: commandName(c), Args: args, Host: Host(), Process: os.Getpid(), User: cmp.Or(os.Getenv("USER"), os.Getenv("LOGNAME")),
			Program: programVersion(), Began: e.Began,
		}
		for name, text := range map[string]*string{"from": &r.From, "to": &r.To} {
			if f := c.Flags().Lookup(name); f != nil {
				if _, err := behaviour.ParseDate(f.Value.String()); err == nil { // import's --from is a table
					*text = f.Value.String()
				}
			}
		}
		return r
	})
	e.AtEnd(func(ctx context.Context, end *outcome.Outcome) error {
		worth := end.Status != exit.Usage && end.Status != exit.There && s.refused(c)
		if err := k.End(ctx, end, worth); err != nil {
			return fmt.Errorf("bulkload runs will show this run without its end: %w", err)
		}
		return nil
	})
	return runlog.NewContext(ctx, k)
}

type endingKey struct{}

// stored records which table the run of a context is about.
func stored(ctx context.Context, fs dfs.FS, s table.Store, j *job.Job) {
	runlog.FromContext(ctx).At(fs, s.Catalog())
	if e, ok := ctx.Value(endingKey{}).(*ending); ok {
		a := about{address: s.Address(), fs: fs, catalog: s.Catalog()}
		if j != nil && j.Pattern != nil {
			a.logs = j.Pattern.Root
		}
		e.setAbout(a)
	}
}

// AboutTable records that the run of a context is about the table at an address. The run does
// not open the table. catalog is the directory of the table's catalog.
func AboutTable(ctx context.Context, fs dfs.FS, address, catalog string) {
	if e, ok := ctx.Value(endingKey{}).(*ending); ok {
		e.setAbout(about{address: address, fs: fs, catalog: catalog})
	}
}
