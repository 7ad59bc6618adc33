package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"usertrail/internal/behaviour"
	"usertrail/internal/breakpoint"
	"usertrail/internal/dfs"
	"usertrail/internal/job"
	"usertrail/internal/journal"
	"usertrail/internal/table"
)

// Journal has every run that takes a table's lock written down in the table's journal.
// Of the commands that refused says so also what ended before it had the lock.
func (e *Env) Journal(refused func(*cobra.Command) bool) { e.shared().refused = refused }

// journalled begins to keep the journal of a command line, and returns the context to
// run it in.
func (e *Env) journalled(ctx context.Context, args []string) context.Context {
	s := e.shared()
	if s.refused == nil || s.running == nil {
		return ctx
	}
	c := s.running
	k := journal.NewKeeper(func() journal.Run {
		r := journal.Run{
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
	e.AtEnd(func(ctx context.Context, end End) error {
		out := journal.End{At: end.At.UTC(), Seconds: end.Seconds, Status: end.Status, Error: end.Error}
		// Of a piece "already" is no number.
		if err := json.Unmarshal(end.Result, &out.Counts); err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
			return fmt.Errorf("the run is not written down: %w", err)
		}
		worth := end.Status != Usage && end.Status != There && s.refused(c)
		if err := k.End(ctx, out, worth); err != nil {
			return fmt.Errorf("bulkload runs will not tell all of this run: %w", err)
		}
		return nil
	})
	return journal.NewContext(ctx, k)
}

type endingKey struct{}

// stored notes down which table the run of a context is about.
func stored(ctx context.Context, fs dfs.FS, s table.Store, j *job.Job) {
	journal.FromContext(ctx).At(fs, CatalogOf(s))
	if e, ok := ctx.Value(endingKey{}).(*ending); ok {
		a := about{address: s.Address(), fs: fs, catalog: CatalogOf(s)}
		if j != nil && j.Pattern != nil {
			a.logs = j.Pattern.Root
		}
		e.setAbout(a)
	}
}

// AboutTable notes that the run of a context is about the table at an address, which it does
// not open. catalog is the directory of the table's catalog.
func AboutTable(ctx context.Context, fs dfs.FS, address, catalog string) {
	if e, ok := ctx.Value(endingKey{}).(*ending); ok {
		e.setAbout(about{address: address, fs: fs, catalog: catalog})
	}
}

// CatalogOf is the directory of a store's catalog.
func CatalogOf(s table.Store) string { return dfs.Dir(dfs.Dir(s.Quarantine("x"))) }

// lockTold is files whose locks the journal of the context is told of.
type lockTold struct{ *dfs.Mux }

// Lock implements dfs.FS.
func (f lockTold) Lock(ctx context.Context, name string) (dfs.Lock, error) {
	l, err := waitFor(ctx, func() (dfs.Lock, error) { return f.Mux.Lock(ctx, name) })
	if err == nil {
		journal.FromContext(ctx).Begin(ctx, f, name)
		breakpoint.Reach(breakpoint.Begun)
	}
	return l, err
}
