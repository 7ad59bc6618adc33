package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/advise"
	"usertrail/internal/format/job"
	"usertrail/internal/run/outcome"
	"usertrail/internal/run/quantity"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/live"
)

// An advising has the flags of advise.
type advising struct {
	env     *cli.Env
	flags   cli.Flags
	queries string
	days    int
	sample  string
	json    bool
}

// An adviceResult is the last line of advise.
type adviceResult struct {
	*advise.Advice
	Paste  map[advise.Place][]string `json:"paste,omitempty"`  // lines of a job
	Create string                    `json:"create,omitempty"` // command that creates the table in HBase
}

// Counted implements outcome.Result.
func (r adviceResult) Counted() outcome.Counts {
	if r.Advice == nil || r.Sample == nil {
		return nil
	}
	return outcome.Counts{outcome.Files: float64(r.Files), outcome.Bytes: float64(r.Bytes), outcome.Records: r.Records, outcome.Users: r.Users}
}

func newAdvise(env *cli.Env) *cobra.Command {
	o := &advising{env: env}
	c := &cobra.Command{
		Use:   "advise",
		Short: "Recommend a layout and the settings of a new table",
		Long: `Advise reads a sample of the logs of --from to --to, and a list of the queries that you expect. For a
table in HBase and for a table of files it recommends the layout that needs the least work for the
loads and queries of a day. It prints the size of the table, its regions, compression, Bloom filter,
block size, versions and ttl, and which layouts cannot store these users. Advise computes the costs
from measured figures, and prints on how many records they were measured. Use them only to compare
layouts. Advise writes nothing and contacts no server.

The file of --questions is a YAML list of queries, each with its number per day:

  - {ask: latest, last: 10, per_day: 50000}
  - {ask: at, per_day: 1000}
  - {ask: user, per_day: 200}
  - {ask: days, days: 10, types: [play, order], per_day: 500}
  - {who: analysts, ask: days, days: 10, types: [play, order], users: 1%, per_day: 24}
  - {ask: span, hours: 1, per_day: 3}

  latest  the last events of one user
  at      what one user did last at a point in time
  user    all events of one user
  days    some days and behaviours of one user, or of many (users: 2000, 1% or all)
  span    which users did something in these hours

"who" is a comment.

Without the file, advise assumes 1000 of each of the queries latest, at, user and days of one user per
day, and one of each other query.`,
		Example: `  bulkload advise --from 2014-09-01 --to 2014-09-03 --questions questions.yaml
  bulkload advise --job usertrail.yaml --from 2014-09-01 --to 2014-09-01 --days 400
  bulkload advise --from 2014-09-01 --to 2014-09-01 --questions questions.yaml --json | jq '.places[].layout'`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := o.advise(c.Context())
			return o.env.Report(r, err)
		},
	}
	env.Reports(c, adviceResult{})
	f := c.Flags()
	f.StringVar(&o.flags.Job, "job", "", "job file (default $USERTRAIL_JOB, then ./usertrail.yaml)")
	f.StringVar(&o.flags.From, "from", "", "first date of the logs to sample, YYYY-MM-DD")
	f.StringVar(&o.flags.To, "to", "", "last date of the logs to sample, inclusive, YYYY-MM-DD")
	f.StringSliceVar(&o.flags.Types, "types", nil, "behaviours to sample, comma-separated (default all)")
	f.StringVar(&o.queries, "questions", "", "YAML file with the expected queries (default 1000 per day of each query about one user)")
	f.IntVar(&o.days, "days", 0, "number of days that the table will hold (default the job's ttl, else the days of the sample)")
	f.StringVar(&o.sample, "sample", cli.Size(advise.DefaultBytes), "amount of log text to read, such as 128MiB")
	f.BoolVar(&o.json, "json", false, "print only the last line, which is JSON")
	return c
}

// maxHeld is the maximum of --days: a century.
const maxHeld = 36_600

