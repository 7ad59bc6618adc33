// Hbasebench does with internal/store/hbase and internal/table/snapshot what
// scripts/cluster.d/java/Peer.java does with HBase's own classes, on the same rows:
//
//	hbasebench -zk ADDRESS put TABLE WARM_TABLE ROWS
//	hbasebench -zk ADDRESS get TABLE ROWS GETS BATCH
//	hbasebench -zk ADDRESS scan TABLE
//	hbasebench snapshot ROOT NAME TABLE [PREFIX..]
//
// It does with internal/store/dfs/hdfs what scripts/cluster.d/java/Files.java does with Hadoop's
// own classes:
//
//	hbasebench write FILE MIB
//	hbasebench read FILE
//
// $HADOOP_CONF_DIR says how connections are secured.
//
// Each work is done twice, as the peer has to; the second time is measured. The
// last line says, as JSON, its seconds, the CPU seconds of the process in them, the
// cells and the digest of all cells.
//
// For loads it writes a log, and digests the content of a table:
//
//	hbasebench lines FILE LINES
//	hbasebench -zk ADDRESS content TABLE
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
	"syscall"
	"time"

	"usertrail/internal/cell"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/hbase"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/store/secure"
)

// limit is for a benchmark that hangs.
const limit = 10 * time.Minute

func main() {
	zk := flag.String("zk", "", "host:port of ZooKeeper")
	profile := flag.String("cpuprofile", "", "file for a CPU profile of what is measured")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := run(ctx, *zk, *profile, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "hbasebench:", err)
		os.Exit(1)
	}
}

// A work does something once, for a seed, and digests its cells.
type work func(ctx context.Context, seed int) (digest, error)

func run(ctx context.Context, zk, profile string, args []string) (err error) {
	if len(args) == 0 {
		return errors.New("no work given: put, get, scan, snapshot, write, read, lines or content")
	}
	switch rest := args[1:]; {
	case args[0] == "lines" && len(rest) == 2:
		n, err := number(rest[1])
		if err != nil {
			return err
		}
		return writeLines(rest[0], n)
	case args[0] == "write" && len(rest) == 2:
		n, err := number(rest[1])
		if err != nil {
			return err
		}
		return twice(ctx, func(ctx context.Context, _ int) (digest, error) { return writeFile(ctx, rest[0], n) }, profile)
	case args[0] == "read" && len(rest) == 1:
		return twice(ctx, func(ctx context.Context, _ int) (digest, error) { return readFile(ctx, rest[0]) }, profile)
	case args[0] == "snapshot" && len(rest) >= 3:
		var prefixes [][]byte
		for _, p := range rest[3:] {
			prefixes = append(prefixes, []byte(p))
		}
		return twice(ctx, func(ctx context.Context, _ int) (digest, error) {
			return readSnapshot(ctx, rest[0], rest[1], rest[2], prefixes)
		}, profile)
	}
	c, err := dial(ctx, zk)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if args[0] == "content" && len(args) == 2 {
		return printContent(ctx, c, args[1])
	}
	w, err := parse(c, args)
	if err != nil {
		return err
	}
	return twice(ctx, w, profile)
}

// dial connects to HBase, with the security that its configuration asks for.
func dial(ctx context.Context, zk string) (*hbase.Client, error) {
	conf, err := hadoopconf.FromEnv()
	if err != nil {
		return nil, err
	}
	security, err := hbase.NewSecurity(conf, secure.New(secure.Config{}))
	if err != nil {
		return nil, err
	}
	return hbase.Dial(ctx, hbase.Config{ZooKeeper: []string{zk}, Security: security})
}

// parse makes a work of its command line.
func parse(c *hbase.Client, args []string) (work, error) {
	names := map[string]int{"put": 2, "get": 1, "scan": 1}
	numbers := map[string]int{"put": 1, "get": 3, "scan": 0}
	tables, name := names[args[0]], args[0]
	if tables == 0 || len(args) != 1+tables+numbers[name] {
		return nil, fmt.Errorf("%q is none of: put TABLE WARM_TABLE ROWS, get TABLE ROWS GETS BATCH, scan TABLE, snapshot ROOT NAME TABLE [PREFIX..], write FILE MIB, read FILE, lines FILE LINES, content TABLE", args)
	}
	var n []int
	for _, s := range args[1+tables:] {
		v, err := number(s)
		if err != nil {
			return nil, err
		}
		n = append(n, v)
	}
	switch name {
	case "put":
		return func(ctx context.Context, seed int) (digest, error) {
			return put(ctx, c, args[3-seed], n[0])
		}, nil
	case "get":
		return func(ctx context.Context, seed int) (digest, error) {
			return get(ctx, c, args[1], seed, n[0], n[1], n[2])
		}, nil
	}
	return func(ctx context.Context, _ int) (digest, error) { return scan(ctx, c, args[1]) }, nil
}

func number(s string) (int, error) {
	v, err := strconv.Atoi(s)
	if err != nil || v < 1 {
		return 0, fmt.Errorf("%q is no number from 1 on", s)
	}
	return v, nil
}

// twice does a work to warm up, and once more to measure it.
func twice(ctx context.Context, w work, profile string) error {
	if _, err := w(ctx, 1); err != nil {
		return err
	}
	return measure(ctx, w, profile)
}

// measure does the work once more and prints what that took.
func measure(ctx context.Context, w work, profile string) error {
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	used, err := cpu()
	if err != nil {
		return err
	}
	start := time.Now()
	d, err := w(ctx, 2)
	if err != nil {
		return err
	}
	took := time.Since(start)
	now, err := cpu()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"seconds": took.Seconds(), "cpu": (now - used).Seconds(), "cells": d.cells, "digest": fmt.Sprintf("%016x", d.sum),
	})
}

// cpu is what the process has used.
func cpu() (time.Duration, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0, fmt.Errorf("getrusage: %w", err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), nil
}

// put brings every row into a table.
func put(ctx context.Context, c *hbase.Client, table string, rows int) (d digest, err error) {
	p, err := c.NewPutter(table, hbase.PutOptions{})
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	v := cell.Cell{Family: family, Type: cell.Put}
	for i := range rows {
		v.Row = appendRow(v.Row[:0], i)
		v.Time = firstTime + int64(i)
		for j := range columns {
			v.Qualifier = qualifiers[j]
			v.Value = appendValue(v.Value[:0], i, j)
			d.add(&v)
			if err := p.Put(ctx, &v); err != nil {
				return d, err
			}
		}
	}
	return d, p.Flush(ctx)
}

// get asks for random rows, and of each for the columns with three prefixes of ten.
func get(ctx context.Context, c *hbase.Client, table string, seed, rows, gets, batch int) (d digest, err error) {
	filter, err := wire.ColumnPrefixes(prefixes...)
	if err != nil {
		return d, err
	}
	o := hbase.GetOptions{Get: wire.Get{Columns: all(), Filter: filter, CacheBlocks: true}, Batch: batch}
	err = c.Gets(ctx, table, func(yield func([]byte) bool) {
		var row []byte
		for k := range gets {
			row = appendRow(row[:0], pick(seed, k, rows))
			if !yield(row) {
				return
			}
		}
	}, o, d.take)
	return d, err
}

func scan(ctx context.Context, c *hbase.Client, table string) (d digest, err error) {
	err = c.Scan(ctx, table, hbase.Scan{Columns: all()}, d.take)
	return d, err
}

func all() []wire.Column { return []wire.Column{{Family: family}} }

func (d *digest) take(c *cell.Cell) error {
	d.add(c)
	return nil
}
