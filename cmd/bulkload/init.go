package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/jobdraft"
	"usertrail/internal/run/quantity"
	"usertrail/internal/store/dfs"
)

// An initResult is the last line of init.
type initResult struct {
	Out string `json:"out,omitempty"`
	jobdraft.Summary
	Passed int `json:"passed"` // alias of skipped_files
	Looked int `json:"looked"` // alias of sampled_files
}

// noDraft is the last line of an init that wrote no draft.
var noDraft = initResult{Summary: jobdraft.Summary{Behaviours: []string{}, Unsure: []string{}, FillIn: []string{}}}

func newInit(env *cli.Env) *cobra.Command {
	cfg := jobdraft.Config{}
	var out string
	var ask bool
	c := &cobra.Command{
		Use:   "init LOGS",
		Short: "Write a draft of the job file from a folder of logs",
		Long: `Init reads the names of the files below LOGS, and parts of a few of them. LOGS is a folder or a
file, local or hdfs://. Init writes a draft of the job file that loads them: paths, behaviours, format,
columns and types. It parses the sample with the draft, as a load would. At the top of the draft it
writes the percentage of the records that would load.

The draft marks guesses with "unsure". With --ask, init asks on the terminal instead: for the user,
the behaviour, the zone and the year, if the logs leave them open. A key that init cannot guess has no
value in the draft; a load refuses the file until you fill it in. Init never overwrites a file. With
--out - it prints the draft on standard output, and its JSON line is the last line of standard error.

A job has one format and one encoding. If LOGS has files for more than one job, init drafts the job
of most logs, and prints the command that drafts each of the others. Files that are not logs, such as
a list of customers, are left out.`,
		Example: `  bulkload init logs
  bulkload init logs --ask
  bulkload init hdfs://nn:8020/logs --zone Asia/Shanghai --table hdfs://nn:8020/trails --out jobs/stb.yaml
  bulkload init logs --only '*.jsonl' --first-id 5 --out app.yaml
  bulkload init logs --out - | less`,
		Args: cli.OneArg("one folder of logs"),
		RunE: func(c *cobra.Command, args []string) error {
			env.Streams = out == "-"
			cfg.FS, cfg.Logs = cli.Files(), args[0]
			if ask {
				cfg.Ask = newAsker(env).ask
			}
			return runInit(c.Context(), env, cfg, out)
		},
	}
	env.Reports(c, noDraft)
	f := c.Flags()
	f.StringVarP(&out, "out", "o", cli.DefaultJob, "job file to write, local or hdfs://, or - for standard output")
	f.StringVar(&cfg.Table, "table", "", "table to write into the job file (default trails, next to the job file)")
	f.StringVar(&cfg.Zone, "zone", "", "time zone of the table's dates, and of times without a zone, such as Asia/Shanghai (default a guess)")
	f.IntVar(&cfg.Files, "files", jobdraft.DefaultFiles, "number of files to read for each behaviour")
	f.BoolVar(&ask, "ask", false, "ask on the terminal for what the logs leave open: the user, the behaviour, the zone, the year")
	f.StringArrayVar(&cfg.Only, "only", nil, "pattern of the files to read, such as '*.jsonl' for names or 'app/*/*' for paths below LOGS; may be repeated (default all)")
	f.IntVar(&cfg.FirstID, "first-id", 1, "ID of the first behaviour; the others follow")
	f.IntVar(&cfg.Records, "records", jobdraft.DefaultRecords, "number of records to read from each file")
	return c
}

func runInit(ctx context.Context, env *cli.Env, cfg jobdraft.Config, out string) error {
	r := noDraft
	if err := checkInit(cfg); err != nil {
		return env.Report(r, err)
	}
	cfg.Name = out
	if out == "-" {
		cfg.Name = cli.DefaultJob
	} else if _, err := cfg.FS.Stat(ctx, out); err == nil {
		return env.Report(r, fmt.Errorf("%s: %w: name another file with --out, or print the draft with --out -", out, cli.ErrThere))
	} else if !errors.Is(err, iofs.ErrNotExist) {
		return env.Report(r, err)
	}
	d, err := jobdraft.Make(ctx, cfg)
	if err != nil {
		return env.Report(r, err)
	}
	r.Summary, r.Passed, r.Looked = d.Summary, d.SkippedFiles, d.SampledFiles
	if out == "-" {
		if _, err := io.WriteString(env.Stdout, d.Text); err != nil {
			return env.Report(r, err)
		}
		return env.Report(r, nil)
	}
	if err := writeNew(ctx, cfg.FS, out, d.Text); err != nil {
		return env.Report(r, err)
	}
	r.Out = out
	printDraft(env.Stdout, cfg, out, d)
	return env.Report(r, nil)
}

