package main

import (
	"cmp"
	"fmt"
	"os/signal"
	"syscall"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/extract"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/run/quantity"
)

// standardOutput is the --out for a result on standard output.
const standardOutput = "-"

// output are the flags that describe the format of a result.
type output struct {
	out, format, shape, partition, times string

	excel bool

	pieceSize pieceSize
}

func (o *output) add(f *pflag.FlagSet) {
	f.StringVarP(&o.out, "out", "o", "", "directory to create, or - for standard output, with the JSON line on standard error (default trails-FROM-TO)")
	f.StringVar(&o.format, "format", string(query.Parquet), "format of the parts: parquet, csv, jsonl or arrow (Arrow IPC; a stream with --out -)")
	f.StringVar(&o.partition, "partition-by", "", "write the parts into Hive directories such as date=2014-09-01: date or behaviour (default no directories)")
	f.StringVar(&o.times, "times", string(query.UTC), "zone of the times: utc, or local, which adds the columns local_time and utc_offset in the table's zone (first_local and last_local with --shape wide)")
	f.BoolVar(&o.excel, "excel", false, "with --format csv: write values so that Excel opens the files as they are, with a byte order mark, IDs as text and no formulas from the data")
	f.Var(&o.pieceSize, "piece-size", "write the same files as extract plan with this --piece-size and its pieces; in events, such as 500000 or 4M (default no pieces)")
	f.StringVar(&o.shape, "shape", string(trailfile.LongShape), "rows of the result: long, one per event, or wide, one per user with count, first, last and days of each of --types, or those of --fields")
}

// check refuses a terminal as the reader of a format that is not text.
func (o *output) check(env *cli.Env) error {
	binary := o.format == string(query.Parquet) || o.format == string(query.Arrow)
	if o.out == standardOutput && binary && terminal(env.Stdout) >= 0 {
		return fmt.Errorf("%w: --out -: %s is not text, and standard output is a terminal: write --format csv or --format jsonl, or redirect it", cli.ErrUsage, o.format)
	}
	return nil
}

// of copies the flags to a config. The config must have its dates.
func (o *output) of(env *cli.Env, c *extract.Config) {
	c.Output = query.Output{Format: query.Format(o.format), Shape: trailfile.Shape(o.shape), Partition: o.partition, Times: query.Times(o.times), Excel: o.excel}
	c.PieceSize = int64(o.pieceSize)
	c.Out = cmp.Or(o.out, fmt.Sprintf("trails-%s-%s", c.Span.From, c.Span.To))
	if c.Out == standardOutput {
		// If the reader closes the pipe, Write returns an error, and everything is closed.
		signal.Ignore(syscall.SIGPIPE)
		c.Stream = env.Stdout
	}
}

// summary returns a line with the counts of a result.
func summary(r extract.Result) string {
	out := fmt.Sprintf("asked %s, found %s, active %s, kept %s: %s ", quantity.Of(r.Users, "user"),
		humanize.Comma(r.Found), humanize.Comma(r.Active), humanize.Comma(r.Kept), quantity.Of(r.Events, "event"))
	if r.Out == standardOutput {
		return out + "to standard output"
	}
	return out + fmt.Sprintf("in %s in %s", quantity.Of(r.Files, "file"), r.Out)
}

// notes explains a partitioned result without users, in which a reader finds no file.
func (o *output) notes(r extract.Result, appended bool) []string {
	switch {
	case o.partition == "" || r.Files > 0:
		return nil
	case appended:
		return []string{fmt.Sprintf("%s got no directory %s=…, because no user is in the result of these dates; its %s lists the dates", r.Out, o.partition, place.ManifestName)}
	}
	return []string{fmt.Sprintf("%s has no directory %s=…, because no user is in the result; its %s lists the columns", r.Out, o.partition, place.ManifestName)}
}

// streams reports whether standard output is only for the result or for pieces. It does not
// need valid flags, because the error of a wrong flag must not be written into the pipe.
func streams(args []string) bool {
	if len(args) > 0 && args[0] == "plan" {
		return true
	}
	for i, arg := range args {
		switch arg {
		case "--out", "-o":
			if i+1 < len(args) && args[i+1] == standardOutput {
				return true
			}
		case "--out=-", "-o=-", "-o-":
			return true
		}
	}
	return false
}
