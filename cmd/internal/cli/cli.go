package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/job"
	"usertrail/internal/run/exit"
	"usertrail/internal/run/outcome"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/hdfs"
	"usertrail/internal/store/dfs/local"
)

// version is set by the linker.
var version string

// An Env holds the streams of a program, and the state of its run.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Began          time.Time
	Streams        bool // standard output is for the result or pieces only; everything else goes to standard error

	name    string // of the program
	results map[*cobra.Command]outcome.Result
	looks   []*cobra.Command // commands with a last line only after a failure
	cause   func() error     // returns why the run's context has ended
	end     *ending
}

// Reports makes c end with a last line of JSON. If c fails before it starts, the line has
// the result nothing.
func (e *Env) Reports(c *cobra.Command, nothing outcome.Result) {
	if e.results == nil {
		e.results = map[*cobra.Command]outcome.Result{}
	}
	e.results[c] = nothing
}

// ReportsFailure makes c end with a last line of JSON after a failure. After success c has
// no such line.
func (e *Env) ReportsFailure(c *cobra.Command) { e.looks = append(e.looks, c) }

// Nothing returns the result for the last line of a command that could not start, and false
// if the command has no last line.
func (e *Env) Nothing(c *cobra.Command) (outcome.Result, bool) {
	if slices.Contains(e.looks, c) {
		return outcome.None{}, true
	}
	nothing, ok := e.results[c]
	return nothing, ok
}

// programVersion returns the version that the linker set, or else the version of the module.
func programVersion() string {
	if version != "" {
		return version
	}
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		return b.Main.Version
	}
	return "unknown"
}

// New returns the root command of a program, with the flags that both programs have.
func New(env *Env, name, short, long string) *cobra.Command {
	c := &cobra.Command{
		Use: name, Short: short, Long: long + "\n\n" + Statuses + "\n" + Signals, Version: programVersion(),
		SilenceErrors: true, SilenceUsage: true, Args: noArgs,
	}
	env.name = name
	c.SetIn(env.Stdin)
	c.SetOut(env.Stdout)
	c.SetErr(env.Stderr)
	c.SetFlagErrorFunc(wrongFlag)
	format := textLog
	c.PersistentFlags().Var(&format, logFormatFlag, "format of standard error: text, or json with one object per line")
	var metricsFile string
	c.PersistentFlags().StringVar(&metricsFile, metricsFlag, "", "file to write the run's metrics to, for Prometheus's textfile collector (default none)")
	var lineageTo string
	c.PersistentFlags().StringVar(&lineageTo, lineageFlag, "", "where to send OpenLineage events, if the command writes a table or a result: a file, or an http:// address (default $OPENLINEAGE_URL)")
	part := &env.shared().part
	part.add(c)
	var who credentials
	who.add(c)
	var patience time.Duration
	c.PersistentFlags().DurationVar(&patience, "wait-lock", 0, "how long to wait for a lock that another run holds, such as 10m, before status 75, if the command takes a lock (default 0s)")
	c.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		if err := given(c, args); err != nil {
			return err
		}
		if err := env.patient(c, patience); err != nil {
			return err
		}
		if _, err := umask(0); err != nil {
			return err
		}
		if err := who.use(); err != nil {
			return err
		}
		if err := part.check(c); err != nil {
			return err
		}
		if err := env.metered(c, metricsFile); err != nil {
			return err
		}
		return env.traced(c, lineageTo)
	}
	return c
}

// Group adds commands to a root. -h lists them together, below the title.
func (e *Env) Group(root *cobra.Command, id, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, c := range commands {
		c.GroupID = id
		if _, reports := e.results[c]; !reports {
			hide(c, root, metricsFlag)
		}
		if !makes(c.Name(), c) {
			hide(c, root, lineageFlag)
		}
	}
	root.AddCommand(commands...)
}

// hide removes a flag of root from -h of c, which refuses it. The command line still accepts the flag, so that the
// error can have the reason why c refuses it.
func hide(c, root *cobra.Command, name string) {
	f := *root.PersistentFlags().Lookup(name)
	f.Hidden = true
	c.Flags().AddFlag(&f)
}

// NoArgs refuses arguments of a command that has no subcommands.
func NoArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%w: %s accepts only flags, not %q%s; see %s -h", ErrUsage, c.CommandPath(), args[0], argumentHint(c, args[0]), c.CommandPath())
	}
	return nil
}

// noArgs refuses arguments of a root command, and suggests a command with a similar name.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		hint := cmp.Or(meant(args[0], commandNames(c), ""), argumentHint(c, args[0]))
		return fmt.Errorf("%w: %q is not a command of %s%s; see %s -h", ErrUsage, args[0], c.Name(), hint, c.CommandPath())
	}
	return nil
}

