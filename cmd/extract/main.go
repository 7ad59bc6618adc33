// Extract extracts the trails of active users from a table, as Parquet. Package exit
// defines the exit statuses, and -h lists them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/behaviour"
	"usertrail/internal/extract"
	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/notes"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/sample"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
	"usertrail/internal/table/live"
	"usertrail/internal/table/snapshot"
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
	root := cli.New(env, "extract", "Extract the trails of active users from a table",
		`Extract reads the trails of the users in a list who did the behaviours of --types on the days --from
to --to. It writes them as Parquet, or in the format of --format: one row for each event. All events
of a user are in one part.

The last line of standard output is one JSON object, also after a failure. With --out - the result is
written to standard output, and the JSON object is the last line of standard error. If the reader
closes the pipe, the status is 141.`)
	root.Example = `  extract --users users.txt --from 2014-09-01 --to 2014-09-10 --types play,order,visit,login
  extract --users all --from 2014-09-01 --to 2014-09-10 --types play,order --active any --out ./trails-any
  cut -d, -f1 people.csv | extract --users - --table ./trails --from 2014-09-01 --to 2014-09-01 --types play`
	o.add(root)
	o.addAppend(root.Flags())
	root.RunE = func(c *cobra.Command, _ []string) error { return o.extract(c.Context()) }
	env.Reports(root, extract.Result{})
	env.Group(root, "inspect", "Inspect:", newShow(env), newReport(env), newDDL(env), cli.Inspect(env))
	env.Group(root, "plan", "Plan an extract, or extract in pieces:", newExplain(env), newPlan(env), newRunPiece(env), newCommit(env))
	root.AddCommand(cli.Ended(env))
	return root
}

// options are the flags of an extract.
type options struct {
	env        *cli.Env
	flags      cli.Flags
	users      string
	active     string
	conditions conditions
	output     output
	plan       string
	snapshot   string
	rolls      string
	overwrite  bool
	append     bool
	days       bool // all days must be loaded
	strict     bool
	explains   bool // estimate instead of extracting
	plans      bool // split into pieces instead of extracting

	from, to *behaviour.Date // of the flags; nil if not given

	sample sample.Sample  // of --users; no users if it is not a sample
	listed *userlist.List // from standard input, which can be read only once
	listOf string         // name of the layout of its keys
}

// add adds the flags to a command.
func (o *options) add(c *cobra.Command) {
	o.flags.Add(c, memory.Least)
	f := c.Flags()
	f.Lookup("from").Usage += " (default the first that was loaded)"
	f.Lookup("to").Usage += " (default the last that was loaded)"
	f.Lookup("types").Usage += ", or all"
	f.StringVar(&o.users, "users", "", "list of users: a file with one user ID per line, FILE.parquet:COLUMN, FILE.csv:COLUMN, FILE.tsv:COLUMN, - for standard input, all, or sample:N for N active users at random, 100000 at most (sample:N:SEED for others)")
	f.StringVar(&o.active, "active", "all", "which users are active: those with all of --types, with any of them, or with at least N of them (min:N)")
	o.output.add(f)
	f.StringVar(&o.plan, "plan", "auto", "how rows are read: get, row by row; scan, all rows of a user; auto, get or scan, whichever costs less; or snapshot, from HBase's files without a RegionServer")
	f.StringVar(&o.snapshot, "snapshot", "", "snapshot to read, with --plan snapshot (default a new one, which extract deletes at the end)")
	f.StringVar(&o.rolls, "rolls", "use", "use: find users by the rolls of the loads; off: read the rows, which also finds rows that other programs put into HBase")
	o.conditions.add(f)
	f.BoolVar(&o.overwrite, "overwrite", false, "replace --out if it exists")
	f.BoolVar(&o.days, "require-days", false, "end with status 66 if a behaviour is not loaded for a day of --from to --to (default a note on standard error; --append requires a log of at least one of --types for each day)")
	f.BoolVar(&o.strict, "strict", false, "end with status 65 at a foreign cell, a cell that no load wrote (default skip it)")
	f.BoolVar(&o.flags.Verbose, "verbose", false, "log when HBase becomes busy or is no longer busy")
}

// addAppend adds --append to the commands that make a result.
func (o *options) addAppend(f *pflag.FlagSet) {
	f.BoolVar(&o.append, "append", false, "add the dates to the result in --out, with --partition-by date; the dates of an earlier extract are not added again (status 99), and other spans that overlap them are refused (73)")
}

func (o *options) extract(ctx context.Context) error {
	r, err := o.run(ctx)
	if err == nil {
		r.Notes = append(r.Notes, o.output.notes(r, o.append)...)
	}
	if hint := userlist.Hint(o.users); hint != "" && r.NotFound > 0 {
		r.Notes = append(r.Notes, hint)
	}
	say(o.env, r.Notes)
	if err == nil {
		fmt.Fprintln(o.env.Said(), summary(r))
	}
	return o.env.Report(r, err)
}