func (o *advising) advise(ctx context.Context) (adviceResult, error) {
	var r adviceResult
	cfg, err := o.config(ctx)
	if err != nil {
		return r, err
	}
	if r.Advice, err = advise.Advise(cfg); err != nil {
		return r, err
	}
	r.Paste = map[advise.Place][]string{}
	for i := range r.Places {
		c := &r.Places[i]
		t := cfg.Job.Table
		t.Address = placed(t.Address, c.Where)
		r.Paste[c.Where] = c.Lines(t)
		if c.Where == advise.HBase {
			r.Create = o.createLine(cfg.Job, c)
		}
	}
	if !o.json {
		err = printAdvice(o.env.Stdout, r)
	}
	return r, err
}

// config reads the job, the queries and the sample.
func (o *advising) config(ctx context.Context) (cfg advise.Config, err error) {
	span, err := o.flags.Span()
	if err != nil {
		return cfg, err
	}
	size, err := humanize.ParseBytes(o.sample)
	if err != nil || size == 0 || size > 1<<40 {
		return cfg, fmt.Errorf("%w: --sample %q is not a size such as 128MiB or 2GiB", cli.ErrUsage, o.sample)
	}
	if o.days < 0 || o.days > maxHeld {
		return cfg, fmt.Errorf("%w: --days %d is not in 1..%d", cli.ErrUsage, o.days, maxHeld)
	}
	files := cli.Files()
	if cfg.Job, err = o.flags.LoadJob(ctx, files); err != nil {
		return cfg, err
	}
	cfg.Queries = advise.Usual()
	if o.queries != "" {
		if cfg.Queries, err = job.LoadQueries(ctx, files, o.queries, cfg.Job.Schema); err != nil {
			return cfg, fmt.Errorf("%w: --questions: %w", cli.ErrUsage, err)
		}
	}
	if cfg.Figures, err = advise.MeasuredFigures(); err != nil {
		return cfg, err
	}
	cfg.Days = o.days
	cfg.Sample, err = advise.Take(ctx, files, cfg.Job, span, o.flags.Behaviours(), int64(size))
	return cfg, err
}

// placed returns the address of the job if it is an address of this kind of table, or else
// an example.
func placed(address string, where advise.Place) string {
	switch {
	case (dfs.Scheme(address) == live.Scheme) == (where == advise.HBase) && address != "":
		return address
	case where == advise.HBase:
		return "hbase://zk1,zk2:2181/namespace:table"
	}
	return "trails"
}

// createLine returns the command that creates the table.
func (o *advising) createLine(j *job.Job, c *advise.Choice) string {
	line := "bulkload create-table --job " + shellWord(j.Name)
	if len(c.Splits) > 0 && c.Even {
		return line + " --regions " + strconv.Itoa(c.Regions)
	}
	line += " --from " + o.flags.From + " --to " + o.flags.To
	if types := o.flags.Behaviours(); len(types) > 0 {
		line += " --types " + shellWord(behaviour.Flag(types))
	}
	return line + " --regions " + strconv.Itoa(c.Regions)
}