// OneArg accepts exactly one argument. The error describes it as what.
func OneArg(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%w: %s accepts %s; see %s -h", ErrUsage, c.CommandPath(), what, c.CommandPath())
		}
		return nil
	}
}

// Execute runs a command line and returns the exit status. It prints an error once, on
// standard error.
func Execute(ctx context.Context, env *Env, root *cobra.Command, args []string) int {
	root.SetArgs(args)
	if wantsJSON(args) {
		env.Stderr = &jsonLines{out: env.Stderr, name: root.Name()}
		root.SetErr(env.Stderr)
	}
	env.cause = func() error { return context.Cause(ctx) }
	if c, _, err := root.Find(args); err == nil {
		env.shared().running = c
	}
	env.hear(ctx)
	ctx = context.WithValue(ctx, endingKey{}, env.shared())
	c, err := root.ExecuteContextC(env.recorded(ctx, args))
	if err != nil && !errors.Is(err, ErrUsage) && strings.HasPrefix(err.Error(), "required flag(s)") {
		err = fmt.Errorf("%w: %w; see %s -h", ErrUsage, err, root.Name())
	}
	var said *reported
	if nothing, ok := env.Nothing(c); ok && err != nil && !errors.As(err, &said) {
		err = env.Report(nothing, errors.Join(err, env.meteredLate(c, args)))
	}
	if err = env.explain(err); err != nil && !(env.Streams && errors.As(err, &said)) {
		env.say(err)
	}
	return int(Status(err))
}

// reported is an error that the last line of standard output has reported.
type reported struct{ error }

func (r *reported) Unwrap() error { return r.error }

// Report prints the last line of standard output, or of standard error if Streams is set.
// The line is result as one JSON object, with the duration, the exit status, and the error
// if there is one.
func (e *Env) Report(result outcome.Result, err error) error {
	err = e.explain(err)
	end := e.ended(result, err)
	e.account(end, accountFor)
	s := e.shared()
	s.mu.Lock()
	defer s.mu.Unlock()
	fail := e.writeReport(end, err)
	s.done, s.status = true, end.Status
	if err != nil {
		return &reported{err}
	}
	return fail
}

// ended returns how the run ends now.
func (e *Env) ended(result outcome.Result, err error) *outcome.Outcome {
	return &outcome.Outcome{
		Result: result, At: time.Now(), Seconds: outcome.Seconds(time.Since(e.Began)), Status: Status(err), Error: text(err),
	}
}

// writeReport writes the last line.
func (e *Env) writeReport(end *outcome.Outcome, err error) error {
	line, fail := end.Line()
	if fail == nil {
		if e.Streams && err != nil {
			e.say(err)
		}
		_, fail = fmt.Fprintf(e.Said(), "%s\n", line)
	}
	return fail
}

// Said returns the stream for messages about a result.
func (e *Env) Said() io.Writer {
	if e.Streams {
		return e.Stderr
	}
	return e.Stdout
}

