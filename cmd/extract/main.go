// Extract takes the trails of active users out of a table, as Parquet. Its exit
// statuses are those of package command, and listed by -h.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"usertrail/cmd/internal/command"
	"usertrail/internal/dfs"
	"usertrail/internal/extract"
	"usertrail/internal/fetch"
	"usertrail/internal/job"
	"usertrail/internal/layout"
	"usertrail/internal/table"
	"usertrail/internal/table/live"
	"usertrail/internal/table/snapshot"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is main with its surroundings passed in; its result is the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	env := &command.Env{Stdin: stdin, Stdout: stdout, Stderr: stderr, Began: time.Now()}
	return command.Execute(ctx, env, newRoot(env), args)
}

func newRoot(env *command.Env) *cobra.Command {
	o := &options{env: env}
	root := command.New(env, "extract", "Take the trails of active users out of a table",
		`Extract takes the trails of the users in a list who did the behaviours --types on the days
--from to --to, and writes them as Parquet: one row for each behaviour, a user whole in one part.

The last line of standard output is one JSON object, also after a failure.`)
	root.Example = `  extract --users users.txt --from 2014-09-01 --to 2014-09-10 --types play,order,visit,login
  extract --users all --from 2014-09-01 --to 2014-09-10 --types play,order --active any --out ./trails-any
  cut -d, -f1 people.csv | extract --users - --table ./trails --from 2014-09-01 --to 2014-09-01 --types play`
	o.flags.Add(root)
	f := root.Flags()
	f.StringVar(&o.users, "users", "", "file with one user ID a line, - for standard input, or all")
	f.StringVar(&o.active, "active", "all", "who is active: all of --types, any of them, or min:N")
	f.StringVar(&o.out, "out", "", "directory to make (default trails-FROM-TO)")
	f.StringVar(&o.plan, "plan", "auto", "how rows are asked for: get, one by one; scan, a user's all together; auto; or snapshot: from HBase's files, no server is asked")
	f.StringVar(&o.snapshot, "snapshot", "", "with --plan snapshot: the snapshot to read (default one that is taken, and dropped at the end)")
	f.BoolVar(&o.overwrite, "overwrite", false, "replace --out if it is there")
	root.RunE = func(c *cobra.Command, _ []string) error { return o.extract(c.Context()) }
	env.Reports(root, extract.Result{})
	root.AddCommand(command.Inspect(env))
	return root
}

// options are the flags of an extract.
type options struct {
	env       *command.Env
	flags     command.Flags
	users     string
	active    string
	out       string
	plan      string
	snapshot  string
	overwrite bool
}

func (o *options) extract(ctx context.Context) error {
	r, err := o.run(ctx)
	if err == nil {
		fmt.Fprintf(o.env.Stdout, "asked %s users, found %s, active %s: %s behaviours in %d files in %s\n", humanize.Comma(r.Users),
			humanize.Comma(r.Found), humanize.Comma(r.Active), humanize.Comma(r.Events), r.Files, r.Out)
	}
	return o.env.Report(r, err)
}

// gcPercent lets the heap grow threefold before garbage is collected, as long as
// --memory allows: a short list takes some tens of milliseconds, of which
// collecting was a fifth.
const gcPercent = 200

func (o *options) run(ctx context.Context) (extract.Result, error) {
	debug.SetGCPercent(gcPercent)
	cfg := extract.Config{
		FS: command.Files(), Types: o.flags.Behaviours(), Active: o.active, Out: o.out, Overwrite: o.overwrite,
		Workers: o.flags.Workers, Progress: o.flags.Progress(o.env),
	}
	memory, err := o.flags.Limits(extract.MinMemory)
	if err != nil {
		return extract.Result{}, err
	}
	cfg.Memory = memory
	if cfg.Span, err = o.flags.Span(); err != nil {
		return extract.Result{}, err
	}
	if o.users == "" {
		return extract.Result{}, fmt.Errorf("%w: --users is missing: a file with one user ID a line, - or all", command.ErrUsage)
	}
	if cfg.Plan, err = fetch.ParsePlan(o.plan); err != nil {
		return extract.Result{}, fmt.Errorf("%w: --%w", command.ErrUsage, err)
	}
	if o.snapshot != "" && cfg.Plan != fetch.Snapshot {
		return extract.Result{}, fmt.Errorf("%w: --snapshot %s is read by --plan snapshot alone", command.ErrUsage, o.snapshot)
	}
	if cfg.Out == "" {
		cfg.Out = fmt.Sprintf("trails-%s-%s", cfg.Span.From, cfg.Span.To)
	}
	store, j, err := o.flags.Store(ctx, cfg.FS)
	if err != nil {
		return extract.Result{}, err
	}
	defer store.Close()
	t, err := open(ctx, store, j)
	if err != nil {
		return extract.Result{}, err
	}
	defer t.Close()
	cfg.Table = t
	if cfg.Users, err = o.readUsers(ctx, cfg.FS, t.Info().Layout, memory/2); err != nil {
		return extract.Result{}, err
	}
	if cfg.Plan == fetch.Snapshot {
		if cfg.Table, err = o.readSnapshot(ctx, store, t); err != nil {
			return extract.Result{}, err
		}
		defer o.endSnapshot(cfg.Table)
	}
	return extract.Run(ctx, cfg)
}

// readSnapshot is t as a snapshot has it: the one that is named, or one that is
// taken now.
func (o *options) readSnapshot(ctx context.Context, s table.Store, t table.Table) (table.Table, error) {
	l, ok := s.(*live.Store)
	if !ok {
		return nil, fmt.Errorf("%w: --plan snapshot is for tables in HBase; a table of files needs no snapshot", command.ErrUsage)
	}
	snap, err := l.Snapshot(ctx, t, o.snapshot)
	if errors.Is(err, snapshot.ErrNone) {
		return nil, fmt.Errorf("%w: --snapshot: %w", job.ErrNoInput, err)
	}
	return snap, err
}

// endSnapshot lets go of a snapshot. What fails of it does the answer no harm.
func (o *options) endSnapshot(t table.Table) {
	if err := t.Close(); err != nil {
		o.flags.Log(o.env).Warn("the snapshot stays until an extract of tomorrow drops it", "error", err)
	}
}

// open opens a table. Of a live one that we never loaded the job tells the schema.
func open(ctx context.Context, s table.Store, j *job.Job) (table.Loader, error) {
	t, err := s.Open(ctx)
	if !errors.Is(err, table.ErrNoTable) || dfs.Scheme(s.Address()) != live.Scheme {
		return t, err
	}
	if j == nil {
		return nil, fmt.Errorf("%w; name the job that tells its behaviours with --job", err)
	}
	return s.New(ctx, table.Plan{Layout: layout.Default, Schema: j.Schema})
}

func (o *options) readUsers(ctx context.Context, fs dfs.FS, l layout.Layout, limit int64) (*extract.Users, error) {
	switch o.users {
	case "all":
		return extract.AllUsers(), nil
	case "-":
		return extract.ReadUsers(o.env.Stdin, "standard input", l, limit)
	}
	f, err := fs.Open(ctx, o.users)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, fmt.Errorf("%w: --users: %w", job.ErrNoInput, err)
	}
	if err != nil {
		return nil, fmt.Errorf("--users: %w", err)
	}
	defer f.Close()
	return extract.ReadUsers(f, o.users, l, limit)
}