// shellWord quotes a text for a shell.
func shellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("%+,-./:=@_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func printAdvice(w io.Writer, r adviceResult) error {
	printSampled(w, r.Advice)
	for i := range r.Places {
		c := &r.Places[i]
		fmt.Fprintln(w)
		if err := printChosen(w, r, c); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

// printSampled prints the counts of the sample.
func printSampled(w io.Writer, a *advise.Advice) {
	how := "read to the end"
	if !a.Whole {
		how = "of their beginnings; users and records are estimates"
	}
	fmt.Fprintf(w, "sample      %s of %s, %s, %s\n", quantity.Of(a.Sampled, "record"), quantity.Of(a.Files, "file"), advise.Bytes(a.Bytes), how)
	fmt.Fprintf(w, "logs        %s of %s on %s\n", quantity.Of(int64(a.Records), "record"), quantity.Of(int64(a.Users), "user"), quantity.Of(a.Days, "day"))
	fmt.Fprintf(w, "table       %s: %s, %s a user\n", quantity.Of(a.TableDays, "day"), quantity.Of(int64(a.Held), "record"), perUser(a.Each))
}

// perUser returns a mean number of records with three digits, or as a whole number.
func perUser(n float64) string {
	if n >= 1000 {
		return humanize.Comma(int64(n))
	}
	return fmt.Sprintf("%.3g", n)
}

// farLarger is the largest ratio of a table's records to the measured records for which the
// costs of many users are more than a guess.
const farLarger = 100

// placeNames are the names of the kinds of tables.
var placeNames = map[advise.Place]string{advise.HBase: "in HBase", advise.Files: "of files"}

// printChosen prints the recommendation for one kind of table.
func printChosen(w io.Writer, r adviceResult, c *advise.Choice) error {
	fmt.Fprintf(w, "A table %s: use %s.%s\n", placeNames[c.Where], c.Layout, measuredOn(c))
	if times := r.Held / float64(c.Measured.Records); times > farLarger {
		fmt.Fprintf(w, "The table will have %s times as many records, so the costs of lists and hours are a guess.\n", humanize.Comma(int64(times)))
	}
	fmt.Fprintln(w)
	if err := printCosts(w, r.Advice, c); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, l := range c.Layouts {
		why := l.Why
		if l.Cannot != "" {
			why = "Cannot be used: " + l.Cannot + "."
		}
		fmt.Fprintf(w, "%-11s %s\n", l.Layout, why)
	}
	fmt.Fprintln(w)
	printSettings(w, c)
	fmt.Fprintf(w, "\nIn the job:\n\n")
	for _, line := range r.Paste[c.Where] {
		fmt.Fprintf(w, "    %s\n", line)
	}
	if c.Where == advise.HBase {
		fmt.Fprintf(w, "\nThen:\n\n    %s\n", r.Create)
	}
	return nil
}

// measuredOn describes the tables on which the figures were measured.
func measuredOn(c *advise.Choice) string {
	text := fmt.Sprintf(" Measured on %s records", humanize.Comma(c.Measured.Records))
	if c.Measured.Where != c.Where {
		text += " in tables " + placeNames[c.Measured.Where] + " only: tables " + placeNames[c.Where] + " may differ"
	}
	return text + "."
}

// printCosts prints a line for each layout that can be used. An arrow marks the chosen one.
func printCosts(w io.Writer, a *advise.Advice, c *advise.Choice) error {
	fmt.Fprintf(w, "Time that the machine is busy with the load of a night, with one query of each kind, and in a day:\n\n")
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(out, "\tlayout\tsize\ta load")
	for _, q := range a.Queries {
		fmt.Fprintf(out, "\t%s", q.Title())
	}
	fmt.Fprintln(out, "\tin a day\t")
	for _, l := range c.Layouts {
		if l.Cannot != "" {
			continue
		}
		mark := ""
		if l.Layout == c.Layout {
			mark = "->"
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s", mark, l.Layout, advise.Bytes(l.Bytes), advise.Duration(l.Load))
		for _, e := range l.Queries {
			fmt.Fprintf(out, "\t%s", advise.Duration(e.Milliseconds/1000))
		}
		fmt.Fprintf(out, "\t%s\t\n", advise.Duration(l.Day))
	}
	return out.Flush()
}

// printSettings prints the settings of the table.
func printSettings(w io.Writer, c *advise.Choice) {
	fmt.Fprintf(w, "regions     %d", c.Regions)
	if n := len(c.Splits); n > 0 {
		fmt.Fprintf(w, ", split at %s", strings.Join(c.Splits[:min(n, 4)], " "))
		if n > 4 {
			fmt.Fprintf(w, " and %d more", n-4)
		}
	}
	fmt.Fprintf(w, "\ncompression %s, blocks of %s\n", c.Codec, advise.Bytes(int64(c.BlockSize)))
	if c.Where == advise.HBase {
		bloom, ttl := c.Bloom, "forever"
		if c.BloomLen > 0 {
			bloom += fmt.Sprintf(" %d", c.BloomLen)
		}
		if c.TTLDays > 0 {
			ttl = english.Plural(c.TTLDays, "day", "")
		}
		fmt.Fprintf(w, "family      bloom %s, versions %d, ttl %s\n", bloom, c.Versions, ttl)
	}
	for _, reason := range c.Reasons {
		fmt.Fprintf(w, "            %s\n", reason)
	}
}