// say prints an error on standard error. It prints nothing if the reader of the result has
// closed the pipe, or if a script has printed the error.
func (e *Env) say(err error) {
	_, asJSON := e.Stderr.(*jsonLines)
	_, printed := endedStatus(err)
	switch status := Status(err); {
	case printed, status == exit.Gone:
	case asJSON && status == exit.Nothing:
		e.Log(slog.LevelInfo).Info(err.Error(), "status", status)
	case asJSON:
		e.Log(slog.LevelError).Error(err.Error(), "status", status)
	default:
		fmt.Fprintf(e.Stderr, "%s: %v\n", e.name, err)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Flags are the flags that both programs have.
type Flags struct {
	Job, Table string
	From, To   string
	Types      []string
	Memory     string
	Workers    int
	Quiet      bool
	Verbose    bool
	Waits
}

// Waits limit the time that a run waits for servers.
type Waits struct {
	CallTimeout time.Duration // of one call
	RetryFor    time.Duration // of one operation, with all its attempts
	Bounds
}

// Add adds the flags to a command.
func (w *Waits) Add(c *cobra.Command) {
	p := c.Flags()
	p.DurationVar(&w.CallTimeout, "call-timeout", time.Minute, "timeout of one call to a server")
	p.DurationVar(&w.RetryFor, "retry-for", 5*time.Minute, "how long to retry a failed operation before giving up")
	w.Bounds.Add(c)
}

// check refuses negative durations.
func (w Waits) check() error {
	if w.CallTimeout < 0 || w.RetryFor < 0 {
		return fmt.Errorf("%w: --call-timeout and --retry-for must not be negative", ErrUsage)
	}
	return nil
}

// Add adds the flags to a command. least is the minimum of --memory.
func (f *Flags) Add(c *cobra.Command, least uint64) {
	f.AddTable(c)
	p := c.Flags()
	p.StringVar(&f.From, "from", "", "first date, YYYY-MM-DD")
	p.StringVar(&f.To, "to", "", "last date, inclusive, YYYY-MM-DD")
	p.StringSliceVar(&f.Types, "types", nil, "behaviours, comma-separated")
	f.AddRun(c, least)
}

// AddTable adds the flags that name a table.
func (f *Flags) AddTable(c *cobra.Command) {
	f.addTable(c, "table: a directory, or hbase://zk1,zk2:2181/namespace:table")
	f.Waits.Add(c)
}

// AddTableInHBase adds the flags that name a table in HBase.
func (f *Flags) AddTableInHBase(c *cobra.Command) {
	f.addTable(c, "table: hbase://zk1,zk2:2181/namespace:table")
	f.Waits.Add(c)
}

// AddTableOfFiles adds the flags that name a table that cannot be in HBase. -h does not list the flags that limit requests to
// HBase. The command line still accepts them, because earlier releases listed them.
func (f *Flags) AddTableOfFiles(c *cobra.Command) {
	f.addTable(c, "table of files: a directory, local or hdfs://")
	f.Waits.Add(c)
	Unlist(c.Flags(), "max-rate", "in-flight")
}

// Unlist leaves flags out of -h and of the man page. The command line still accepts them.
func Unlist(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		if err := f.MarkHidden(name); err != nil {
			panic(err)
		}
	}
}

func (f *Flags) addTable(c *cobra.Command, what string) {
	p := c.Flags()
	p.StringVar(&f.Job, "job", "", "job file (default $USERTRAIL_JOB, then ./usertrail.yaml)")
	p.StringVar(&f.Table, "table", "", what+" (default the job file's)")
}

// AddRun adds the flags that limit resources. least is the minimum of --memory.
func (f *Flags) AddRun(c *cobra.Command, least uint64) {
	f.AddMemory(c, least)
	f.AddWorkers(c, "number of concurrent workers")
	f.AddQuiet(c)
}

// AddMemory adds --memory. -h shows its minimum, which Limits checks.
func (f *Flags) AddMemory(c *cobra.Command, least uint64) {
	c.Flags().StringVar(&f.Memory, "memory", "1GiB", "memory limit of the whole process, such as 512MiB or 4GiB; at least "+Size(least))
}

// Size returns a number of bytes as a flag has it, such as 512MiB.
func Size(n uint64) string { return strings.ReplaceAll(humanize.IBytes(n), " ", "") }

// AddWorkers adds --workers, whose default is the number of CPUs. -h has this in words, so that
// it is the same on every machine.
func (f *Flags) AddWorkers(c *cobra.Command, usage string) {
	c.Flags().IntVar(&f.Workers, "workers", runtime.GOMAXPROCS(0), usage+" (default one per CPU)")
	c.Flags().Lookup("workers").DefValue = "0" // pflag does not show it
}

// AddQuiet adds --quiet.
func (f *Flags) AddQuiet(c *cobra.Command) {
	c.Flags().BoolVar(&f.Quiet, "quiet", false, "do not report progress")
}

// Behaviours returns the names in --types. It trims blanks and skips empty names, as in
// "play, order" and "play,".
func (f *Flags) Behaviours() []string {
	var names []string
	for _, name := range f.Types {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Dates parses --from and --to. The result of a missing flag is nil.
func (f *Flags) Dates() (from, to *behaviour.Date, err error) {
	if from, err = dateOf("--from", f.From); err != nil {
		return nil, nil, err
	}
	if to, err = dateOf("--to", f.To); err != nil {
		return nil, nil, err
	}
	if from != nil && to != nil && *from > *to {
		return nil, nil, fmt.Errorf("%w: --from %s comes after --to %s", ErrUsage, *from, *to)
	}
	return from, to, nil
}

// dateOf returns the date of a flag, nil if the flag is not given.
func dateOf(flag, text string) (*behaviour.Date, error) {
	if text == "" {
		return nil, nil
	}
	date, err := behaviour.ParseDate(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrUsage, flag, err)
	}
	return &date, nil
}

// Span parses --from and --to. Both are required.
func (f *Flags) Span() (behaviour.Span, error) {
	from, to, err := f.Dates()
	if err != nil {
		return behaviour.Span{}, err
	}
	for _, d := range []struct {
		flag string
		date *behaviour.Date
	}{{"--from", from}, {"--to", to}} {
		if d.date == nil {
			return behaviour.Span{}, fmt.Errorf("%w: %s is missing: write %s YYYY-MM-DD", ErrUsage, d.flag, d.flag)
		}
	}
	return behaviour.Span{From: *from, To: *to}, nil
}

// IsSet reports whether c has a boolean flag with a name, and the flag is set.
func IsSet(c *cobra.Command, name string) bool {
	f := c.Flags().Lookup(name)
	return f != nil && f.Value.String() == "true"
}

// given refuses arguments that are empty, and flags that have a value and are given an empty one. People do not write hidden commands.
func given(c *cobra.Command, args []string) (err error) {
	if c.Hidden {
		return nil
	}
	if slices.Contains(args, "") {
		return fmt.Errorf("%w: an argument is empty; omit it, or check whether a shell variable is not set", ErrUsage)
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && empty(f.Value) {
			err = fmt.Errorf("%w: --%s is empty; omit it, or check whether a shell variable is not set", ErrUsage, f.Name)
		}
	})
	return err
}

// empty reports whether the value of a flag is an empty text, or a list of blank texts.
func empty(v pflag.Value) bool {
	if list, ok := v.(pflag.SliceValue); ok {
		return !slices.ContainsFunc(list.GetSlice(), func(s string) bool { return strings.TrimSpace(s) != "" })
	}
	return v.String() == ""
}

// uncounted is the memory of a process that the runtime's limit does not count, mainly the
// program itself.
const uncounted = 32 << 20

// perThread is the --memory that is needed for each thread that runs Go code. The runtime has caches for each of them,
// and exceeds its limit by more if it has more of them: with --memory 128MiB and 64 threads by 20 MiB.
const perThread = 16 << 20

// Limits parses --memory and --workers, and sets the runtime's memory limit and its number of threads. The limit is
// a little lower than --memory, because it does not count everything. least is the minimum
// of --memory. The result is --memory in bytes.
func (f *Flags) Limits(least uint64) (int64, error) {
	n, err := humanize.ParseBytes(f.Memory)
	if err != nil || n > 1<<50 {
		return 0, fmt.Errorf("%w: --memory %q is not a size such as 512MiB or 4GiB", ErrUsage, f.Memory)
	}
	if n < least {
		return 0, fmt.Errorf("%w: --memory %s is too small; the minimum is %s", ErrUsage, f.Memory, humanize.IBytes(least))
	}
	if f.Workers < 1 || f.Workers > 1024 {
		return 0, fmt.Errorf("%w: --workers %d is not in 1..1024", ErrUsage, f.Workers)
	}
	debug.SetMemoryLimit(min(int64(n)/10*9, int64(n)-uncounted))
	runtime.GOMAXPROCS(min(runtime.GOMAXPROCS(0), max(2, int(n/perThread))))
	return int64(n), nil
}

// DefaultJob is the job file if neither --job nor $USERTRAIL_JOB names one.
const DefaultJob = "usertrail.yaml"

// ErrNoJob is wrapped if no job file is named and DefaultJob does not exist.
var ErrNoJob = fmt.Errorf("%w: no job file", ErrUsage)

// LoadJob loads the job file that --job or $USERTRAIL_JOB names, or else DefaultJob.
func (f *Flags) LoadJob(ctx context.Context, fs dfs.FS) (*job.Job, error) {
	j, err := f.loadJob(ctx, fs)
	if err != nil {
		return nil, err
	}
	if e, ok := ctx.Value(endingKey{}).(*ending); ok {
		e.setNamed(tableLabel(j.Table.Address))
	}
	return j, useJob(j)
}

func (f *Flags) loadJob(ctx context.Context, fs dfs.FS) (*job.Job, error) {
	name := cmp.Or(f.Job, os.Getenv("USERTRAIL_JOB"))
	if name != "" {
		return job.Load(ctx, fs, name)
	}
	j, err := job.Load(ctx, fs, DefaultJob)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no ./%s; name one with --job or $USERTRAIL_JOB", ErrNoJob, DefaultJob)
	}
	return j, err
}

// Log returns a log on standard error. It has warnings, and with --verbose more.
func (f *Flags) Log(env *Env) *slog.Logger {
	level := slog.LevelWarn
	if f.Verbose {
		level = slog.LevelInfo
	}
	return env.Log(level)
}

// Progress returns the configuration of progress on standard error.
func (f *Flags) Progress(env *Env) progress.Config {
	return progress.Config{
		Out: env.Stderr, Quiet: f.Quiet, Terminal: isTerminal(env.Stderr), Board: env.board(),
		Log: env.Log(slog.LevelInfo),
	}
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// remote returns the file system of hdfs:// names. Builds for tests replace it.
var remote = func(_ dfs.FS, temp string) dfs.FS { return hdfs.New(hdfs.Config{Temp: temp, Identity: user}) }

// Files returns the file system of local and hdfs:// names.
func Files() dfs.FS { return FilesIn("") }

// FilesIn is Files with a local directory for files until they are uploaded to HDFS. If temp
// is empty, the directory is $TMPDIR.
func FilesIn(temp string) dfs.FS {
	disk := local.New()
	return waitingFiles{dfs.NewMux(map[string]dfs.FS{"": disk, hdfs.Scheme: remote(disk, temp)})}
}
