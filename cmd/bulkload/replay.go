package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/quarantine"
	"usertrail/internal/bulkload/replay"
	"usertrail/internal/format/job"
	"usertrail/internal/run/quantity"
	"usertrail/internal/store/dfs"
)

func newReplay(env *cli.Env) *cobra.Command {
	o := &options{env: env}
	var keep bool
	c := &cobra.Command{
		Use:   "replay FILE|FOLDER",
		Short: "Load corrected records of a quarantine file",
		Long: `Replay loads the records of a quarantine file after you have corrected their "raw" text. Each record
gets the column ID that it would have had in its log. A record that was replayed before counts as a
duplicate. Records that are still bad are written to a new quarantine file, and the status is 65. It is also
65 if the job or the table skips a record, or if the table has it with another text; its line stays.

When the records are in the table, replay removes their lines from the file. Lines of records that are
still bad move to the new file. --keep leaves the file as it is. If no record was corrected, replay reports this, and writes nothing.

From a folder, such as trails/quarantine, replay reads each .jsonl file in which a record was corrected.
A file that cannot be replayed does not stop the others. Files of another job's logs are only counted:
replay the folder with that job, too.

Status 99 means that the file or folder has no bad records of the job's logs.`,
		Example: `  bulkload replay trails/quarantine/2014-09-01__play.csv.jsonl
  bulkload replay trails/quarantine
  bulkload replay --job usertrail.yaml --keep corrected.jsonl`,
		Args: cli.OneArg("one quarantine file, or one folder of them"),
		RunE: func(c *cobra.Command, args []string) error { return o.replay(c.Context(), args[0], keep) },
	}
	env.Reports(c, bulkload.Result{})
	f := c.Flags()
	o.flags.AddTable(c)
	o.flags.AddMemory(c, bulkload.MinMemory)
	f.IntVar(&o.flags.Workers, "workers", 1, "number of concurrent workers")
	f.BoolVar(&keep, "keep", false, "leave the quarantine file as it is")
	o.flags.AddQuiet(c)
	return c
}

func (o *options) replay(ctx context.Context, name string, keep bool) error {
	cfg, err := o.config(ctx)
	if err != nil {
		return o.env.Report(bulkload.Result{}, err)
	}
	defer cfg.Store.Close()
	remove, err := o.private(&cfg.Temp, cfg.Store.Address(), cfg.Log)
	if err != nil {
		return o.env.Report(bulkload.Result{}, err)
	}
	defer remove()
	files, folder, err := quarantineFiles(ctx, cfg.FS, name)
	if err != nil {
		return o.env.Report(bulkload.Result{}, err)
	}
	if folder && keep {
		return o.env.Report(bulkload.Result{}, fmt.Errorf("%w: --keep is for one quarantine file, and %s is a folder", cli.ErrUsage, name))
	}
	with := replay.Config{Resources: cfg.Resources, Job: cfg.Job, Mode: cfg.Mode, Remove: !keep}
	var r bulkload.Result
	if folder {
		r, err = replay.RunAll(ctx, with, name, files)
	} else {
		r, err = replay.Run(ctx, with, name)
	}
	o.env.Outcome("replay of "+name+" into "+cfg.Store.Address(), err)
	printResult(o.env.Stdout, cfg.Store, r)
	if r.Unchanged > 0 {
		fmt.Fprintf(o.env.Stdout, "unchanged   %s without a corrected record\n", english.Plural(r.Unchanged, "file", ""))
	}
	if r.OtherJobs > 0 {
		fmt.Fprintf(o.env.Stdout, "other jobs  %s\n", r.OfOtherJobs())
	}
	if r.Removed > 0 {
		fmt.Fprintf(o.env.Stdout, "removed     %s from %s: the table has %s\n", quantity.Of(r.Removed, "record"), name, english.PluralWord(int(r.Removed), "it", "them"))
	}
	return o.env.Report(r, err)
}

// againFirst orders quarantine files: first the files of records that were bad again. Such a file has the later
// corrections of its records.
func againFirst(name string) int {
	if quarantine.IsAgain(name) {
		return 0
	}
	return 1
}

// quarantineFiles lists the quarantine files of a folder, in the order of their replays. folder is false
// if name is not a folder.
func quarantineFiles(ctx context.Context, fs dfs.FS, name string) (files []string, folder bool, err error) {
	info, err := fs.Stat(ctx, name)
	if err != nil || !info.Dir {
		return nil, false, nil //nolint:nilerr // the replay reports it
	}
	list, err := fs.List(ctx, name)
	if err != nil {
		return nil, true, err
	}
	for _, f := range list {
		if !f.Dir && strings.HasSuffix(f.Name, ".jsonl") {
			files = append(files, f.Name)
		}
	}
	if len(files) == 0 && len(list) > 0 {
		return nil, true, fmt.Errorf("%w: %s has no file of bad records, which is called ….jsonl: name the folder quarantine of the table, or a file in it", job.ErrNoInput, name)
	}
	slices.SortFunc(files, func(a, b string) int {
		return cmp.Or(againFirst(a)-againFirst(b), cmp.Compare(a, b))
	})
	return files, true, nil
}
