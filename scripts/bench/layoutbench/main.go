// Layoutbench asks a table the questions of a file, by the packages that the commands
// of extract call:
//
//	layoutbench [-answers DIR] [-clients N] [-limit TIME] QUESTIONS TABLE
//
// QUESTIONS has a question a line, as JSON; TABLE is a directory or hbase://. All
// questions of a name are asked three times:
//
//	to check    answers are digested, whatever the layout they come from, and what is
//	            read for them is counted; this is also what warms everything up
//	one by one  for the time that each takes
//	at once     by several clients, for how many are answered in a second; extracts
//	            have several workers each, and are asked one by one alone
//
// The last line says of each name what that came to, as JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/hdfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/files"
	"usertrail/internal/table/live"
)

func main() {
	b := &bench{fs: dfs.NewMux(map[string]dfs.FS{"": local.New(), hdfs.Scheme: hdfs.New(hdfs.Config{})})}
	flag.StringVar(&b.answers, "answers", "", "directory for the answers, NAME.jsonl of each name")
	flag.IntVar(&b.clients, "clients", 4, "how many ask at once")
	flag.DurationVar(&b.limit, "limit", 30*time.Second, "after which no more questions of a name are asked one by one, nor at once")
	flag.Parse()
	if flag.NArg() != 2 || b.clients < 1 {
		fmt.Fprintln(os.Stderr, "layoutbench: write layoutbench [-answers DIR] [-clients N] [-limit TIME] QUESTIONS TABLE")
		os.Exit(64)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := b.run(ctx, flag.Arg(0), flag.Arg(1)); err != nil {
		fmt.Fprintln(os.Stderr, "layoutbench:", err)
		os.Exit(1)
	}
}

// A bench is one table that is asked.
type bench struct {
	fs      dfs.FS
	table   table.Loader
	answers string // no directory if empty
	temp    string
	clients int
	limit   time.Duration
}

func (b *bench) run(ctx context.Context, questions, address string) (err error) {
	names, asked, err := readQuestions(questions)
	if err != nil {
		return err
	}
	store, err := b.store(ctx, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if b.table, err = store.Open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.table.Close()) }()
	if b.temp, err = os.MkdirTemp("", "layoutbench"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.temp)) }()
	said := map[string]*figures{}
	for _, name := range names {
		if said[name], err = b.measure(ctx, name, asked[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(said)
}

func (b *bench) store(ctx context.Context, address string) (table.Store, error) {
	if !strings.HasPrefix(address, live.Scheme+"://") {
		return files.Store{FS: b.fs, Dir: address}, nil
	}
	conf, err := hadoopconf.FromEnv()
	if err != nil {
		return nil, err
	}
	return live.Connect(ctx, b.fs, address, live.Options{Conf: conf})
}