// say writes notes to standard error.
func say(env *cli.Env, notes []string) {
	for _, note := range notes {
		fmt.Fprintln(env.Stderr, "extract:", note)
	}
}

// gcPercent lets the heap grow to three times the live heap before garbage is collected, as
// far as --memory allows. Extracts of short lists take some tens of milliseconds. With the
// default, garbage collection took a fifth of that time.
const gcPercent = 200

func (o *options) run(ctx context.Context) (r extract.Result, err error) {
	debug.SetGCPercent(gcPercent)
	err = o.ofOneState(func() error {
		r, err = o.once(ctx)
		return err
	})
	return r, err
}

// mostReadings is the maximum number of times that an extract opens the table if loads change
// it. One load can change it twice: when it hands its files over, and when it commits.
const mostReadings = 5

// ofOneState calls read again if a load has changed the table during the read. It does not
// if the result is written to standard output, because that cannot be taken back.
func (o *options) ofOneState(read func() error) error {
	for n := 1; ; n++ {
		err := read()
		if !errors.Is(err, table.ErrChanged) {
			return err
		}
		if n == mostReadings || o.output.out == standardOutput {
			return fmt.Errorf("%w: try again when no load runs", err)
		}
		o.flags.Log(o.env).Warn("the table is read again", "why", err)
	}
}

// once opens the table and runs the query.
func (o *options) once(ctx context.Context) (extract.Result, error) {
	a, err := o.ask(ctx)
	if err != nil {
		return extract.Result{}, err
	}
	defer a.close()
	r, err := extract.Run(ctx, a.config)
	if err != nil {
		return r, err
	}
	if r.Notes, err = notes.For(ctx, a.loader, a.config, r); err != nil {
		r.Notes = []string{fmt.Sprintf("the result is written, but its notes are missing: %v: check the table with bulkload verify", err)}
	}
	return r, nil
}

// An asking is a query with its open resources.
type asking struct {
	config extract.Config
	store  table.Store
	job    *job.Job // nil if none is named
	loader table.Loader
	ends   []func()
}

func (a *asking) close() {
	for _, end := range slices.Backward(a.ends) {
		end()
	}
}

// ask converts the flags to a query and opens its table.
func (o *options) ask(ctx context.Context) (_ *asking, err error) {
	a := new(asking)
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	if a.config, err = o.config(); err != nil {
		return nil, err
	}
	if err := o.open(ctx, a); err != nil {
		return nil, err
	}
	c := &a.config
	c.Table = a.loader
	info := a.loader.Info()
	if c.Conditions, err = o.conditions.of(c.Span, info.Schema.Zone); err != nil {
		return nil, err
	}
	if err := o.requireDays(ctx, c, a.loader); err != nil {
		return nil, err
	}
	if o.sample.Users == 0 {
		if c.Users, err = o.readUsers(ctx, c.FS, info.Layout, c.Memory/2); err != nil {
			return nil, err
		}
	}
	if c.Plan == fetch.Snapshot && !(o.explains && isLive(a.store)) {
		if err := o.openSnapshot(ctx, a); err != nil {
			return nil, err
		}
	}
	if o.rolls == "off" {
		c.Table = table.Unrolled(c.Table)
	}
	if o.sample.Users > 0 {
		err = o.sample.Choose(ctx, c)
	}
	return a, err
}

// open opens the table of a query. If the flags have no dates, the query has the dates of the
// table. OUT is checked as soon as the dates are known.
func (o *options) open(ctx context.Context, a *asking) error {
	c := &a.config
	o.flags.Bounds.Log = o.flags.Log(o.env)
	store, j, err := o.flags.Store(ctx, c.FS)
	if err != nil {
		return err
	}
	a.store, a.job = store, j
	a.ends = append(a.ends, func() { store.Close() })
	dated := o.from != nil && o.to != nil
	if dated {
		if err := o.checkOut(ctx, c, store); err != nil {
			return err
		}
	}
	if a.loader, err = openAt(ctx, store, j, o.snapshot); err != nil {
		return err
	}
	a.ends = append(a.ends, func() { a.loader.Close() })
	if dated {
		return nil
	}
	if c.Span, err = o.span(ctx, a.loader); err != nil {
		return err
	}
	return o.checkOut(ctx, c, store)
}

// openSnapshot makes the query read a snapshot of the table.
func (o *options) openSnapshot(ctx context.Context, a *asking) (err error) {
	c := &a.config
	c.Known = table.Known(a.loader)
	if err := extract.Settle(ctx, a.loader, c.Patience, c.Progress); err != nil {
		return err
	}
	if c.Table, err = o.readSnapshot(ctx, a.store, a.loader); err != nil {
		return err
	}
	a.ends = append(a.ends, func() { o.endSnapshot(c.Table) })
	return nil
}

