package main

import (
	"cmp"
	"fmt"
	"os/signal"
	"slices"
	"syscall"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"usertrail/cmd/internal/command"
	"usertrail/internal/extract"
	"usertrail/internal/trailfile"
)

// standardOutput is the --out that is no directory.
const standardOutput = "-"

// output are the flags that say what an answer looks like.
type output struct {
	out, format, shape, partition string

	pieceSize pieceSize
}

func (o *output) add(f *pflag.FlagSet) {
	f.StringVar(&o.out, "out", "", "directory to make (default trails-FROM-TO), or - for csv or jsonl on standard output; the line of JSON is then the last of standard error")
	f.StringVar(&o.format, "format", string(extract.Parquet), "of the parts: parquet, csv, jsonl or arrow (Arrow IPC)")
	f.StringVar(&o.partition, "partition-by", "", "lay the parts into directories as Hive does, date=2014-09-01: by date or by behaviour")
	f.Var(&o.pieceSize, "piece-size", "end a part wherever extract plan --piece-size N would end a piece (default: there are no pieces)")
	f.StringVar(&o.shape, "shape", string(trailfile.LongShape), "long, one row for each behaviour, or wide, one for each user: count, first, last and days of each of --types")
}

// of puts what the flags say into a config.
func (o *output) of(env *command.Env, c *extract.Config) {
	c.Output = extract.Output{Format: extract.Format(o.format), Shape: trailfile.Shape(o.shape), Partition: o.partition}
	c.PieceSize = int64(o.pieceSize)
	c.Out = cmp.Or(o.out, fmt.Sprintf("trails-%s-%s", c.Span.From, c.Span.To))
	if c.Out == standardOutput {
		// A reader that stops is an error of Write then, and what is open is closed.
		signal.Ignore(syscall.SIGPIPE)
		c.Stream = env.Stdout
	}
}

// summary says for a person what became of a question.
func summary(r extract.Result) string {
	out := fmt.Sprintf("asked %s users, found %s, active %s, kept %s: %s behaviours ", humanize.Comma(r.Users),
		humanize.Comma(r.Found), humanize.Comma(r.Active), humanize.Comma(r.Kept), humanize.Comma(r.Events))
	if r.Out == standardOutput {
		return out + "to standard output"
	}
	files := "files"
	if r.Files == 1 {
		files = "file"
	}
	return out + fmt.Sprintf("in %d %s in %s", r.Files, files, r.Out)
}

// notes say what a partitioned answer of nobody is: a reader finds no file in it.
func (o *output) notes(r extract.Result) []string {
	if o.partition == "" || r.Files > 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s holds no directory %s=…, since nobody came out; its %s tells the columns", r.Out, o.partition, extract.ManifestName)}
}

// streams says whether standard output is for the answer, or for pieces, alone. It is
// asked before the flags are parsed, since one that is wrong must not spoil the
// answer of another program in the same pipe either.
func streams(args []string) bool {
	at := slices.Index(args, "--out")
	return len(args) > 0 && args[0] == "plan" || at >= 0 && at+1 < len(args) && args[at+1] == standardOutput ||
		slices.Contains(args, "--out="+standardOutput)
}
