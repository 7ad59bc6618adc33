package main

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/table"
)

// figures are the measurements of all queries with one name. Rows, cells, calls and behaviours
// are means over the queries.
type figures struct {
	Asked      int     `json:"asked"`
	P50        float64 `json:"p50_ms"`
	P99        float64 `json:"p99_ms"`
	PerSecond  float64 `json:"per_second"`
	Rows       float64 `json:"rows"`  // that the table gave
	Cells      float64 `json:"cells"` // in these
	Calls      float64 `json:"calls"` // of servers, or reads of files
	Behaviours float64 `json:"behaviours"`
	Digest     string  `json:"digest"`
}

func (b *bench) measure(ctx context.Context, name string, queries []benchQuery) (*figures, error) {
	f := new(figures)
	if err := b.check(ctx, name, queries, f); err != nil {
		return nil, err
	}
	var took []time.Duration
	var all time.Duration
	for i := range queries {
		if all > b.limit {
			break
		}
		start := time.Now()
		if err := b.ask(ctx, b.table, &queries[i], i, nil); err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
		all += took[i]
	}
	f.Asked = len(took)
	f.PerSecond = float64(len(took)) / all.Seconds()
	slices.Sort(took)
	f.P50, f.P99 = quantile(took, 0.50), quantile(took, 0.99)
	if queries[0].many() || b.clients == 1 {
		return f, nil
	}
	var err error
	f.PerSecond, err = b.atOnce(ctx, queries)
	return f, err
}

// quantile is of times that ascend, in milliseconds.
func quantile(took []time.Duration, q float64) float64 {
	i := int(math.Ceil(q*float64(len(took)))) - 1
	return float64(took[max(i, 0)].Microseconds()) / 1000
}

// check digests the results, and counts the rows and cells that are read for them.
func (b *bench) check(ctx context.Context, name string, queries []benchQuery, f *figures) (err error) {
	d := new(digest)
	if b.results != "" {
		out, fail := os.Create(filepath.Join(b.results, name+".jsonl"))
		if fail != nil {
			return fail
		}
		defer func() { err = errors.Join(err, out.Close()) }()
		d.copy = out
	}
	c := &counted{Loader: b.table}
	before := c.Spent()
	for i := range queries {
		// An extract has its users in the order of their keys, which differs.
		d.begin(i, !queries[i].many())
		if err := b.ask(ctx, c, &queries[i], i, d); err != nil {
			return err
		}
	}
	n := float64(len(queries))
	f.Rows, f.Cells = float64(c.rows.Load())/n, float64(c.cells.Load())/n
	f.Calls, f.Behaviours = float64(c.Spent().Since(before).Calls)/n, float64(d.lines)/n
	f.Digest = d.String()
	return d.end()
}

// atOnce returns the number of queries per second.
func (b *bench) atOnce(ctx context.Context, queries []benchQuery) (float64, error) {
	var next, done atomic.Int64
	start := time.Now()
	g, ctx := errgroup.WithContext(ctx)
	for range b.clients {
		g.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(queries) || time.Since(start) > b.limit {
					return nil
				}
				if err := b.ask(ctx, b.table, &queries[i], i, nil); err != nil {
					return err
				}
				done.Add(1)
			}
		})
	}
	err := g.Wait()
	return float64(done.Load()) / time.Since(start).Seconds(), err
}

// spent returns the calls and bytes that a table has used until now.
func spent(t table.Table) table.Spent {
	s, _ := table.SpentBy(t)
	return s
}