// requireDays fails if the days of c are not loaded: with --require-days if a behaviour is missing, and with --append
// if all behaviours of the result are missing and the result does not have the days.
func (o *options) requireDays(ctx context.Context, c *extract.Config, t table.Loader) error {
	known := table.DaysKnown(t)
	switch {
	case o.explains || !o.days && !o.append:
		return nil
	case !known && o.days:
		return fmt.Errorf("%w: --require-days: other programs write to the table, and the loads do not show which days it has: leave the flag out", cli.ErrUsage)
	case !known:
		return nil
	}
	q, err := c.NewQuery()
	switch {
	case err != nil:
		return err
	case o.days:
		return table.RequireLogs(ctx, t, c.Span, q.NamedAll())
	}
	missing := table.RequireDays(ctx, t, c.Span, q.Names())
	if !errors.Is(missing, table.ErrDays) {
		return missing
	}
	if had, err := place.At(c.FS, c.Out).Has(ctx, c.Span); had || err != nil {
		return err
	}
	return missing
}

// span completes missing dates by the dates of the table. It fails if other programs write to
// the table or if no load recorded its dates. If the table has no days on the open side of the
// given date, the span is that date.
func (o *options) span(ctx context.Context, t table.Loader) (behaviour.Span, error) {
	s, ok, err := table.SpanOf(ctx, t)
	if err != nil {
		return s, fmt.Errorf("look for the table's dates: %w", err)
	}
	m := table.Known(t)
	live := m == nil || m.Address != ""
	if live && (!ok || m != nil && !m.Alone) {
		return s, fmt.Errorf("%w: %s, and the loads do not record which days the table has: write --from YYYY-MM-DD --to YYYY-MM-DD", cli.ErrUsage, o.undated())
	}
	if o.from == nil && o.to == nil && !ok {
		return s, fmt.Errorf("%w: %s", job.ErrNoInput, table.WithoutDays(t))
	}
	own := s
	switch {
	case o.from != nil:
		s.From, s.To = *o.from, max(own.To, *o.from)
	case o.to != nil:
		s.From, s.To = min(own.From, *o.to), *o.to
	}
	o.sayDates(s, own, ok)
	return s, nil
}

// undated returns which flags are missing.
func (o *options) undated() string {
	switch {
	case o.from != nil:
		return "--to is missing"
	case o.to != nil:
		return "--from is missing"
	}
	return "--from and --to are missing"
}

// sayDates prints the dates s that replace missing flags. own is the span of the table; any
// reports whether the table has records.
func (o *options) sayDates(s, own behaviour.Span, any bool) {
	why := ""
	switch {
	case !any:
		why = "has no records"
	case s.From > own.To:
		why = "ends on " + own.To.String()
	case s.To < own.From:
		why = "begins on " + own.From.String()
	}
	switch {
	case why == "":
		fmt.Fprintf(o.env.Stderr, "extract: using the dates of the table: --from %s --to %s\n", s.From, s.To)
	case o.from != nil:
		fmt.Fprintf(o.env.Stderr, "extract: the table %s: using only the date --from %s\n", why, s.From)
	default:
		fmt.Fprintf(o.env.Stderr, "extract: the table %s: using only the date --to %s\n", why, s.To)
	}
}

// checkOut refuses an --out that cannot be created, before anything is read.
func (o *options) checkOut(ctx context.Context, c *extract.Config, store table.Store) error {
	o.output.of(o.env, c)
	c.Homes = []string{store.Catalog()}
	if o.explains {
		return nil
	}
	if err := c.CheckAppend(); err != nil {
		return err
	}
	if o.users != "all" && o.users != "-" && o.sample.Users == 0 {
		var err error
		if c.Lists, err = userlist.Files(ctx, c.FS, o.users); err != nil {
			return o.listError(err)
		}
	}
	if c.Stream != nil {
		return nil
	}
	if err := c.Undo(ctx); err != nil {
		return err
	}
	if o.plans {
		return c.CheckForPlan(ctx)
	}
	return c.CheckForRun(ctx)
}

