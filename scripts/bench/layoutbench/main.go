// Layoutbench runs the queries of a file on a table. It calls the packages that the command
// extract calls:
//
//	layoutbench [-results DIR] [-clients N] [-limit TIME] QUERIES TABLE
//
// QUERIES has one query on each line, as JSON. TABLE is a directory or hbase://. All
// queries of a name run three times:
//
//	to check    computes a digest of the results, which is the same for all layouts, and
//	            counts the rows and cells that are read; this run also warms the caches
//	one by one  measures the time of each query
//	at once     several clients measure the number of queries per second; an extract has
//	            several workers, and runs only one by one
//
// The last line has the figures of each name, as JSON.
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
	flag.StringVar(&b.results, "results", "", "directory for the results, one file NAME.jsonl for each name")
	flag.IntVar(&b.clients, "clients", 4, "number of clients that run queries at once")
	flag.DurationVar(&b.limit, "limit", 30*time.Second, "time after which no more queries of a name begin, one by one and at once")
	flag.Parse()
	if flag.NArg() != 2 || b.clients < 1 {
		fmt.Fprintln(os.Stderr, "layoutbench: write layoutbench [-results DIR] [-clients N] [-limit TIME] QUERIES TABLE")
		os.Exit(64)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := b.run(ctx, flag.Arg(0), flag.Arg(1)); err != nil {
		fmt.Fprintln(os.Stderr, "layoutbench:", err)
		os.Exit(1)
	}
}

// A bench is one table that is measured.
type bench struct {
	fs      dfs.FS
	table   table.Loader
	results string // no directory if empty
	temp    string
	clients int
	limit   time.Duration
}

func (b *bench) run(ctx context.Context, queries, address string) (err error) {
	names, asked, err := readQueries(queries)
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
