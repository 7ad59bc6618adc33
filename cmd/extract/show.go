package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/behaviour"
	"usertrail/internal/extract/show"
)

// showOptions are the flags of extract show.
type showOptions struct {
	env      *cli.Env
	flags    cli.Flags
	user     string
	fields   []string
	page     int
	after    string
	latest   int
	at       string
	around   string
	set      func(flag string) bool
	asJSON   bool
	asCSV    bool
	noColour bool
}

// newShow returns the command that prints the trail of one user.
func newShow(env *cli.Env) *cobra.Command {
	o := &showOptions{env: env}
	c := &cobra.Command{
		Use:   "show",
		Short: "Show one user's trail, a page at a time",
		Long: `Show prints one user's events in order of time, as a table for the screen, with times in the table's
time zone. --json prints one JSON object per event, --csv one line per event; their times are UTC.

--latest N shows the last N events instead of a page, in order of time too. --at shows the last event of
each behaviour at or before a time. Both search --from, --to and --types from the end of the trail. If
the layout stores a user's latest events first, they read only what they show. --around shows the events
before and after a time, half of them before it. If one side has fewer, it shows more of the other.

The last line of standard output is one JSON object, also after a failure. With --csv it is the last
line of standard error instead. Its "next" is the token of the next page, for --after, or empty after
the last page. If no event matches, the status is 0, "events" is 0, and standard error says what the
table has instead.`,
		Example: `  extract show --table ./trails --user u42
  extract show --user u42 --from 2014-09-01 --to 2014-09-10 --types play,order --fields programme,order.price
  extract show --user u42 --latest 10 --types play
  extract show --user u42 --at '2014-09-05 18:00:00'
  extract show --user u42 --around '2014-09-05 18:00:00' --page 10
  extract show --user u42 --page 0 --json | head -n -1 | jq .programme`,
		Args: flagsOnly,
		RunE: func(c *cobra.Command, _ []string) error { return o.show(c.Context()) },
	}
	o.flags.AddTable(c)
	f := c.Flags()
	f.StringVar(&o.user, "user", "", "ID of the user")
	f.StringVar(&o.flags.From, "from", "", "first date, YYYY-MM-DD (default the first that was loaded)")
	f.StringVar(&o.flags.To, "to", "", "last date, inclusive, YYYY-MM-DD (default the last that was loaded)")
	f.StringSliceVar(&o.flags.Types, "types", nil, "behaviours, comma-separated, or all (default all)")
	f.StringSliceVar(&o.fields, "fields", nil, "fields to show, NAME or BEHAVIOUR.NAME, comma-separated (default all)")
	f.IntVar(&o.page, "page", 50, "number of events on a page, 0 for all")
	f.StringVar(&o.after, "after", "", "token that the previous page printed (default the first page)")
	f.IntVar(&o.latest, "latest", 0, "show the last N events instead of a page")
	f.StringVar(&o.at, "at", "", "show the last event of each behaviour at or before a time in the table's time zone: '2014-09-05 18:00:00', or 2014-09-05 for the end of the day")
	f.StringVar(&o.around, "around", "", "show the events before and after a time in the table's time zone, such as '2014-09-05 18:00:00': 20 events, or the number in --page")
	f.BoolVar(&o.asJSON, "json", false, "print JSON, one object per event")
	f.BoolVar(&o.asCSV, "csv", false, "print CSV")
	o.flags.AddMemory(c, show.MinMemory)
	f.BoolVar(&o.noColour, "no-color", false, "do not use colours, as with $NO_COLOR")
	o.set = func(flag string) bool { return f.Changed(flag) }
	env.Reports(c, show.Result{})
	return c
}

// flagsOnly refuses arguments. The first argument is probably the user.
func flagsOnly(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%w: extract show accepts only flags, not %q: name the user with --user ID", cli.ErrUsage, args[0])
	}
	return nil
}

// pageMemory is the memory limit of the runtime. A page needs less, so its garbage is not
// collected; a trail of millions of events needs more.
const pageMemory = 256 << 20

func (o *showOptions) show(ctx context.Context) error {
	debug.SetGCPercent(4 * gcPercent)
	r, err := o.run(ctx)
	env := *o.env
	if o.asCSV && err == nil {
		env.Stdout = o.env.Stderr
	}
	return env.Report(r, err)
}