// config returns the configuration from the flags, without the table.
func (o *options) config() (c extract.Config, err error) {
	c = extract.Config{
		Spec:   query.Spec{Types: o.flags.Behaviours(), Active: o.active},
		Target: place.Target{FS: cli.Files(), Overwrite: o.overwrite, Append: o.append},
		Strict: o.strict, Workers: o.flags.Workers, Progress: o.flags.Progress(o.env), Patience: o.flags.RetryFor,
	}
	if c.Memory, err = o.flags.Limits(memory.Least); err != nil {
		return c, err
	}
	if o.from, o.to, err = o.flags.Dates(); err != nil {
		return c, err
	}
	if o.from != nil && o.to != nil {
		c.Span = behaviour.Span{From: *o.from, To: *o.to}
	}
	if o.append && (o.from == nil || o.to == nil || o.output.out == "") {
		return c, fmt.Errorf("%w: --append: write --from, --to and --out: they are the dates that are added, and the result to which they are added", cli.ErrUsage)
	}
	if o.users == "" {
		return c, fmt.Errorf("%w: --users is missing: a file with one user ID on each line, -, all or sample:20", cli.ErrUsage)
	}
	if o.sample, _, err = sample.Parse(o.users); err != nil {
		return c, err
	}
	if c.Plan, err = fetch.ParsePlan(o.plan); err != nil {
		return c, fmt.Errorf("%w: --%w", cli.ErrUsage, err)
	}
	if o.snapshot != "" && c.Plan != fetch.Snapshot {
		return c, fmt.Errorf("%w: --snapshot %s needs --plan snapshot", cli.ErrUsage, o.snapshot)
	}
	if o.rolls != "use" && o.rolls != "off" {
		return c, fmt.Errorf("%w: --rolls %q is none of use, off", cli.ErrUsage, o.rolls)
	}
	return c, o.output.check(o.env)
}

func isLive(s table.Store) bool {
	_, ok := s.(*live.Store)
	return ok
}

// readSnapshot returns the table of a snapshot: the named one, or a new one.
func (o *options) readSnapshot(ctx context.Context, s table.Store, t table.Table) (table.Table, error) {
	l, ok := s.(*live.Store)
	if !ok {
		return nil, fmt.Errorf("%w: --plan snapshot is for tables in HBase; a table of files needs no snapshot", cli.ErrUsage)
	}
	snap, err := l.Snapshot(ctx, t, o.snapshot)
	if errors.Is(err, snapshot.ErrNone) {
		return nil, fmt.Errorf("%w: --snapshot: %w", job.ErrNoInput, err)
	}
	return snap, err
}

// endSnapshot closes a snapshot. A failure is only a warning, because the result is complete.
func (o *options) endSnapshot(t table.Table) {
	if err := t.Close(); err != nil {
		o.flags.Log(o.env).Warn("the snapshot was not dropped; an extract on a later day drops it", "error", err)
	}
}

// openAt is open for a query of a snapshot, if one is named. The table of the snapshot may
// have been dropped.
func openAt(ctx context.Context, s table.Store, j *job.Job, snapshot string) (table.Loader, error) {
	if l, ok := s.(*live.Store); ok && snapshot != "" {
		l.Unproved()
	}
	return open(ctx, s, j)
}

// open opens a table. If a table in HBase was never loaded, the job has its schema.
func open(ctx context.Context, s table.Store, j *job.Job) (table.Loader, error) {
	t, err := s.Open(ctx)
	if !errors.Is(err, table.ErrNoTable) || dfs.Scheme(s.Address()) != live.Scheme {
		return t, err
	}
	if j == nil {
		return nil, fmt.Errorf("%w; name a job that describes its behaviours with --job", err)
	}
	return s.New(ctx, table.Plan{Layout: j.Layout, Schema: j.Schema})
}

func (o *options) readUsers(ctx context.Context, fs dfs.FS, l layout.Layout, limit int64) (*userlist.List, error) {
	switch o.users {
	case "all":
		return userlist.All(), nil
	case "-":
		return o.readStdin(l, limit)
	}
	u, err := userlist.Open(ctx, fs, o.users, l, limit)
	return u, o.listError(err)
}

// readStdin reads the list on standard input. If it is called again, it returns the same list.
func (o *options) readStdin(l layout.Layout, limit int64) (u *userlist.List, err error) {
	switch {
	case o.listed == nil:
		o.listed, err = userlist.Read(o.env.Stdin, "standard input", l, limit)
		o.listOf = l.Name()
	case o.listOf != l.Name():
		err = fmt.Errorf("%w: the first load created it with the layout %s", table.ErrChanged, l.Name())
	}
	return o.listed, err
}

// listError adds --users to an error.
func (o *options) listError(err error) error {
	switch {
	case errors.Is(err, iofs.ErrNotExist) && strings.EqualFold(o.users, "all"):
		return fmt.Errorf("%w: --users: %w: write all in small letters for all users", job.ErrNoInput, err)
	case errors.Is(err, iofs.ErrNotExist):
		return fmt.Errorf("%w: --users: %w: --users names a file with user IDs, not a user", job.ErrNoInput, err)
	case err != nil && !errors.Is(err, userlist.ErrList):
		return fmt.Errorf("--users: %w", err)
	}
	return err
}