func checkInit(cfg jobdraft.Config) error {
	if cfg.Files < 1 || cfg.Files > 1000 || cfg.Records < 1 || cfg.Records > 1_000_000 {
		return fmt.Errorf("%w: --files is 1 to 1000, --records 1 to 1000000", cli.ErrUsage)
	}
	if cfg.FirstID < 1 || cfg.FirstID > behaviour.MaxID {
		return fmt.Errorf("%w: --first-id is 1 to %d", cli.ErrUsage, behaviour.MaxID)
	}
	for _, pattern := range cfg.Only {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return fmt.Errorf("%w: --only %q is not a pattern such as '*.jsonl'", cli.ErrUsage, pattern)
		}
	}
	if cfg.Zone == "" {
		return nil
	}
	if _, err := time.LoadLocation(cfg.Zone); err != nil || cfg.Zone == "Local" {
		return fmt.Errorf("%w: --zone %q is not a time zone: write a name such as UTC, Asia/Shanghai or America/New_York", cli.ErrUsage, cfg.Zone)
	}
	return nil
}

// writeNew writes a new file. It fails if another process creates the file first.
func writeNew(ctx context.Context, fs dfs.FS, name, text string) error {
	part := name + ".draft"
	f, err := fs.Create(ctx, part)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := io.WriteString(f, text); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := f.Commit(); err != nil {
		return err
	}
	if err := fs.Publish(ctx, part, name); err != nil {
		return errors.Join(err, fs.Remove(ctx, part))
	}
	return nil
}

// printDraft prints the findings and the next command.
func printDraft(w io.Writer, cfg jobdraft.Config, out string, d *jobdraft.Draft) {
	fmt.Fprintf(w, "sampled     %d of %s in %s\n", d.SampledFiles, english.Plural(d.Files, "file", ""), cfg.Logs)
	fmt.Fprintf(w, "found       %s: %s\n", english.Plural(len(d.Behaviours), "behaviour", ""), strings.Join(d.Behaviours, ", "))
	if d.Problem == nil {
		skipped := ""
		if d.Skipped > 0 {
			skipped = fmt.Sprintf("; a load skips %s of them", humanize.Comma(d.Skipped))
		}
		fmt.Fprintf(w, "parsed      %s of %s with the draft%s\n", humanize.Comma(d.Good+d.Skipped), quantity.Of(d.Read, "record"), skipped)
	}
	for _, l := range d.LeftOut {
		fmt.Fprintf(w, "left out    %s (%s): no log: %s\n", l.Example, english.Plural(l.Files, "file", ""), l.Why)
	}
	for _, u := range d.Unsure {
		fmt.Fprintf(w, "unsure      %s\n", u)
	}
	for _, key := range d.FillIn {
		fmt.Fprintf(w, "fill in     %s\n", key)
	}
	next := "next"
	if d.Problem != nil {
		next = "after you fill it in"
	}
	fmt.Fprintf(w, "wrote       %s; %s: bulkload pre-check --job %s --from DATE --to DATE\n", out, next, out)
	printOthers(w, cfg, out, d)
}

// idsOfAJob is the number of behaviour IDs that printOthers keeps for each job but the last.
const idsOfAJob = 100

// printOthers prints how to draft the jobs of the files that the draft does not describe.
func printOthers(w io.Writer, cfg jobdraft.Config, out string, d *jobdraft.Draft) {
	id := cfg.FirstID + len(d.Behaviours)
	for i, o := range d.Others {
		fmt.Fprintf(w, "not drafted %s such as %s: %s\n", english.Plural(o.Files, "file", ""), o.Example, o.Format)
		if len(o.Only) == 0 {
			fmt.Fprintf(w, "            no pattern selects only these files: move them to a folder of their own, and run bulkload init for it\n")
			continue
		}
		name := fmt.Sprintf("%s-%d.yaml", strings.TrimSuffix(strings.TrimSuffix(out, ".yaml"), ".yml"), i+2)
		command := []string{"bulkload", "init", shellWord(cfg.Logs)}
		for _, only := range o.Only {
			command = append(command, "--only", shellWord(only))
		}
		if cfg.Table != "" {
			command = append(command, "--table", shellWord(cfg.Table))
		}
		if cfg.Zone != "" {
			command = append(command, "--zone", shellWord(cfg.Zone))
		}
		command = append(command, "--first-id", strconv.Itoa(id+i*idsOfAJob), "--out", shellWord(name))
		fmt.Fprintf(w, "            to draft their job: %s\n", strings.Join(command, " "))
	}
	if len(d.Others) > 0 {
		fmt.Fprintln(w, "            if jobs of one table have a behaviour of the same name, give it the same id in each")
	}
}