func (o *showOptions) run(ctx context.Context) (show.Result, error) {
	none := show.Result{User: o.user}
	trim(o.fields)
	if o.asJSON && o.asCSV {
		return none, fmt.Errorf("%w: --json and --csv cannot be combined: choose one", cli.ErrUsage)
	}
	cfg := show.Config{
		User: o.user, Types: o.flags.Behaviours(), Fields: o.fields, Page: o.page, After: o.after, Latest: o.latest,
		Uncounted: o.asJSON || o.asCSV,
	}
	if err := o.ends(&cfg); err != nil {
		return none, err
	}
	o.flags.Workers = 1
	var err error
	if cfg.Memory, err = o.flags.Limits(show.MinMemory); err != nil {
		return none, err
	}
	debug.SetMemoryLimit(min(pageMemory, debug.SetMemoryLimit(-1)))
	for _, d := range []struct {
		flag, text string
		date       **behaviour.Date
	}{{"--from", o.flags.From, &cfg.From}, {"--to", o.flags.To, &cfg.To}} {
		if d.text == "" {
			continue
		}
		date, err := behaviour.ParseDate(d.text)
		if err != nil {
			return none, fmt.Errorf("%w: %s: %w", cli.ErrUsage, d.flag, err)
		}
		*d.date = &date
	}
	store, j, err := o.flags.Store(ctx, cli.Files())
	if err != nil {
		return none, err
	}
	defer store.Close()
	t, err := open(ctx, store, j)
	if err != nil {
		return none, err
	}
	defer t.Close()
	cfg.Table = t
	if o.at != "" {
		if cfg.At, err = timeOf("at", o.at, t.Info().Schema.Zone); err != nil {
			return none, err
		}
	}
	if o.around != "" {
		if cfg.Around, err = timeOf("around", o.around, t.Info().Schema.Zone); err != nil {
			return none, err
		}
	}
	return o.write(ctx, cfg)
}

// aroundPage is the number of events that --around shows.
const aroundPage = 20

// ends checks --latest, --at and --around, as far as that needs no table.
func (o *showOptions) ends(c *show.Config) error {
	switch {
	case o.set("latest") && o.latest < 1:
		return fmt.Errorf("%w: --latest %d: write the number of events, at least 1", cli.ErrUsage, o.latest)
	case o.around != "" && !o.set("page"):
		c.Page = aroundPage
	case (o.latest > 0 || o.at != "") && !o.set("page"):
		c.Page = 0
	}
	return nil
}

// timeOf parses the time of a flag. A time without a zone is in the zone given.
func timeOf(flag, text, zone string) (*int64, error) {
	z, err := time.LoadLocation(zone)
	if err != nil {
		return nil, fmt.Errorf("the table's zone: %w", err)
	}
	at, err := parseAt(text, z)
	if err != nil {
		return nil, fmt.Errorf("%w: --%s: %w", cli.ErrUsage, flag, err)
	}
	return &at, nil
}

// write prints a page and its notes.
func (o *showOptions) write(ctx context.Context, cfg show.Config) (show.Result, error) {
	out := bufio.NewWriterSize(o.env.Stdout, 64<<10)
	asked, r, err := show.Page(ctx, cfg, o.writer(out))
	if err == nil && r.Next != "" && !o.asJSON && !o.asCSV {
		more(out, r, o.look().Width)
	}
	if fail := out.Flush(); err == nil {
		err = fail
	}
	say(o.env, r.Notes)
	if err != nil {
		return r, err
	}
	switch {
	case r.Next != "" && (o.asJSON || o.asCSV):
		more(o.env.Stderr, r, 1<<10)
	case r.Events == 0 && o.after == "":
		note, err := show.Instead(ctx, cfg.Table, asked)
		if err != nil {
			return r, err
		}
		fmt.Fprintln(o.env.Stderr, note)
		r.Notes = append(r.Notes, note)
	}
	return r, nil
}

// more prints how to continue. It never breaks the token.
func more(w io.Writer, r show.Result, columns int) {
	note := "… more events follow; continue with"
	space := " "
	if len(note)+len(" --after ")+len(r.Next) > columns {
		space = "\n"
	}
	fmt.Fprintf(w, "%s%s--after %s\n", note, space, r.Next)
}

// writer returns the writer of the format that the flags name.
func (o *showOptions) writer(w io.Writer) show.Writer {
	switch {
	case o.asJSON:
		return show.NewJSON(w)
	case o.asCSV:
		return show.NewCSV(w, terminal(o.env.Stdout) >= 0)
	}
	return show.NewScreen(w, o.look())
}

// defaultWidth is the width if it is not known, in columns.
const defaultWidth = 80

// look returns the width and colours of the terminal, or else the width of $COLUMNS.
func (o *showOptions) look() show.Look {
	look := show.Look{Width: defaultWidth}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		look.Width = n
	}
	fd := terminal(o.env.Stdout)
	if fd < 0 {
		return look
	}
	if columns, _, err := term.GetSize(fd); err == nil && columns > 0 {
		look.Width = columns
	}
	look.Colour = !o.noColour && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return look
}

// terminal returns the descriptor of w if it is a terminal, or -1.
func terminal(w io.Writer) int {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return int(f.Fd())
	}
	return -1
}
